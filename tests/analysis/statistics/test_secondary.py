"""Localisation, scores, costs, the oracle gap, Cochran's Q, the bootstrap."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2
from statsmodels.stats.contingency_tables import cochrans_q

from repairlab.analysis.statistics import (
    ChiSquare,
    Interval,
    KnownMean,
    NotEstimable,
    SpentTask,
    TaskCosts,
    all_gold,
    clocks,
    cochran_q,
    cost_per_resolved,
    cost_ratio,
    edit_precision,
    file_recall,
    first_gold_rank,
    fix_score,
    folds_of,
    macro_mean,
    mcnemar_chi_square,
    mean_cost,
    no_regression,
    oracle_gap,
    percentile_interval,
    resampled_sums,
    two_sided_p,
)
from repairlab.analysis.statistics.chisquare import chi_square_tail
from repairlab.contract.errors import BadInput


def rng(seed: int = 11) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


def test_a_file_shown_twice_takes_one_place_before_the_cut() -> None:
    gold, seen = {"a", "b"}, ["x", "a", "a", "y", "b"]
    assert [file_recall(gold, seen, k) for k in (1, 2, 3, 4)] == [0.0, 0.5, 0.5, 1.0]
    assert [all_gold(gold, seen, k) for k in (3, 4)] == [False, True]
    assert first_gold_rank(gold, ["x", "x", "b"]) == 2
    assert first_gold_rank(gold, ["x"]) is None
    assert edit_precision(gold, ["a", "a", "z"]) == 0.5
    assert edit_precision(gold, []) is None
    for bad in (lambda: file_recall([], seen, 1), lambda: file_recall(gold, seen, 0)):
        with pytest.raises(BadInput):
            bad()


def test_a_macro_mean_tells_how_many_values_it_knows() -> None:
    assert macro_mean([1.0, None, 0.5]) == KnownMean(0.75, 2, 3)
    assert macro_mean([None]) == KnownMean(None, 0, 1)


def test_pinned_scores_and_their_nulls() -> None:
    assert no_regression(93, 95) == pytest.approx(0.978947, abs=1e-6)
    assert no_regression(0, 0) is None
    assert fix_score(0.8, 1.0, 0.5) == pytest.approx(0.8)
    assert fix_score(0.5, None, 0.5) is None
    assert fix_score(0.0, 1.0, 1.0) == pytest.approx(0.5)
    impossible = (
        lambda: no_regression(96, 95),
        lambda: fix_score(1.1, 1.0, 1.0),
        lambda: fix_score(None, 1.0, 2.0),
    )
    for bad in impossible:
        with pytest.raises(BadInput):
            bad()


Q_TABLE = [[1, 1, 0], [1, 0, 0], [1, 1, 1], [0, 0, 0], [1, 1, 0], [1, 0, 0], [0, 1, 0], [1, 1, 1]]


def test_pinned_cochran_q_and_its_edges() -> None:
    found = cochran_q(Q_TABLE)
    assert isinstance(found, ChiSquare)
    assert (found.statistic, found.df, found.p) == (pytest.approx(5.2), 2, pytest.approx(0.074274, abs=1e-6))
    assert cochran_q([[1, 1], [0, 0]]) == NotEstimable("no task tells the arms apart")
    for table in ([[1], [0]], [[1, 2], [0, 1]], [1, 0]):
        with pytest.raises(BadInput):
            cochran_q(table)


@given(st.lists(st.lists(st.integers(0, 1), min_size=4, max_size=4), min_size=2, max_size=15))
@settings(max_examples=20)
def test_cochran_q_agrees_with_statsmodels_and_with_mcnemar(table: list[list[int]]) -> None:
    found = cochran_q(table)
    if isinstance(found, ChiSquare):
        referee = cochrans_q(np.array(table))
        assert (found.statistic, found.p) == (
            pytest.approx(referee.statistic),
            pytest.approx(referee.pvalue, abs=1e-12),
        )
    two = [row[:2] for row in table]
    b, c = two.count([1, 0]), two.count([0, 1])
    assert cochran_q(two) == mcnemar_chi_square(b, c) or (b + c == 0)


@given(st.floats(0, 200), st.integers(1, 12))
@settings(max_examples=60)
def test_the_chi_square_tail_is_scipys(x: float, df: int) -> None:
    assert chi_square_tail(x, df) == pytest.approx(float(chi2.sf(x, df)), rel=1e-9, abs=1e-300)


def test_the_chi_square_tail_at_zero_is_one() -> None:
    assert [chi_square_tail(0.0, df) for df in range(1, 6)] == [1.0] * 5
    for x, df in ((-1.0, 1), (1.0, 0)):
        with pytest.raises(BadInput):
            chi_square_tail(x, df)


def test_the_bootstrap_resamples_within_strata_and_ignores_order() -> None:
    values, strata = [1.0, 1.0, 1.0, 5.0, 7.0], ["a", "a", "a", "b", "b"]
    sums = resampled_sums(values, strata, rng(), 2_000)[:, 0]
    assert set(np.unique(sums)) == {13.0, 15.0, 17.0}
    assert np.mean(sums) == pytest.approx(15, abs=0.1)
    moved = resampled_sums(values[::-1], strata[::-1], rng(), 2_000)[:, 0]
    assert np.array_equal(moved, sums)
    with pytest.raises(BadInput):
        resampled_sums([1.0, math.nan], ["a", "a"], rng(), 10)


def test_percentiles_count_what_is_undefined_and_say_unbounded() -> None:
    samples = np.arange(1.0, 1001.0)
    assert percentile_interval(samples).interval == Interval(25.0, 976.0, 0.95)
    samples[:20] = np.nan
    assert percentile_interval(samples).undefined == 20
    samples[:60] = np.nan
    assert str(percentile_interval(samples).interval) == "undefined in 60 of 1000 resamples"
    assert str(percentile_interval(np.append(np.arange(90.0), [np.inf] * 10)).interval) == "unbounded"
    assert two_sided_p(np.array([1.0] * 99)) == 2 / 100
    assert two_sided_p(np.zeros(99)) == 1.0


def test_a_cost_twice_as_high_everywhere_is_a_ratio_of_two() -> None:
    tasks = [
        TaskCosts("r" if i % 2 else "s", (200.0 + i, 20.0 + i), (100.0 + i / 2, 10.0 + i / 2))
        for i in range(12)
    ]
    found = cost_ratio(tasks, rng(), 500, 999)
    assert found.ratio == pytest.approx(2.0)
    assert found.interval == Interval(pytest.approx(2.0), pytest.approx(2.0), 0.95)
    assert found.p == pytest.approx(1 / 1000, abs=2e-3)
    assert (found.tasks, found.unknown, found.zero) == (12, 0, 0)
    swapped = cost_ratio([TaskCosts(t.repository, t.second, t.first) for t in tasks], rng(), 500, 999)
    assert swapped.ratio == pytest.approx(0.5)
    assert swapped.p == found.p


def test_a10_unknown_is_null_zero_has_no_ratio_and_the_impossible_is_refused() -> None:
    tasks = [
        TaskCosts("r", (1200.0,), (0.0,)),
        TaskCosts("r", (900.0,), (None,)),
        TaskCosts("r", (10.0,), (20.0,)),
        TaskCosts("r", (10.0,), (40.0,)),
    ]
    found = cost_ratio(tasks, rng(), 200, 99)
    assert (found.tasks, found.unknown, found.zero) == (2, 1, 1)
    assert found.ratio == pytest.approx(8**-0.5)
    assert mean_cost([1200.0, None, 0.0]) == KnownMean(600.0, 2, 3)
    for bad in (-5.0, float("1e400"), math.nan):
        with pytest.raises(BadInput):
            mean_cost([bad])
        with pytest.raises(BadInput):
            cost_ratio([TaskCosts("r", (1.0,), (bad,))], rng())
    none = cost_ratio([tasks[1]], rng())
    assert (none.ratio, none.p) == (NotEstimable("no data"), NotEstimable("no data"))
    one = cost_ratio([tasks[2]], rng())
    assert (one.ratio, str(one.interval)) == (pytest.approx(0.5), "not estimable (1 task)")


def test_clocks_are_cut_and_counted() -> None:
    found = clocks([10.0, 1800.0, 2000.0, None, 100.0], 1800.0)
    assert (found.mean, found.median) == (pytest.approx((10 + 1800 + 1800 + 100) / 4), pytest.approx(950.0))
    assert (found.censored, found.known, found.total) == (2, 4, 5)
    assert clocks([None], 1800.0).mean is None


def test_cost_per_resolved_is_a_ratio_of_sums_over_solved_and_unsolved() -> None:
    tasks = [
        SpentTask("r", (100.0, 300.0), (1, 0)),
        SpentTask("r", (200.0, None), (0, 1)),
        SpentTask("s", (400.0,), (1,)),
    ]
    found = cost_per_resolved([*tasks, *tasks, *tasks, *tasks], rng(), 2_000)
    assert found.ratio == pytest.approx(1000 / 2)
    assert (found.resolved, found.known, found.total) == (8, 16, 20)
    assert isinstance(found.interval, Interval)
    assert found.interval.low < 500 < found.interval.high
    none = cost_per_resolved([SpentTask("r", (5.0,), (0,))], rng())
    assert (none.ratio, none.known) == (NotEstimable("none resolved"), 1)
    rare = cost_per_resolved([SpentTask("r", (5.0,), (int(i == 0),)) for i in range(20)], rng(), 500)
    assert (rare.ratio, str(rare.interval)) == (pytest.approx(100.0), "unbounded")
    with pytest.raises(BadInput):
        cost_per_resolved([SpentTask("r", (5.0,), (1, 0))], rng())


def test_the_naive_oracle_gap_is_too_low_and_the_cross_selected_one_is_not() -> None:
    draws = np.random.Generator(np.random.PCG64(2))
    names = [f"t{i:02d}" for i in range(60)]
    folds = folds_of(names, ["abc"[i // 20] for i in range(60)], "e08")
    naive, crossed = [], []
    for _ in range(200):
        rates = (draws.random((5, 60)) < np.array([[0.45], [0.25], [0.25], [0.25], [0.25]])).astype(float)
        found = oracle_gap(rates[0], dict(zip("wxyz", rates[1:], strict=True)), folds)
        assert sum(found.chosen.values()) == 10
        naive.append(found.naive)
        crossed.append(found.cross_selected)
    # The truth is 0.20; the standard error of each mean is below 0.006.
    assert np.mean(naive) < 0.17
    assert np.mean(crossed) == pytest.approx(0.20, abs=0.02)


def test_folds_are_balanced_over_strata_and_independent_of_order() -> None:
    names, strata = [f"t{i:02d}" for i in range(60)], ["abc"[i // 20] for i in range(60)]
    folds = folds_of(names, strata, "seed")
    for stratum in "abc":
        inside = [fold for fold, name in zip(folds, strata, strict=True) if name == stratum]
        assert sorted(inside) == sorted(list(range(10)) * 2)
    # Small strata go on where the one before stopped, so that no fold is filled twice before another once.
    few = folds_of(names[:9], ["abc"[i // 3] for i in range(9)], "seed")
    assert sorted(few) == list(range(9))
    backwards = folds_of(names[::-1], strata[::-1], "seed")
    assert backwards[::-1] == folds
    assert folds_of(names, strata, "other") != folds


def test_ties_between_arms_go_by_name_and_gaps_by_hand() -> None:
    found = oracle_gap([1, 1, 1, 0], {"b": [1, 0, 0, 0], "a": [0, 1, 0, 0]}, [0, 0, 1, 1])
    assert found.naive == pytest.approx(0.5)
    # Without fold 0 both arms have nothing, so "a" is taken; without fold 1 both have one, so "a" again.
    assert found.chosen == {"a": 2, "b": 0}
    assert found.cross_selected == pytest.approx((1 + 1) / 4)
    with pytest.raises(BadInput):
        oracle_gap([1, 0], {"a": [1, 0]}, [0, 0])
