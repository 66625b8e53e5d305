"""McNemar's test of paired binary outcomes: `b` pairs won by the first arm alone, `c` by the second."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from repairlab.analysis.statistics.chisquare import chi_square_tail
from repairlab.analysis.statistics.values import NotEstimable
from repairlab.contract.errors import BadInput


class McNemar(NamedTuple):
    """Exact two-sided p and its mid-p, as fractions; both 1 without a discordant pair, by convention."""

    b: int
    c: int
    p: Fraction
    mid_p: Fraction


class ChiSquare(NamedTuple):
    """A chi-square statistic, its degrees of freedom, and its upper tail."""

    statistic: float
    df: int
    p: float


def mcnemar(b: int, c: int) -> McNemar:
    """Exact McNemar: the two-sided binomial test of `b` against `c` with probability 1/2.

    Raises:
        BadInput: a count is negative.
    """
    n = _discordant(b, c)
    if n == 0:
        return McNemar(b, c, Fraction(1), Fraction(1))
    fewer = min(b, c)
    tail = sum(math.comb(n, k) for k in range(fewer + 1))
    p = min(Fraction(1), Fraction(2 * tail, 2**n))
    # At b = c both tails hold the middle term, so the capped p has to be halved by what it really holds.
    at = Fraction(math.comb(n, fewer), 2**n)
    mid = Fraction(2 * tail, 2**n) - at if b != c else 1 - at / 2
    return McNemar(b, c, p, mid)


def sign_test(differences: Sequence[int | Fraction]) -> McNemar:
    """Exact two-sided sign test over tasks with several draws: only the sign of a difference counts.

    Args:
        differences: for each task the first arm's mean over draws and models minus the second's, or any
            positive multiple of it. Ties are dropped.
    """
    return mcnemar(sum(value > 0 for value in differences), sum(value < 0 for value in differences))


def mcnemar_chi_square(b: int, c: int) -> ChiSquare | NotEstimable:
    """The asymptotic McNemar test without continuity correction: (b - c)^2 / (b + c), one degree of freedom.

    It equals the Cochran-Mantel-Haenszel statistic with every pair a stratum.

    Raises:
        BadInput: a count is negative.
    """
    n = _discordant(b, c)
    if n == 0:
        return NotEstimable("no discordant pair")
    statistic = (b - c) ** 2 / n
    return ChiSquare(statistic, 1, chi_square_tail(statistic, 1))


def _discordant(b: int, c: int) -> int:
    if b < 0 or c < 0:
        raise BadInput(f"counts of discordant pairs are not negative: {b}, {c}")
    return b + c
