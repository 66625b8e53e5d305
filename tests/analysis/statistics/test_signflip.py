"""The exact sign-flip test and McNemar's: pinned fractions, referees, properties."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar

from repairlab.analysis.statistics import NotEstimable, mcnemar, mcnemar_chi_square, sign_flip, sign_test
from repairlab.contract.errors import BadInput

PAIRS = [
    (4, 0, Fraction(1, 8), Fraction(1, 16)),
    (5, 0, Fraction(1, 16), Fraction(1, 32)),
    (6, 0, Fraction(1, 32), Fraction(1, 64)),
    (8, 0, Fraction(1, 128), Fraction(1, 256)),
    (9, 0, Fraction(1, 256), Fraction(1, 512)),
    (7, 1, Fraction(9, 128), Fraction(5, 128)),
    (1, 7, Fraction(9, 128), Fraction(5, 128)),
    (9, 2, Fraction(67, 1024), Fraction(79, 2048)),
    (10, 2, Fraction(79, 2048), Fraction(23, 1024)),
    (12, 4, Fraction(5034, 65536), Fraction(3214, 65536)),
    (3, 3, Fraction(1), Fraction(27, 32)),
    (0, 0, Fraction(1), Fraction(1)),
]


@pytest.mark.parametrize(("b", "c", "p", "mid"), PAIRS)
def test_pinned_pairs_by_the_binomial_and_by_convolution(b: int, c: int, p: Fraction, mid: Fraction) -> None:
    found = mcnemar(b, c)
    assert (found.p, found.mid_p) == (p, mid)
    flipped = sign_flip([1] * b + [-1] * c)
    assert (flipped.p, flipped.mid_p) == (p, mid)


@pytest.mark.parametrize(
    ("b", "c", "p", "mid"),
    [(15, 5, 0.041389, 0.026604), (6, 16, 0.052479, 0.034690), (12, 4, 0.076813, 0.049042)],
)
def test_pinned_decimals(b: int, c: int, p: float, mid: float) -> None:
    found = mcnemar(b, c)
    assert float(found.p) == pytest.approx(p, abs=1e-6)
    assert float(found.mid_p) == pytest.approx(mid, abs=1e-6)


@pytest.mark.parametrize(
    ("differences", "p", "mid"),
    [
        ((1, 1, 1, 1, 0, 0), Fraction(1, 8), Fraction(1, 16)),
        ((2, 2, 1, 1, -1, 0), Fraction(1, 4), Fraction(5, 32)),
        ((2, 2, 2, 1, 1, -1, -1, 0, 0), Fraction(28, 128), Fraction(19, 128)),
        ((2, -2, 1, -1), Fraction(1), Fraction(7, 8)),
        ((2, 2, 2, 2, 2), Fraction(1, 16), Fraction(1, 32)),
        ((2, 1, 1, 1, 1, 1, -1, -2, 1, 2), Fraction(176, 1024), Fraction(120, 1024)),
    ],
)
def test_pinned_task_totals(differences: tuple[int, ...], p: Fraction, mid: Fraction) -> None:
    found = sign_flip(differences)
    assert (found.p, found.mid_p) == (p, mid)


@pytest.mark.parametrize(
    ("counts", "p", "mid"),
    [
        ((1, 3, 40, 12, 4), 0.015228, 0.010052),
        ((0, 2, 50, 6, 2), 0.076172, 0.046875),
        ((2, 8, 38, 9, 3), 0.745626, 0.630631),
    ],
)
def test_pinned_sixty_tasks(counts: tuple[int, ...], p: float, mid: float) -> None:
    differences = [value for value, times in zip(range(-2, 3), counts, strict=True) for _ in range(times)]
    found = sign_flip(differences)
    assert float(found.p) == pytest.approx(p, abs=1e-6)
    assert float(found.mid_p) == pytest.approx(mid, abs=1e-6)
    assert found.zeros == counts[2]
    assert found.least_p == Fraction(1, 2 ** (60 - counts[2] - 1))


def test_five_discordant_tasks_cannot_reach_five_percent_and_eight_reach_one() -> None:
    assert [float(sign_flip([1] * n).least_p) for n in (5, 6, 7, 8)] == [0.0625, 0.03125, 0.015625, 0.0078125]


def by_enumeration(differences: list[Fraction]) -> tuple[Fraction, Fraction]:
    steps = [abs(d) for d in differences if d]
    observed = abs(sum(differences))
    sums = [
        abs(sum(s * d for s, d in zip(signs, steps, strict=True)))
        for signs in itertools.product((1, -1), repeat=len(steps))
    ]
    beyond, level = sum(s > observed for s in sums), sum(s == observed for s in sums)
    return Fraction(beyond + level, len(sums)), Fraction(2 * beyond + level, 2 * len(sums))


DRAWS = st.lists(st.fractions(min_value=-2, max_value=2, max_denominator=3), min_size=1, max_size=8)


@given(DRAWS)
@settings(max_examples=40)
def test_several_draws_agree_with_all_sign_patterns(differences: list[Fraction]) -> None:
    found = sign_flip(differences)
    assert found.total == sum(differences)
    if any(differences):
        assert (found.p, found.mid_p) == by_enumeration(differences)
    else:
        assert (found.p, found.mid_p, found.least_p) == (1, 1, 1)


TOTALS = st.lists(st.integers(-2, 2), min_size=1, max_size=40)


@given(TOTALS, st.integers(0, 30), st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_swap_order_and_concordant_tasks_leave_p(totals: list[int], ties: int, random: object) -> None:
    found = sign_flip(totals)
    shuffled = [*totals, *([0] * ties)]
    random.shuffle(shuffled)  # type: ignore[attr-defined]  # hypothesis types its Random as object
    again = sign_flip([-value for value in shuffled])
    assert (again.p, again.mid_p, again.least_p) == (found.p, found.mid_p, found.least_p)
    assert again.total == -found.total
    assert again.zeros == found.zeros + ties
    assert found.least_p <= found.p <= 1
    assert found.mid_p <= found.p


@given(st.integers(0, 30), st.integers(0, 30))
@settings(max_examples=30)
def test_mcnemar_agrees_with_scipy_and_statsmodels(b: int, c: int) -> None:
    p = float(mcnemar(b, c).p)
    asymptotic = mcnemar_chi_square(b, c)
    if b + c == 0:
        assert p == 1
        assert asymptotic == NotEstimable("no discordant pair")
        return
    assert p == pytest.approx(binomtest(b, b + c).pvalue, abs=1e-12)
    referee = statsmodels_mcnemar([[0, b], [c, 0]], exact=False, correction=False)
    assert not isinstance(asymptotic, NotEstimable)
    assert asymptotic.statistic == pytest.approx(referee.statistic)
    assert asymptotic.p == pytest.approx(referee.pvalue, abs=1e-12)


def test_pinned_asymptotic_mcnemar() -> None:
    for b, c, statistic, p in ((12, 4, 4.0, 0.045500), (6, 16, 4.545455, 0.033006)):
        found = mcnemar_chi_square(b, c)
        assert not isinstance(found, NotEstimable)
        assert (found.statistic, found.p) == (pytest.approx(statistic, abs=1e-6), pytest.approx(p, abs=1e-6))


@pytest.mark.parametrize("value", [0.5, True, 1.0])
def test_a_rounded_difference_is_refused_by_the_exact_test(value: object) -> None:
    with pytest.raises(BadInput):
        sign_flip([value])  # type: ignore[list-item]  # the refusal is what is tested


def test_thousands_of_tasks_are_counted_exactly_and_at_once() -> None:
    # By the pair of binomials: 2,100 steps of one and 1,900 of two.
    totals = [1] * 1_100 + [-1] * 1_000 + [2] * 1_000 + [-2] * 900 + [0] * 2_000
    ones, twos, observed = 2_100, 1_900, 300
    ways = 0
    for plus in range(twos + 1):
        least = max(0, -(-(observed - 2 * (2 * plus - twos) + ones) // 2))
        ways += math.comb(twos, plus) * tail_of(ones)[min(least, ones + 1)]
    assert sign_flip(totals).p == Fraction(2 * ways, 2 ** (ones + twos))


@cache
def tail_of(n: int) -> list[int]:
    row = [math.comb(n, k) for k in range(n + 1)]
    return [*reversed(list(itertools.accumulate(reversed(row)))), 0]


def test_differences_that_span_too_much_are_refused_and_not_left_running() -> None:
    with pytest.raises(BadInput, match="sampled"):
        sign_flip([Fraction(1, 7919), Fraction(1, 7907), 1])


def test_the_sign_test_over_draws_takes_signs_and_drops_ties() -> None:
    assert sign_test([Fraction(1, 3), Fraction(2, 3), 1, Fraction(1, 6), 0, 0]).p == Fraction(1, 8)
    assert sign_test([3, -1, 0]).p == 1
    assert sign_test([]).p == 1


def test_negative_counts_are_refused() -> None:
    with pytest.raises(BadInput):
        mcnemar(-1, 2)
