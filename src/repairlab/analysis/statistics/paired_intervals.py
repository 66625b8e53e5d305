"""Intervals of a paired difference of proportions: Tango's score interval and Newcombe's method 10."""

from __future__ import annotations

import math
from collections.abc import Callable

from repairlab.analysis.statistics.values import Interval, NotEstimable, normal_quantile, too_few
from repairlab.analysis.statistics.wilson import wilson
from repairlab.contract.errors import BadInput

_HALVINGS = 60


def tango(b: int, c: int, n: int, level: float = 0.95) -> Interval | NotEstimable:
    """Tango's score interval of p1 - p2 (Stat Med 1998;17:891-908).

    Args:
        b: pairs (1, 0), won by the first arm. b > c gives a positive estimate.
        c: pairs (0, 1).
        n: all pairs.
        level: confidence level.

    Raises:
        BadInput: counts are negative or exceed n.
    """
    if b < 0 or c < 0 or b + c > n:
        raise BadInput(f"{b} and {c} discordant pairs of {n}")
    z = normal_quantile(level)
    if missing := too_few(n):
        return missing

    def outside(theta: float) -> bool:
        # Constrained maximum likelihood estimate of P(0, 1), the larger root of Tango's quadratic.
        linear = -b - c + (2 * n - b + c) * theta
        root = math.sqrt(max(0.0, linear * linear - 8 * n * (-c * theta * (1 - theta))))
        q = (root - linear) / (4 * n)
        variance = n * (2 * q + theta * (1 - theta))
        return (b - c - n * theta) ** 2 > z * z * variance

    return invert((b - c) / n, outside, level)


def invert(estimate: float, outside: Callable[[float], bool], level: float) -> Interval:
    """The ends of the differences in [-1, 1] that a test does not exclude, by bisection from the estimate.

    The estimate itself counts as inside; that matters where its variance is zero.
    """
    return Interval(_end(estimate, -1.0, outside), _end(estimate, 1.0, outside), level)


def _end(inside: float, edge: float, outside: Callable[[float], bool]) -> float:
    if inside == edge:
        return edge
    for _ in range(_HALVINGS):
        middle = (inside + edge) / 2
        if outside(middle):
            edge = middle
        else:
            inside = middle
    return (inside + edge) / 2


def newcombe_paired(
    both: int, first: int, second: int, neither: int, level: float = 0.95
) -> Interval | NotEstimable:
    """Newcombe's method 10 of p1 - p2: hybrid score interval with shrunk phi (Stat Med 1998;17:2635-2650).

    Args:
        both: pairs (1, 1).
        first: pairs (1, 0). More of these than of `second` gives a positive estimate.
        second: pairs (0, 1).
        neither: pairs (0, 0).
        level: confidence level.

    Raises:
        BadInput: a count is negative.
    """
    if min(both, first, second, neither) < 0:
        raise BadInput("counts of pairs are not negative")
    n = both + first + second + neither
    one, two = wilson(both + first, n, level), wilson(both + second, n, level)
    if isinstance(one, NotEstimable) or isinstance(two, NotEstimable) or n == 1:
        return too_few(n) or NotEstimable("no data")
    p1, p2 = (both + first) / n, (both + second) / n
    phi = _shrunk_phi(both, first, second, neither)
    down1, up1, down2, up2 = p1 - one.low, one.high - p1, p2 - two.low, two.high - p2
    low = math.sqrt(max(0.0, down1**2 - 2 * phi * down1 * up2 + up2**2))
    high = math.sqrt(max(0.0, up1**2 - 2 * phi * up1 * down2 + down2**2))
    difference = (first - second) / n
    return Interval(max(-1.0, difference - low), min(1.0, difference + high), level)


def _shrunk_phi(a: int, b: int, c: int, d: int) -> float:
    """Correlation of the pair; a positive numerator is brought n/2 nearer to zero; 0 at an empty margin."""
    margins = (a + b) * (c + d) * (a + c) * (b + d)
    if margins == 0:
        return 0.0
    numerator: float = a * d - b * c
    if numerator > 0:
        numerator = max(0.0, numerator - (a + b + c + d) / 2)
    return numerator / math.sqrt(margins)
