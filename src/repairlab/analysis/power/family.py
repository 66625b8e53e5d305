"""Power of the whole confirmatory family, under the registered graph and under Holm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt

from repairlab.analysis.power.latent import Solved, latents, solved
from repairlab.analysis.power.lookup import Floats, SignFlipTable
from repairlab.analysis.power.two_arms import PAIRINGS
from repairlab.analysis.statistics import Comparison, Graph, shares_without
from repairlab.contract.errors import BadInput

Rejected = npt.NDArray[np.bool_]
_MODELS = 2


@dataclass(frozen=True, slots=True)
class FamilyScenario:
    """True rates of the arms, the same under both models."""

    name: str
    rates: Mapping[str, float]


def _scenario(name: str, *rates: float) -> FamilyScenario:
    return FamilyScenario(name, dict(zip(("H000", "H003", "H007", "H011", "H018"), rates, strict=True)))


FAMILY_SCENARIOS = (
    _scenario("all equal", 0.25, 0.25, 0.25, 0.25, 0.25),
    _scenario("modest", 0.20, 0.23, 0.27, 0.28, 0.40),
    _scenario("medium", 0.20, 0.27, 0.33, 0.36, 0.48),
    _scenario("large", 0.20, 0.32, 0.40, 0.44, 0.58),
    _scenario("low base", 0.10, 0.15, 0.20, 0.22, 0.35),
    _scenario("retrieval without effect", 0.25, 0.25, 0.25, 0.25, 0.45),
)


@dataclass(frozen=True, slots=True)
class FamilyRow:
    """Rejections in one scenario, as proportions of simulated studies; either sign counts.

    Attributes:
        scenario: its name.
        pairing: name of the shares of variance.
        graph: by contrast, under the registered graph.
        graph_any: at least one; the familywise error where nothing is true.
        holm: by contrast, under Holm over the whole family.
        holm_any: at least one.
        studies: simulated studies behind each figure.
    """

    scenario: str
    pairing: str
    graph: Mapping[str, float]
    graph_any: float
    holm: Mapping[str, float]
    holm_any: float
    studies: int


@dataclass(frozen=True, slots=True)
class FamilyTests:
    """What is tested, and how: the registered family, its graph and its level."""

    family: Sequence[Comparison]
    graph: Graph
    alpha: float


def family_power(
    scenario: FamilyScenario,
    pairing: str,
    tests: FamilyTests,
    table: SignFlipTable,
    studies: int,
    rng: np.random.Generator,
) -> FamilyRow:
    """Simulate one row.

    Raises:
        BadInput: the scenario has no rate for an arm of the family, or the graph is of another family.
    """
    names = tuple(comparison.name for comparison in tests.family)
    arms = sorted(scenario.rates)
    needed = {arm for comparison in tests.family for arm in (comparison.arm, *comparison.against)}
    if names != tests.graph.names or needed - set(arms):
        raise BadInput(f"scenario {scenario.name} does not fit the family {', '.join(names)}")
    values = latents(PAIRINGS[pairing], (studies, len(table.p) - 1, len(arms), _MODELS), rng)
    hits = solved(values, [(scenario.rates[arm],) * _MODELS for arm in arms])
    p = np.column_stack([_p(comparison, arms, hits, table) for comparison in tests.family])
    by_graph, by_holm = reject_by_graph(tests.graph, p, tests.alpha), reject_by_holm(p, tests.alpha)
    return FamilyRow(
        scenario=scenario.name,
        pairing=pairing,
        graph=dict(zip(names, by_graph.mean(axis=0).tolist(), strict=True)),
        graph_any=float(by_graph.any(axis=1).mean()),
        holm=dict(zip(names, by_holm.mean(axis=0).tolist(), strict=True)),
        holm_any=float(by_holm.any(axis=1).mean()),
        studies=studies,
    )


def reject_by_graph(graph: Graph, p_values: Floats, alpha: float) -> Rejected:
    """The graphical procedure on many studies; shape (studies, hypotheses).

    Shares depend on the set rejected so far alone, so there is one row of them for each set.
    """
    size = len(graph.names)
    shares = np.array(
        [
            [float(share) for share in shares_without(graph, [i for i in range(size) if gone[i]])]
            for gone in product((False, True), repeat=size)
        ]
    )
    place = 2 ** np.arange(size)[::-1]
    rejected = np.zeros(p_values.shape, dtype=bool)
    for _ in range(size):
        level = shares[rejected @ place]
        rejected |= (level > 0) & (p_values <= level * alpha)
    return rejected


def reject_by_holm(p_values: Floats, alpha: float) -> Rejected:
    """Holm's procedure on many studies; shape (studies, hypotheses)."""
    size = p_values.shape[1]
    order = np.argsort(p_values, axis=1, kind="stable")
    ordered = np.take_along_axis(p_values, order, axis=1)
    passed = np.logical_and.accumulate(ordered <= alpha / np.arange(size, 0, -1), axis=1)
    rejected = np.zeros(p_values.shape, dtype=bool)
    np.put_along_axis(rejected, order, passed, axis=1)
    return rejected


def _p(comparison: Comparison, arms: Sequence[str], hits: Solved, table: SignFlipTable) -> Floats:
    """P-values of one contrast; of several components the largest, or 1 where an estimate is not positive."""
    solves = hits.sum(axis=3, dtype=np.int8)
    first = solves[:, :, arms.index(comparison.arm)]
    largest, positive = np.zeros(len(hits)), np.ones(len(hits), dtype=bool)
    for other in comparison.against:
        totals = first - solves[:, :, arms.index(other)]
        largest = np.maximum(largest, table.look_up(totals))
        positive &= totals.sum(axis=1, dtype=np.int64) > 0
    if len(comparison.against) == 1:
        return largest
    return np.where(positive, largest, 1.0)
