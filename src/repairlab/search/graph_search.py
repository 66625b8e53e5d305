"""Graph search: the neighbours of what other searches found, with what relates them.

1. Each seed (a file and a line of it) becomes a node: the innermost symbol around the line, or else the file.
   Seeds that are not in the graph are dropped, and said to be.
2. A file that holds neighbours scores the sum over the distinct seeds that they are neighbours of:
   1 / (constant + rank of the seed), as fused rankings do; divided by the number of candidates where only an
   ambiguous name relates the two. Ties go by relation (in the order of `Relation`), then by path; generated
   files stand behind all others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import NamedTuple

from repairlab.contract.controls import Fusion, Search, View
from repairlab.contract.errors import BadInput
from repairlab.search.graph import Edge, Link, Node, SymbolGraph
from repairlab.search.graph_resolve import How
from repairlab.search.results import Hit, quote_path
from repairlab.search.snippets import Limits, make_hit

COMPONENT = "graph"


class Relation(StrEnum):
    """What a seed is to its neighbour, in the order in which it counts."""

    CALLS = "calls"
    CALLED_BY = "called by"
    IMPORTS = "imports"
    IMPORTED_BY = "imported by"
    DEFINES = "defines"
    DEFINED_IN = "defined in"


_ORDER = {relation: number for number, relation in enumerate(Relation)}
_OUTWARD = {
    Link.CALLS: Relation.CALLS,
    Link.IMPORTS: Relation.IMPORTS,
    Link.DEFINES: Relation.DEFINES,
}
_INWARD = {
    Link.CALLS: Relation.CALLED_BY,
    Link.IMPORTS: Relation.IMPORTED_BY,
    Link.DEFINES: Relation.DEFINED_IN,
}


class Seed(NamedTuple):
    """Where to start: a line of a file that another search found, best first."""

    path: str
    line: int


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A node next to a seed.

    Attributes:
        rank: of the seed among the seeds, from 1.
        seed: its node.
        relation: what the seed is to the neighbour.
        node: the neighbour.
        line: the line to show of the neighbour's file: its name, or where it calls or imports the seed.
        how: what told that they are related.
        candidates: how many nodes the name that relates them may mean.
    """

    rank: int
    seed: Node
    relation: Relation
    node: Node
    line: int
    how: How
    candidates: int

    def describe(self) -> str:
        """The relation in words, such as ``seed 1 called by b.g (line 7)``."""
        note = f", one of {self.candidates} with this name" if self.how is How.AMBIGUOUS else ""
        name = quote_path(self.node.name) if self.node.symbol is None else self.node.name
        return f"seed {self.rank} {self.relation} {name} (line {self.line}{note})"


@dataclass(frozen=True, slots=True)
class GraphFile:
    """A ranked file.

    Attributes:
        file: id in the corpus.
        path: its path.
        score: see the head of this module.
        neighbours: in it, the best first.
    """

    file: int
    path: str
    score: Fraction
    neighbours: tuple[Neighbour, ...]


@dataclass(frozen=True, slots=True)
class GraphRanking:
    """The neighbourhood of some seeds.

    Attributes:
        seeds: those that are in the graph, best first.
        files: the best files with neighbours, in order.
        matching_files: how many there are.
        notes: what was dropped or left out, for the reader.
    """

    seeds: tuple[Node, ...]
    files: tuple[GraphFile, ...]
    matching_files: int
    notes: tuple[str, ...]


