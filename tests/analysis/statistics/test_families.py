"""Multiplicity, intersection-union, equivalence, verdict words."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from repairlab.analysis.statistics import (
    Expected,
    Graph,
    Interval,
    NotEstimable,
    Verdict,
    benjamini_hochberg,
    bonferroni,
    equivalent,
    graph_of,
    graph_test,
    holm,
    holm_graph,
    intersection_union,
    tarone_holm,
    verdict,
)
from repairlab.contract.errors import BadInput

P_VALUES = st.lists(
    st.sampled_from([0.0, 0.001, 0.004, 0.01, 0.0125, 0.02, 0.03, 0.05, 0.2, 0.7, 1.0]),
    min_size=5,
    max_size=5,
)
NAMES = ("C1", "C2", "C3", "C4", "C5")
STUDY = graph_of(
    NAMES,
    {"C2": 0.5, "C5": 0.5},
    {
        "C1": {"C3": 0.5, "C4": 0.5},
        "C2": {"C1": 0.25, "C3": 0.25, "C5": 0.5},
        "C3": {"C1": 0.5, "C4": 0.5},
        "C4": {"C1": 0.5, "C3": 0.5},
        "C5": {"C1": 0.25, "C2": 0.5, "C3": 0.25},
    },
)


@pytest.mark.parametrize(
    ("raw", "adjusted"),
    [
        ((0.01, 0.04, 0.03, 0.005), (0.03, 0.06, 0.06, 0.02)),
        ((0.001, 0.008, 0.039, 0.041, 0.042), (0.005, 0.032, 0.117, 0.117, 0.117)),
        ((0.01, 0.02, 0.03, 0.04, 0.05), (0.05, 0.08, 0.09, 0.09, 0.09)),
        ((0.02, 0.02, 0.5, 1.0, 0.9), (0.1, 0.1, 1.0, 1.0, 1.0)),
    ],
)
def test_pinned_holm(raw: tuple[float, ...], adjusted: tuple[float, ...]) -> None:
    assert holm(raw) == pytest.approx(adjusted, abs=1e-9)


@given(P_VALUES)
@settings(max_examples=15)
def test_adjustments_agree_with_statsmodels(raw: list[float]) -> None:
    for ours, name in ((holm, "holm"), (benjamini_hochberg, "fdr_bh"), (bonferroni, "bonferroni")):
        assert ours(raw) == pytest.approx(tuple(multipletests(raw, method=name)[1]), abs=1e-12)


@given(P_VALUES)
@settings(max_examples=60)
def test_holm_is_monotone_above_raw_and_a_graph(raw: list[float]) -> None:
    adjusted = holm(raw)
    assert all(p <= a for p, a in zip(raw, adjusted, strict=True))
    for (p, a), (q, b) in itertools.combinations(zip(raw, adjusted, strict=True), 2):
        assert a <= b or p > q
        assert b <= a or q > p
    assert graph_test(holm_graph(NAMES), raw, 0.05).adjusted == pytest.approx(adjusted)


@given(P_VALUES, st.permutations(range(5)))
@settings(max_examples=40)
def test_the_order_of_hypotheses_is_irrelevant(raw: list[float], order: list[int]) -> None:
    moved = Graph(
        tuple(STUDY.names[i] for i in order),
        tuple(STUDY.weights[i] for i in order),
        tuple(tuple(STUDY.edges[i][j] for j in order) for i in order),
    )
    there = graph_test(STUDY, raw, 0.05).adjusted
    assert graph_test(moved, [raw[i] for i in order], 0.05).adjusted == pytest.approx(
        [there[i] for i in order]
    )


def closed_test(graph: Graph, raw: list[float]) -> list[float]:
    """Every intersection by weighted Bonferroni; its weights by removing the others one by one."""
    size = len(raw)
    adjusted = [0.0] * size
    for members in itertools.chain.from_iterable(
        itertools.combinations(range(size), k) for k in range(1, size + 1)
    ):
        weights, edges = list(graph.weights), [list(row) for row in graph.edges]
        for gone in set(range(size)) - set(members):
            old = [list(row) for row in edges]
            for i in range(size):
                if i == gone:
                    continue
                weights[i] += weights[gone] * old[gone][i]
                for j in range(size):
                    through = old[i][gone] * old[gone][i]
                    edges[i][j] = (
                        Fraction(0)
                        if i == j or through == 1
                        else (old[i][j] + old[i][gone] * old[gone][j]) / (1 - through)
                    )
            weights[gone] = Fraction(0)
            edges = [
                [Fraction(0) if gone in (i, j) else edges[i][j] for j in range(size)] for i in range(size)
            ]
        p = min((raw[i] / float(weights[i]) for i in members if weights[i]), default=1.0)
        for i in members:
            adjusted[i] = max(adjusted[i], min(1.0, p))
    return adjusted


@given(P_VALUES)
@settings(max_examples=40)
def test_the_graph_is_the_shortcut_of_its_closed_test(raw: list[float]) -> None:
    assert graph_test(STUDY, raw, 0.05).adjusted == pytest.approx(closed_test(STUDY, raw))


DOSES = ("H1", "H2", "H3", "H4")


def test_published_example_of_two_doses_and_two_endpoints() -> None:
    # R's graphicalMCP, vignette "shortcut-testing": H2, H1, H4 are rejected at 0.5, 0.75 and 0.5 of alpha
    # 0.025; H3 is not, at the whole of it.
    graph = graph_of(
        DOSES,
        {"H1": 0.5, "H2": 0.5},
        {"H1": {"H2": 0.5, "H3": 0.5}, "H2": {"H1": 0.5, "H4": 0.5}, "H3": {"H2": 1}, "H4": {"H1": 1}},
    )
    found = graph_test(graph, (0.018, 0.010, 0.105, 0.006), 0.025)
    assert found.rejected == (True, True, False, True)
    assert found.adjusted == pytest.approx((0.018 / 0.75, 0.010 / 0.5, 0.105, 0.018 / 0.75))


def test_published_example_of_parallel_gatekeeping() -> None:
    # Figure 1 of Bretz et al., Biom J 2011;53:894-913, tested in the README of R's graphicalMCP.
    graph = graph_of(
        DOSES, {"H1": 0.5, "H2": 0.5}, {"H1": {"H3": 1}, "H2": {"H4": 1}, "H3": {"H2": 1}, "H4": {"H1": 1}}
    )
    found = graph_test(graph, (0.01, 0.02, 0.03, 0.05), 0.05)
    assert found.adjusted == pytest.approx((0.02, 0.04, 0.06, 0.06))
    assert found.rejected == (True, True, False, False)


def test_the_study_graph_by_hand() -> None:
    # C2 at a half, then C5 at 3/4; their shares leave C1 and C3 with a half each.
    found = graph_test(STUDY, (0.024, 0.01, 0.4, 0.001, 0.03), 0.05)
    assert found.adjusted == pytest.approx((0.048, 0.02, 0.4, 0.048, 0.04))
    assert found.rejected == (True, True, False, True, True)
    assert graph_test(STUDY, (0.0, 0.2, 0.0, 0.0, 0.9), 0.05).rejected == (False,) * 5


@pytest.mark.parametrize(
    ("weights", "edges"),
    [
        ({"a": 0.6, "b": 0.5}, {}),
        ({"a": 1.0}, {"a": {"a": 0.5}}),
        ({"a": 1.0}, {"a": {"b": 0.7, "c": 0.7}}),
        ({"a": -0.1}, {}),
        ({"d": 0.5}, {}),
        ({"a": 0.5}, {"a": {"d": 1}}),
    ],
)
def test_a_graph_that_does_not_hold_the_level_is_refused(
    weights: dict[str, float], edges: dict[str, dict[str, float]]
) -> None:
    with pytest.raises(BadInput):
        graph_of(("a", "b", "c"), weights, edges)


def test_tarone_does_not_count_tests_that_could_not_reach_the_p() -> None:
    raw, least = (0.01, 0.25, 1.0), (0.001, 0.25, 0.5)
    assert tarone_holm(raw, least) == pytest.approx((0.01, 0.25, 1.0))
    assert tarone_holm(raw, (0.0, 0.0, 0.0)) == pytest.approx(holm(raw))
    with pytest.raises(BadInput):
        tarone_holm((0.01,), (0.02,))


@given(P_VALUES, st.lists(st.floats(0, 1), min_size=5, max_size=5))
@settings(max_examples=40)
def test_tarone_lies_between_raw_and_holm(raw: list[float], parts: list[float]) -> None:
    least = [p * part for p, part in zip(raw, parts, strict=True)]
    adjusted = tarone_holm(raw, least)
    assert all(p <= a <= h for p, a, h in zip(raw, adjusted, holm(raw), strict=True))


def test_intersection_union_takes_the_largest_and_needs_every_sign() -> None:
    assert intersection_union((0.1, 0.2, 0.3, 0.01), (0.001, 0.002, 0.003, 0.04)) == 0.04
    assert intersection_union((0.1, 0.2, 0.3, 0.0), (0.001, 0.002, 0.003, 0.004)) == 1.0
    assert intersection_union((0.1, -0.2), (0.001, 0.001)) == 1.0
    for estimates, raw in (((), ()), ((0.1,), (0.1, 0.2)), ((0.1,), (1.5,)), ((0.1,), (float("nan"),))):
        with pytest.raises(BadInput):
            intersection_union(estimates, raw)


NARROW, WIDE = Interval(-0.09, 0.099, 0.90), Interval(-0.09, 0.10, 0.90)


@pytest.mark.parametrize(
    ("p", "estimate", "interval", "expected", "word"),
    [
        (0.05, 0.2, WIDE, "positive", Verdict.SUPPORTED),
        (0.05, -0.2, WIDE, "positive", Verdict.CONTRADICTED),
        (0.05, -0.2, WIDE, "none", Verdict.DIFFERENT),
        (0.01, 0.05, NARROW, "positive", Verdict.SUPPORTED),
        (0.0501, 0.2, WIDE, "positive", Verdict.INCONCLUSIVE),
        (0.0501, 0.05, NARROW, "none", Verdict.EQUIVALENT),
        (1.0, 0.0, NotEstimable("not estimable (1 task)"), "positive", Verdict.INCONCLUSIVE),
    ],
)
def test_verdict_words(
    p: float, estimate: float, interval: Interval | NotEstimable, expected: Expected, word: Verdict
) -> None:
    assert verdict(p, estimate, interval, expected=expected, sesoi=0.10, alpha=0.05) is word


def test_equivalence_reads_the_ninety_percent_interval_alone() -> None:
    assert equivalent(NARROW, 0.10)
    assert not equivalent(WIDE, 0.10)
    with pytest.raises(BadInput):
        equivalent(Interval(-0.01, 0.01, 0.95), 0.10)
    with pytest.raises(BadInput):
        equivalent(NARROW, 0.0)
