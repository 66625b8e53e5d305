"""Reliability of repeated draws, and flips against the deterministic run."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import f_oneway
from statsmodels.stats.inter_rater import fleiss_kappa

from repairlab.analysis.statistics import (
    Flips,
    Interval,
    Measured,
    NotEstimable,
    Reliability,
    flips_against,
    reliability,
)
from repairlab.contract.errors import BadInput

PINNED = 1e-6
# 9 cells with three successes, 3 with two, 2 with one, 10 with none.
CELLS = [(1, 1, 1)] * 9 + [(1, 0, 1)] * 3 + [(0, 1, 0)] * 2 + [(0, 0, 0)] * 10


def rng(seed: int = 3) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


def measure(cells: Sequence[Sequence[int]], resamples: int = 500) -> Reliability:
    found = reliability(cells, rng(), resamples)
    assert isinstance(found, Reliability)
    return found


def number(measured: Measured) -> float:
    assert isinstance(measured.estimate, float)
    return measured.estimate


def test_pinned_coefficients() -> None:
    found = measure(CELLS)
    assert (found.cells, found.draws, found.consistent) == (24, 3, 19)
    pinned = [
        (found.kappa, 0.722008),
        (found.icc, 0.731518),
        (found.ac1, 0.722436),
        (found.between, 0.189211),
        (found.within, 0.069444),
        (found.pass_hat[1], 0.486111),
        (found.pass_hat[2], 0.416667),
        (found.pass_hat[3], 0.375000),
        (found.pass_at[1], 0.486111),
        (found.pass_at[2], 0.555556),
        (found.pass_at[3], 0.583333),
    ]
    for measured, value in pinned:
        assert number(measured) == pytest.approx(value, abs=PINNED)
    interval = found.consistent_interval
    assert isinstance(interval, Interval)
    assert (interval.low, interval.high) == (
        pytest.approx(0.595295, abs=PINNED),
        pytest.approx(0.907552, abs=PINNED),
    )


MATRIX = st.lists(st.lists(st.integers(0, 1), min_size=3, max_size=3), min_size=2, max_size=12)


@given(MATRIX)
@settings(max_examples=40)
def test_coefficients_agree_with_scipy_statsmodels_and_enumeration(cells: list[list[int]]) -> None:
    found = measure(cells, 20)
    successes = [sum(cell) for cell in cells]
    pairs = [a == b for cell in cells for a, b in itertools.combinations(cell, 2)]
    assert number(found.agreement) == pytest.approx(sum(pairs) / len(pairs))
    twos = [draw for cell in cells for draw in itertools.combinations(cell, 2)]
    assert number(found.pass_hat[2]) == pytest.approx(sum(a & b for a, b in twos) / len(twos))
    assert number(found.pass_at[2]) == pytest.approx(sum(a | b for a, b in twos) / len(twos))
    assume(0 < sum(successes) < 3 * len(cells))
    assert number(found.kappa) == pytest.approx(float(fleiss_kappa([[c, 3 - c] for c in successes])))
    assume(any(0 < c < 3 for c in successes))
    f = float(f_oneway(*cells).statistic)
    assert number(found.icc) == pytest.approx((f - 1) / (f + 2))


def test_the_one_way_f_behind_the_icc() -> None:
    found = measure(CELLS)
    f = 1 + 3 * number(found.between) / number(found.within)
    assert f == pytest.approx(9.173913, abs=PINNED)
    assert f == pytest.approx(float(f_oneway(*CELLS).statistic))


@pytest.mark.parametrize("value", [0, 1])
def test_a02_agreement_of_all_is_undefined_and_no_one(value: int) -> None:
    found = measure([(value,) * 3] * 24)
    for measured in (found.kappa, found.icc, found.ac1):
        assert str(measured.estimate) == "undefined: all outcomes agree"
    assert number(found.agreement) == 1
    assert number(found.pass_hat[3]) == value
    assert found.pass_hat[3].interval == Interval(value, value, 0.95)


def test_cells_that_agree_within_and_differ_between_have_coefficients_of_one() -> None:
    found = measure([(1, 1, 1), (0, 0, 0)] * 6)
    assert [number(m) for m in (found.icc, found.kappa, found.ac1)] == pytest.approx([1, 1, 1])


def test_a09_one_cell_has_no_interval() -> None:
    found = measure([(1, 0, 1)])
    assert number(found.pass_at[1]) == pytest.approx(2 / 3)
    assert str(found.pass_at[1].interval) == "not estimable (1 cell)"
    assert isinstance(found.icc.estimate, NotEstimable)
    assert reliability([], rng()) == NotEstimable("no data")


def test_cells_of_unequal_draws_and_values_that_are_no_outcome_are_refused() -> None:
    for cells in ([(1, 0), (1, 0, 1)], [(1,)], [(1, 2)]):
        with pytest.raises(BadInput):
            reliability(cells, rng())


@given(MATRIX, st.randoms(use_true_random=False))
@settings(max_examples=20)
def test_order_of_cells_and_draws_is_irrelevant(cells: list[list[int]], random: object) -> None:
    moved = [list(cell) for cell in cells]
    random.shuffle(moved)  # type: ignore[attr-defined]  # hypothesis types its Random as object
    assert measure([list(reversed(cell)) for cell in moved], 50) == measure(cells, 50)


def test_the_bootstrap_over_cells_has_the_error_of_a_mean() -> None:
    found = measure(CELLS, 4_000)
    interval = found.pass_at[1].interval
    assert isinstance(interval, Interval)
    means = [sum(cell) / 3 for cell in CELLS]
    half = 1.96 * float(np.std(means)) / 24**0.5
    assert interval.low == pytest.approx(0.486111 - half, abs=0.03)
    assert interval.high == pytest.approx(0.486111 + half, abs=0.03)


def test_flips_by_hand() -> None:
    draws = [(1, 1, 0), (0, 0, 0), (1, 1, 1), (0, 1, 1), (0, 0, 0), (1, 0, 1)]
    found = flips_against(draws, [0, 0, 1, 0, 1, 1], rng(), 500)
    assert isinstance(found, Flips)
    assert (found.flips, found.comparisons, found.rate) == (8, 18, pytest.approx(8 / 18))
    assert (found.flipped, found.cells) == (4, 6)
    assert (found.up, found.down) == (2, 2)
    assert found.p == 1
    assert isinstance(found.interval, Interval)
    assert found.interval.low < found.rate < found.interval.high


def test_flips_in_one_direction_are_seen() -> None:
    found = flips_against([(1, 1, 1)] * 6, [0] * 6, rng(), 50)
    assert isinstance(found, Flips)
    assert (found.up, found.down, found.p) == (6, 0, Fraction(1, 32))
    assert flips_against([], [], rng()) == NotEstimable("no data")
    for draws, run in (([(1, 0)], []), ([()], [1]), ([(1, 2)], [1]), ([(1, 0)], [3])):
        with pytest.raises(BadInput):
            flips_against(draws, run, rng())