class GraphSearch:
    """Searches the neighbourhood of seeds in one graph.

    Args:
        graph: of the corpus.
        search: how many files and lines are shown.
        view: how long a shown line may be.
        fusion: the constant of the score.

    Raises:
        BadInput: the graph's rule has another number of steps than one: relations are told for one.
    """

    __slots__ = ("_constant", "_graph", "_limits", "_search")

    def __init__(self, graph: SymbolGraph, search: Search, view: View, fusion: Fusion) -> None:
        self._graph = graph
        self._search = search
        self._limits = Limits(search.snippet_lines, view.line_characters)
        self._constant = fusion.constant
        if graph.rule.hops != 1:
            raise BadInput(f"graph.hops = {graph.rule.hops}: relations are told for neighbours one step away")

    def rank(self, seeds: Sequence[Seed], files: int) -> GraphRanking:
        """The best `files` files around the seeds."""
        nodes, dropped = self._nodes(seeds[: self._graph.rule.seeds])
        graph, notes = self._graph.around(nodes, 1)
        known = tuple(self._graph.node(number) for number in nodes)
        found: dict[int, list[Neighbour]] = {}
        for rank, seed in enumerate(known, start=1):
            for _, _, edge in (*graph.out_edges(seed.id, "edge"), *graph.in_edges(seed.id, "edge")):
                neighbour = self._neighbour(rank, seed, edge)
                found.setdefault(neighbour.node.file, []).append(neighbour)
        ranked = sorted((self._ranked(file, near) for file, near in found.items()), key=self._order)
        return GraphRanking(known, tuple(ranked[:files]), len(ranked), (*dropped, *notes))

    def find(self, seeds: Sequence[Seed]) -> tuple[GraphRanking, tuple[Hit, ...]]:
        """The best files around the seeds, and how they are shown."""
        ranking = self.rank(seeds, self._search.files)
        hits = tuple(
            self.hit(file, rank=rank, components={COMPONENT: rank})
            for rank, file in enumerate(ranking.files, start=1)
        )
        return ranking, hits

    def _order(self, file: GraphFile) -> tuple[bool, Fraction, int, int]:
        generated = file.file in self._graph.index.corpus.generated
        return generated, -file.score, min(_ORDER[near.relation] for near in file.neighbours), file.file

    def summary(self, ranking: GraphRanking) -> str:
        """What relates the files of a ranking to its seeds, a few relations a file, then the notes."""
        rows = [f"seed {rank}: {_named(seed)}" for rank, seed in enumerate(ranking.seeds, start=1)]
        if not ranking.seeds:
            rows.append("No seed is in the graph.")
        elif not ranking.files:
            rows.append("Nothing in the graph is next to the seeds.")
        for place, file in enumerate(ranking.files, start=1):
            shown = [near.describe() for near in file.neighbours[: self._graph.rule.relations_shown]]
            more = len(file.neighbours) - len(shown)
            rows.append(f"{place}. " + "; ".join(shown) + (f"; {more} more" if more else ""))
        return "\n".join((*rows, *(f"note: {note}" for note in ranking.notes)))

    def lines(self, file: GraphFile) -> tuple[int, ...]:
        """The lines to show of a ranked file, ascending: of its neighbours of the best seed."""
        best = file.neighbours[0].rank
        return tuple(sorted({near.line for near in file.neighbours if near.rank == best}))

    def hit(self, file: GraphFile, *, rank: int, components: Mapping[str, int]) -> Hit:
        """One file of a ranking as it is shown at `rank`."""
        return make_hit(
            self._graph.index.corpus,
            file.file,
            rank=rank,
            matching=self.lines(file),
            components=components,
            limits=self._limits,
        )

    def _nodes(self, seeds: Sequence[Seed]) -> tuple[list[int], list[str]]:
        """The distinct nodes of the seeds, and a note on each seed that has none."""
        nodes: dict[int, None] = {}
        dropped: list[str] = []
        for seed in seeds:
            node = self._graph.node_at(seed.path, seed.line)
            if node is None:
                dropped.append(f"{quote_path(seed.path)}, line {seed.line}: not in the graph")
            else:
                nodes[node] = None
        return list(nodes), dropped

    def _neighbour(self, rank: int, seed: Node, edge: Edge) -> Neighbour:
        if edge.source == seed.id:
            node = self._graph.node(edge.target)
            return Neighbour(rank, seed, _OUTWARD[edge.link], node, node.line, edge.how, edge.candidates)
        node = self._graph.node(edge.source)
        line = node.line if edge.link is Link.DEFINES else edge.line
        return Neighbour(rank, seed, _INWARD[edge.link], node, line, edge.how, edge.candidates)

    def _ranked(self, file: int, near: Sequence[Neighbour]) -> GraphFile:
        fewest: dict[int, int] = {}
        for neighbour in near:
            fewest[neighbour.rank] = min(
                neighbour.candidates, fewest.get(neighbour.rank, neighbour.candidates)
            )
        parts = (Fraction(1, (self._constant + rank) * fewest[rank]) for rank in sorted(fewest))
        score = sum(parts, Fraction(0))
        return GraphFile(file, near[0].node.path, score, tuple(sorted(near, key=_neighbour_order)))


def _named(node: Node) -> str:
    path = quote_path(node.path)
    return path if node.symbol is None else f"{node.name} ({path}, line {node.line})"


def _neighbour_order(near: Neighbour) -> tuple[int, int, int, int, int]:
    return near.rank, near.candidates, _ORDER[near.relation], near.line, near.node.id
