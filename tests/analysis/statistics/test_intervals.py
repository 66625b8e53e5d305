"""Wilson, Tango, Newcombe and the task-clustered score interval."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.stats import binomtest
from statsmodels.stats.proportion import proportion_confint

from repairlab.analysis.statistics import (
    Interval,
    NotEstimable,
    clustered_score,
    contrast,
    newcombe_paired,
    tango,
    wilson,
)
from repairlab.analysis.statistics.clustered_score import constrained_variance
from repairlab.contract.errors import BadInput

PINNED = 1e-6


def ends(found: Interval | NotEstimable) -> tuple[float, float]:
    assert isinstance(found, Interval)
    return found.low, found.high


@pytest.mark.parametrize(
    ("k", "n", "low", "high"),
    [
        (0, 8, 0.0, 0.324408),
        (8, 8, 0.675592, 1.0),
        (0, 20, 0.0, 0.161125),
        (20, 20, 0.838875, 1.0),
        (0, 24, 0.0, 0.137976),
        (24, 24, 0.862024, 1.0),
        (0, 60, 0.0, 0.060172),
        (1, 60, 0.002948, 0.088551),
        (4, 8, 0.215216, 0.784784),
        (5, 8, 0.305742, 0.863156),
        (6, 8, 0.409275, 0.928521),
        (7, 8, 0.529112, 0.977583),
        (8, 10, 0.490162, 0.943318),
        (12, 24, 0.314274, 0.685726),
        (19, 24, 0.595295, 0.907552),
        (12, 60, 0.118285, 0.317818),
        (15, 60, 0.157765, 0.372321),
        (18, 60, 0.198982, 0.425087),
        (30, 60, 0.377350, 0.622650),
        (30, 120, 0.181098, 0.334411),
        (60, 120, 0.411939, 0.588061),
    ],
)
def test_pinned_wilson(k: int, n: int, low: float, high: float) -> None:
    assert ends(wilson(k, n)) == (pytest.approx(low, abs=PINNED), pytest.approx(high, abs=PINNED))


@given(st.integers(0, 300), st.integers(1, 300), st.sampled_from([0.9, 0.95, 0.99]))
@settings(max_examples=60)
def test_wilson_agrees_with_scipy_and_statsmodels_inside_zero_and_one(k: int, n: int, level: float) -> None:
    assume(k <= n)
    low, high = ends(wilson(k, n, level))
    assert 0 <= low <= k / n <= high <= 1
    assert (low == 0) == (k == 0)
    assert (high == 1) == (k == n)
    scipys = binomtest(k, n).proportion_ci(level, "wilson")
    assert (low, high) == (pytest.approx(scipys.low, abs=1e-9), pytest.approx(scipys.high, abs=1e-9))
    theirs = proportion_confint(k, n, 1 - level, "wilson")
    assert (low, high) == (pytest.approx(theirs[0], abs=1e-9), pytest.approx(theirs[1], abs=1e-9))


def test_a06_wilson_at_its_edges() -> None:
    for k, n in ((0, 1), (1, 1), (0, 10), (10, 10), (38, 38), (0, 77)):
        low, high = ends(wilson(k, n))
        assert (low == 0.0, high == 1.0) == (k == 0, k == n)
        assert 0 <= low < high <= 1
    assert wilson(0, 0) == NotEstimable("no data")
    for k, n in ((3, 2), (-1, 2), (0, -1)):
        with pytest.raises(BadInput):
            wilson(k, n)


@pytest.mark.parametrize(
    ("b", "c", "n", "level", "low", "high"),
    [
        (40, 20, 160, 0.95, 0.030865, 0.218064),  # help page of PropCIs::scoreci.mp
        (1, 7, 21, 0.95, -0.517232, -0.026003),  # Bentur et al. 2009, in Fagerland et al. 2014
        (
            6,
            16,
            161,
            0.95,
            -0.124023,
            -0.005433,
        ),  # Cavo et al. 2012; R's contingencytables prints four digits
        (0, 1, 44, 0.95, -0.118077, 0.059393),
        (9, 2, 60, 0.95, 0.009787, 0.235337),
        (12, 4, 60, 0.95, 0.002930, 0.266893),
        (12, 4, 60, 0.99, -0.043978, 0.311839),
        (8, 0, 60, 0.95, 0.065139, 0.241652),
        (0, 0, 60, 0.95, -0.060172, 0.060172),
        (6, 6, 60, 0.95, -0.122192, 0.122192),
        (3, 1, 20, 0.95, -0.124118, 0.326428),
    ],
)
def test_pinned_tango_in_closed_form_and_by_likelihood(
    b: int, c: int, n: int, level: float, low: float, high: float
) -> None:
    pinned = (pytest.approx(low, abs=PINNED), pytest.approx(high, abs=PINNED))
    assert ends(tango(b, c, n, level)) == pinned
    assert ends(clustered_score([1] * b + [-1] * c + [0] * (n - b - c), 1, level)) == pinned


@pytest.mark.parametrize(
    ("abcd", "low", "high"),
    [
        ((1, 1, 7, 12), -0.506920, -0.025559),
        ((59, 6, 16, 80), -0.118621, -0.004625),
        ((10, 12, 4, 34), 0.001797, 0.259342),
        ((8, 9, 2, 41), 0.006088, 0.228015),
        ((0, 0, 0, 60), -0.060172, 0.060172),
    ],
)
def test_pinned_newcombe(abcd: tuple[int, int, int, int], low: float, high: float) -> None:
    assert ends(newcombe_paired(*abcd)) == (pytest.approx(low, abs=PINNED), pytest.approx(high, abs=PINNED))


@pytest.mark.parametrize(
    ("first", "second", "low", "high"),
    [((56, 70), (48, 80), 0.052431, 0.333873), ((9, 10), (3, 10), 0.170523, 0.809018)],
)
def test_two_wilson_intervals_make_newcombes_unpaired_one(
    first: tuple[int, int], second: tuple[int, int], low: float, high: float
) -> None:
    # Newcombe, Stat Med 1998;17:873-890, method 10: a published check of Wilson's ends.
    p1, p2 = first[0] / first[1], second[0] / second[1]
    (low1, high1), (low2, high2) = ends(wilson(*first)), ends(wilson(*second))
    assert p1 - p2 - ((p1 - low1) ** 2 + (high2 - p2) ** 2) ** 0.5 == pytest.approx(low, abs=PINNED)
    assert p1 - p2 + ((high1 - p1) ** 2 + (p2 - low2) ** 2) ** 0.5 == pytest.approx(high, abs=PINNED)


def totals_of(counts: Sequence[int]) -> list[int]:
    return [value for value, times in zip(range(-2, 3), counts, strict=True) for _ in range(times)]


@pytest.mark.parametrize(
    ("counts", "low", "high"),
    [
        ((1, 3, 40, 12, 4), 0.027507, 0.225791),
        ((0, 2, 50, 6, 2), 0.002483, 0.150902),
        ((2, 8, 38, 9, 3), -0.079996, 0.131986),
    ],
)
def test_pinned_clustered_score(counts: tuple[int, ...], low: float, high: float) -> None:
    found = ends(clustered_score(totals_of(counts), 2))
    assert found == (pytest.approx(low, abs=PINNED), pytest.approx(high, abs=PINNED))


@pytest.mark.parametrize("theta", [-0.6, -0.05, 0.2, 0.7])
@pytest.mark.parametrize("counts", [(1, 3, 4, 6, 2), (0, 2, 5, 3, 0), (0, 0, 7, 0, 0), (0, 0, 0, 6, 0)])
def test_the_constrained_fit_agrees_with_a_numerical_optimiser(counts: tuple[int, ...], theta: float) -> None:
    support, weights = np.arange(-2, 3) / 2, np.array(counts, dtype=float)

    def loss(p: np.ndarray) -> float:
        return -float(weights @ np.log(np.maximum(p, 1e-300)))

    p = np.full(5, 0.2)
    for _ in range(3):  # it stops early at the edge of the simplex; started anew it goes on
        p = minimize(
            loss,
            np.maximum(p, 1e-4),
            method="SLSQP",
            bounds=[(1e-9, 1)] * 5,
            constraints=[
                {"type": "eq", "fun": lambda p: p.sum() - 1},
                {"type": "eq", "fun": lambda p: p @ support - theta},
            ],
            options={"ftol": 1e-13, "maxiter": 1000},
        ).x
    masses = [(v, k) for v, k in zip(support.tolist(), counts, strict=True) if k]
    found = constrained_variance(masses, sum(counts), theta)
    assert found == pytest.approx(float(p @ (support - theta) ** 2), abs=5e-6)


def test_a02_ties_keep_an_interval_with_width() -> None:
    z2 = 1.959963984540054**2
    for n in (2, 8, 60):
        half = z2 / (n + z2)
        assert ends(clustered_score([0] * n, 2)) == (pytest.approx(-half), pytest.approx(half))
    found = contrast([0] * 8, 2)
    assert not isinstance(found, NotEstimable)
    assert (found.estimate, found.test.p, found.note) == (0, 1, "no discordant task, n = 8")


def test_a09_one_task_has_an_estimate_and_no_interval() -> None:
    # Two draws of two models on one task are one task.
    found = contrast([4], 4)
    assert not isinstance(found, NotEstimable)
    assert found.estimate == 1
    assert found.test.p == 1
    assert str(found.interval95) == "not estimable (1 task)"
    assert tango(1, 0, 1) == newcombe_paired(0, 1, 0, 0) == found.interval99
    assert contrast([], 2) == clustered_score([], 2) == tango(0, 0, 0) == NotEstimable("no data")


COUNTS = st.lists(st.integers(0, 12), min_size=5, max_size=5).filter(lambda c: sum(c) >= 2)


@given(COUNTS, st.sampled_from([0.9, 0.95, 0.99]), st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_swapping_arms_mirrors_the_interval_and_it_holds_the_estimate(
    counts: list[int], level: float, random: object
) -> None:
    totals = totals_of(counts)
    low, high = ends(clustered_score(totals, 2, level))
    swapped = [-value for value in totals]
    random.shuffle(swapped)  # type: ignore[attr-defined]  # hypothesis types its Random as object
    assert ends(clustered_score(swapped, 2, level)) == (
        pytest.approx(-high, abs=1e-9),
        pytest.approx(-low, abs=1e-9),
    )
    estimate = sum(totals) / (2 * len(totals))
    assert -1 <= low <= estimate <= high <= 1
    assert low < high


def test_a_multiplier_near_its_pole_is_no_root() -> None:
    # At a mean of 0.1 a Newton step for these tasks ended beside the pole; the interval reached 0.1.
    assert ends(clustered_score(totals_of((1, 12, 9, 2, 1)), 2, 0.9)) == pytest.approx(
        (-0.329072, -0.030974), abs=PINNED
    )


@given(COUNTS, st.integers(1, 30))
@settings(max_examples=40)
def test_concordant_tasks_shrink_the_interval(counts: list[int], added: int) -> None:
    # Not where nearly every task is discordant: there a tie is the first news of variation.
    counts[2] += counts[0] + counts[1] + counts[3] + counts[4]
    low, high = ends(clustered_score(totals_of(counts), 2))
    low2, high2 = ends(clustered_score([*totals_of(counts), *([0] * added)], 2))
    assert high2 - low2 < high - low


@given(COUNTS)
@settings(max_examples=30)
def test_levels_are_nested(counts: list[int]) -> None:
    ninety, ninety_five, ninety_nine = (
        ends(clustered_score(totals_of(counts), 2, level)) for level in (0.9, 0.95, 0.99)
    )
    assert ninety_nine[0] <= ninety_five[0] <= ninety[0] <= ninety[1] <= ninety_five[1] <= ninety_nine[1]


@given(st.integers(0, 20), st.integers(0, 20), st.integers(0, 40))
@settings(max_examples=50)
def test_with_one_pair_a_task_it_is_tango(b: int, c: int, ties: int) -> None:
    assume(b + c + ties >= 2)
    ours = ends(clustered_score([1] * b + [-1] * c + [0] * ties, 1))
    assert ours == pytest.approx(ends(tango(b, c, b + c + ties)), abs=1e-9)


@given(st.integers(0, 20), st.integers(0, 20), st.integers(0, 20), st.integers(0, 20))
@settings(max_examples=50)
def test_newcombe_mirrors_and_holds_its_estimate(a: int, b: int, c: int, d: int) -> None:
    n = a + b + c + d
    assume(n >= 2)
    low, high = ends(newcombe_paired(a, b, c, d))
    assert -1 <= low <= (b - c) / n <= high <= 1
    assert ends(newcombe_paired(a, c, b, d)) == (pytest.approx(-high), pytest.approx(-low))


def test_totals_and_counts_outside_their_range_are_refused() -> None:
    with pytest.raises(BadInput):
        clustered_score([3, 0], 2)
    with pytest.raises(BadInput):
        clustered_score([0, 0], 0)
    with pytest.raises(BadInput):
        tango(5, 5, 9)
    with pytest.raises(BadInput):
        newcombe_paired(1, -1, 0, 3)
    with pytest.raises(BadInput):
        wilson(1, 2, 95)
