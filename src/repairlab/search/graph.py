"""The symbol graph: symbols and files as nodes, and who calls, imports and defines whom.

Nothing is resolved before it is asked for: the edges at a node follow from the references in it and from
those to its name. So a graph costs nothing to build, and a question about few nodes stays cheap however many
symbols there are. `SymbolGraph.around` gives the part of it around some seeds as a networkx graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

import networkx as nx  # type: ignore[import-untyped]  # the package has no type information
import numpy as np
from numpy.typing import NDArray

from repairlab.contract.controls import Graph
from repairlab.search.graph_go import GoResolver
from repairlab.search.graph_python import PythonResolver
from repairlab.search.graph_resolve import How, Resolved, Resolver, Rows
from repairlab.search.symbols_blob import NONE, Import, Reference, Use
from repairlab.search.symbols_index import SymbolIndex

_USE, _ENCLOSING = Reference._fields.index("use"), Reference._fields.index("enclosing")
_LAST, _NAME, _ALIAS = (Import._fields.index(name) for name in ("last", "name", "alias"))


class Link(StrEnum):
    """What an edge says, from its source to its target."""

    CALLS = "calls"
    IMPORTS = "imports"
    DEFINES = "defines"


@dataclass(frozen=True, slots=True)
class Edge:
    """One edge.

    Attributes:
        source: node.
        target: node.
        link: what the source does to the target.
        line: where, in the file of the source (for `DEFINES`: in the file of the target).
        how: what told so.
        candidates: how many targets the same reference may mean; 1 unless `how` is `How.AMBIGUOUS`.
    """

    source: int
    target: int
    link: Link
    line: int
    how: How
    candidates: int = 1


@dataclass(frozen=True, slots=True)
class Node:
    """What a node is.

    Attributes:
        id: number of the symbol, or of the file behind all symbols.
        symbol: id of the symbol, None for a file.
        file: id of the file, path: its path.
        name: qualified name of the symbol, path of the file.
        line: where the name stands; 1 for a file.
    """

    id: int
    symbol: int | None
    file: int
    path: str
    name: str
    line: int


class SymbolGraph:
    """The graph of one corpus. Remembers what it has looked up; that changes no answer.

    Args:
        index: the symbols of the corpus.
        rule: its bounds.
    """

    __slots__ = ("_resolver", "_rows", "index", "rule")

    def __init__(self, index: SymbolIndex, rule: Graph) -> None:
        self.index = index
        self.rule = rule
        self._rows = Rows(index)
        make: Callable[[SymbolIndex, Rows, Graph], Resolver]
        make = PythonResolver if index.language == "python" else GoResolver
        self._resolver = make(index, self._rows, self.rule)

    def node(self, number: int) -> Node:
        """What the node with this number is."""
        file = self._rows.file_of(number)
        path = self.index.corpus.files[file].path
        if self._rows.is_file(number):
            return Node(number, None, file, path, path, 1)
        symbol = self.index.symbol(number)
        return Node(number, number, file, path, symbol.qualified, symbol.line)

    def node_at(self, path: str, line: int) -> int | None:
        """The innermost symbol around a line, or else the file; None if no such file or line is searched."""
        file = self.index.corpus.id_of(path)
        if file is None or not 1 <= line <= max(1, self.index.corpus.files[file].lines):
            return None
        symbol = self.index.around(file, line)
        return symbol if symbol is not None else self._rows.file_node(file)

    def edges_at(self, node: int) -> tuple[tuple[Edge, ...], tuple[str, ...]]:
        """The edges from and to a node, by link, direction, path and line; and notes on what was left out."""
        notes: list[str] = []
        edges: list[Edge] = []
        for what, found in (
            ("calls", self._calls(node)),
            ("callers", self._callers(node, notes)),
            ("imports", self._imports(node)),
            ("importers", self._importers(node)),
            ("definitions", self._members(node)),
            ("definers", self._definer(node)),
        ):
            distinct = {(edge.source, edge.target): edge for edge in reversed(list(found))}
            ordered = sorted(distinct.values(), key=self._place)
            kept = [edge for edge in ordered if edge.source != edge.target]
            if len(kept) > self.rule.edges:
                notes.append(f"{self.node(node).name}: the first {self.rule.edges} of {len(kept)} {what}")
            edges += kept[: self.rule.edges]
        return tuple(edges), tuple(notes)

    def _place(self, edge: Edge) -> tuple[int, int, int]:
        """Edges that are certain come first; then by file and line of the source, then by target."""
        uncertain = edge.how is How.AMBIGUOUS
        return uncertain, self._rows.file_of(edge.source) * 2**32 + edge.line, edge.target

    def around(self, seeds: Sequence[int], hops: int) -> tuple[nx.MultiDiGraph, tuple[str, ...]]:
        """The edges within `hops` steps of the seeds, and notes on what was left out.

        Nodes are numbers; each edge has its `Link` as key and the `Edge` as attribute ``edge``.
        """
        graph = nx.MultiDiGraph()
        graph.add_nodes_from(seeds)
        notes: list[str] = []
        frontier, seen = list(dict.fromkeys(seeds)), set(seeds)
        for _ in range(hops):
            reached: dict[int, None] = {}
            for node in frontier:
                edges, said = self.edges_at(node)
                notes += said
                for edge in edges:
                    if not graph.has_edge(edge.source, edge.target, edge.link):
                        graph.add_edge(edge.source, edge.target, key=edge.link, edge=edge)
                    reached.update(dict.fromkeys((edge.source, edge.target)))
            frontier = [node for node in reached if node not in seen]
            seen.update(frontier)
        return graph, tuple(notes)

    def _calls(self, node: int) -> Iterator[Edge]:
        """What is called directly in a node."""
        file = self._rows.file_of(node)
        rows = self.index.references_of(file)
        table = self.index.references[rows.start : rows.stop]
        enclosing = NONE if self._rows.is_file(node) else node
        chosen = np.flatnonzero((table[:, _ENCLOSING] == enclosing) & (table[:, _USE] == Use.CALL))
        for row in (chosen + rows.start).tolist():
            reference = self.index.reference(row)
            yield from self._call(node, self._resolver.call(file, reference), reference.line)

    def _call(self, source: int, found: Resolved, line: int) -> Iterator[Edge]:
        candidates = len(found.targets) if found.how is How.AMBIGUOUS else 1
        for target in found.targets:
            yield Edge(source, target, Link.CALLS, line, found.how, candidates)

    def _callers(self, node: int, notes: list[str]) -> Iterator[Edge]:
        """Where a symbol is called."""
        if self._rows.is_file(node):
            return
        rows = np.concatenate([self.index.referring(name) for name in self._names(node)])
        rows = np.sort(rows[self.index.references[rows, _USE] == Use.CALL])
        most = self.rule.references
        if len(rows) > most:
            name = self.node(node).name
            notes.append(f"{name}: callers among the first {most} of {len(rows)} calls by this name")
        files = self.index.files_of_references(rows[:most])
        for row, file in zip(rows[:most].tolist(), files.tolist(), strict=True):
            reference = self.index.reference(row)
            found = self._resolver.call(file, reference)
            if node in found.targets:
                source = reference.enclosing if reference.enclosing != NONE else self._rows.file_node(file)
                edges = self._call(source, found, reference.line)
                yield from (edge for edge in edges if edge.target == node)

    def _names(self, node: int) -> list[str]:
        """The names by which a symbol may be called: its own, and those that imports give it."""
        own = self.index.row(node).name
        table = self.index.imports
        aliases = np.unique(table[(table[:, _NAME] == own) & (table[:, _ALIAS] != NONE), _ALIAS])
        return [self.index.texts[number] for number in dict.fromkeys((own, *aliases.tolist()))]

    def _imports(self, node: int) -> Iterator[Edge]:
        """What a file imports."""
        if self._rows.is_file(node):
            yield from self._imported(self.index.imports_of(self._rows.file_of(node)))

    def _importers(self, node: int) -> Iterator[Edge]:
        """Which files import a node."""
        table = self.index.imports
        rows: NDArray[np.intp]
        if self._rows.is_file(node):
            last = self.index.number_of(self._last(self._rows.file_of(node)))
            relative = (table[:, Import._fields.index("level")] > 0) & (table[:, _LAST] == NONE)
            rows = np.flatnonzero((table[:, _LAST] == last) | (table[:, _NAME] == last) | relative)
        else:
            rows = np.flatnonzero(table[:, _NAME] == self.index.row(node).name)
        yield from (edge for edge in self._imported(rows.tolist()) if edge.target == node)

    def _last(self, file: int) -> str:
        """The last part of what an import of a file says, but for a relative one of its own folder."""
        separator = "." if self.index.language == "python" else "/"
        return self.index.modules[file].rpartition(separator)[2]

    def _imported(self, rows: Sequence[int]) -> Iterator[Edge]:
        files = self.index.files_of_imports(np.asarray(rows, np.int64))
        for row, file in zip(rows, files.tolist(), strict=True):
            item = self.index.imported(row)
            found = self._resolver.imported(file, item)
            source = self._rows.file_node(file)
            yield from (Edge(source, target, Link.IMPORTS, item.line, found.how) for target in found.targets)

    def _members(self, node: int) -> Iterator[Edge]:
        """What a node defines."""
        if self._rows.is_file(node):
            ids: Iterable[int] = (
                number
                for number in self.index.symbols_of(self._rows.file_of(node))
                if self._resolver.parent(number) == node
            )
        else:
            ids = self._resolver.members(node)
        for number in ids:
            yield Edge(node, number, Link.DEFINES, self.index.row(number).line, How.SCOPE)

    def _definer(self, node: int) -> Iterator[Edge]:
        """What defines a node."""
        if not self._rows.is_file(node):
            line = self.index.row(node).line
            yield Edge(self._resolver.parent(node), node, Link.DEFINES, line, How.SCOPE)
