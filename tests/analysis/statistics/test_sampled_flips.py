"""Sampled sign flips: against the exact test, seeded, and indifferent to order and unit."""

from __future__ import annotations

import numpy as np
import pytest

from repairlab.analysis.statistics import NotEstimable, SampledFlips, sampled_sign_flip, sign_flip
from repairlab.contract.errors import BadInput

TOTALS = [-2] + [-1] * 3 + [0] * 40 + [1] * 12 + [2] * 4


def flips(values: list[float], seed: int = 7, count: int = 9_999) -> SampledFlips:
    found = sampled_sign_flip(values, np.random.Generator(np.random.PCG64(seed)), count)
    assert isinstance(found, SampledFlips)
    return found


def test_it_agrees_with_the_exact_test_within_its_error_and_repeats() -> None:
    exact = float(sign_flip(TOTALS).p)
    found = flips([float(t) for t in TOTALS])
    error = (exact * (1 - exact) / 9_999) ** 0.5
    assert abs(found.p - exact) < 4 * error
    assert (found.tasks, found.flips, found.mean) == (60, 9_999, pytest.approx(0.25))
    assert flips([float(t) for t in TOTALS]) == found
    assert flips([float(t) for t in TOTALS], seed=8).p != found.p


def test_order_sign_and_unit_change_nothing_and_ties_survive_rounding() -> None:
    values = [0.1 * t for t in TOTALS]
    reference = flips([float(t) for t in TOTALS], count=999).p
    assert flips(values, count=999).p == reference
    assert flips([-v for v in reversed(values)], count=999).p == reference


@pytest.mark.parametrize("parts", [3, 6, 7, 11])
def test_a_sum_of_zero_missed_by_rounding_is_a_tie_with_every_other(parts: int) -> None:
    values = [0.1] * parts + [-0.1 * parts]
    assert sum(sorted(values)) != 0
    assert flips(values, count=999).p == 1.0


def test_the_observed_arrangement_counts_so_no_p_is_zero() -> None:
    assert flips([1.0] * 40, count=99).p == 1 / 100
    assert flips([0.0, 0.0], count=99).p == 1.0


def test_no_data_and_no_number_are_told_apart() -> None:
    rng = np.random.Generator(np.random.PCG64(1))
    assert sampled_sign_flip([], rng) == NotEstimable("no data")
    for bad in (float("nan"), float("inf")):
        with pytest.raises(BadInput):
            sampled_sign_flip([1.0, bad], rng)
