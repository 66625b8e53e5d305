"""The graphical multiple test procedure (Bretz, Maurer, Brannath & Posch, Stat Med 2009;28:586-604).

Each hypothesis holds a share of alpha. A rejected one hands its share on along its edges, and the graph is
redrawn without it. The order of rejections changes no decision.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from repairlab.analysis.statistics.multiplicity import checked_p_values
from repairlab.contract.errors import BadInput

# Decimal weights such as 0.1 have no exact binary form: sums may miss 1 by this much.
_ROUNDING = Fraction(1, 10**9)


class GraphTest(NamedTuple):
    """Adjusted p-values and rejections, in the order of the graph's names."""

    adjusted: tuple[float, ...]
    rejected: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class Graph:
    """Shares of alpha and the edges along which they pass on.

    Attributes:
        names: hypotheses, each once.
        weights: share of alpha of each hypothesis; together at most 1.
        edges: `edges[i][j]` is the part of i's share that j receives once i is rejected; rows together at
            most 1, nothing to itself.
    """

    names: tuple[str, ...]
    weights: tuple[Fraction, ...]
    edges: tuple[tuple[Fraction, ...], ...]

    def __post_init__(self) -> None:
        """Refuse a graph that does not hold the familywise level."""
        size = len(self.names)
        if len(set(self.names)) != size or len(self.weights) != size or len(self.edges) != size:
            raise BadInput("a graph needs each hypothesis once, with one weight and one row of edges")
        for row in (self.weights, *self.edges):
            if len(row) != size or min(row, default=Fraction(0)) < 0 or sum(row) > 1 + _ROUNDING:
                raise BadInput("weights and rows of edges are not negative and sum to at most 1")
        if any(self.edges[i][i] for i in range(size)):
            raise BadInput("a hypothesis hands nothing on to itself")


def graph_of(
    names: Sequence[str], weights: Mapping[str, float], edges: Mapping[str, Mapping[str, float]]
) -> Graph:
    """The graph of named weights and edges; a weight or an edge that is not given is 0. Numbers are decimals.

    Raises:
        BadInput: a weight or an edge of no hypothesis, or a graph that does not hold the level.
    """
    if unknown := {*weights, *edges, *(name for row in edges.values() for name in row)} - set(names):
        raise BadInput(f"the graph names what is no hypothesis: {', '.join(sorted(unknown))}")
    return Graph(
        tuple(names),
        tuple(_decimal(weights.get(name, 0)) for name in names),
        tuple(tuple(_decimal(edges.get(i, {}).get(j, 0)) for j in names) for i in names),
    )


def holm_graph(names: Sequence[str]) -> Graph:
    """The graph of Holm's procedure: equal shares, each handed on in equal parts."""
    size = len(names)
    part = Fraction(1, max(1, size - 1))
    rows = tuple(tuple(Fraction(0) if i == j else part for j in range(size)) for i in range(size))
    return Graph(tuple(names), (Fraction(1, max(1, size)),) * size, rows)


def graph_test(graph: Graph, p_values: Sequence[float], alpha: float) -> GraphTest:
    """Adjusted p-values of the procedure; a hypothesis is rejected where its own is at most `alpha`.

    Args:
        graph: registered weights and edges.
        p_values: raw p-values, in the order of `graph.names`.
        alpha: familywise level.

    Raises:
        BadInput: a p-value is missing or outside [0, 1].
    """
    checked = checked_p_values(p_values)
    if len(checked) != len(graph.names):
        raise BadInput(f"{len(graph.names)} hypotheses, but {len(checked)} p-values")
    weights, edges = list(graph.weights), [list(row) for row in graph.edges]
    left, adjusted, largest = set(range(len(checked))), [1.0] * len(checked), 0.0
    while weighted := [index for index in sorted(left) if weights[index] > 0]:
        ratios = {index: checked[index] / float(weights[index]) for index in weighted}
        one = min(weighted, key=lambda index: (ratios[index], index))
        largest = max(largest, min(1.0, ratios[one]))
        adjusted[one] = largest
        left.discard(one)
        weights, edges = _without(one, left, weights, edges)
    return GraphTest(tuple(adjusted), tuple(p <= alpha for p in adjusted))


def shares_without(graph: Graph, rejected: Collection[int]) -> tuple[Fraction, ...]:
    """Share of alpha of each hypothesis once those at `rejected` are gone, which hold nothing any more."""
    weights, edges = list(graph.weights), [list(row) for row in graph.edges]
    left = set(range(len(graph.names)))
    for one in sorted(rejected):
        left.discard(one)
        weights, edges = _without(one, left, weights, edges)
    return tuple(weights)


def _without(
    gone: int, left: set[int], weights: Sequence[Fraction], edges: Sequence[Sequence[Fraction]]
) -> tuple[list[Fraction], list[list[Fraction]]]:
    """Redraw the graph without one hypothesis: its share and the paths through it go to its neighbours."""
    size = len(weights)
    passed = [weights[i] + weights[gone] * edges[gone][i] if i in left else Fraction(0) for i in range(size)]
    drawn = [[Fraction(0)] * size for _ in range(size)]
    for i in left:
        returning = edges[i][gone] * edges[gone][i]
        for j in left - {i}:
            if returning < 1:
                drawn[i][j] = (edges[i][j] + edges[i][gone] * edges[gone][j]) / (1 - returning)
    return passed, drawn


def _decimal(number: float) -> Fraction:
    return Fraction(str(number))
