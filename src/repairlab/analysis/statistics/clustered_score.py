"""The primary interval: a score interval of the mean task difference, whole tasks being the unit.

A task's difference takes values i/m with -m <= i <= m, m being the pairs in a task (models times draws).
For a hypothesised mean the multinomial over these values is fitted by maximum likelihood under that mean, and
the interval holds the means that the score statistic does not exclude. At m = 1 it is Tango's interval; with
no discordant task it ends at -+z^2 / (n + z^2) instead of collapsing, as bootstrap and t intervals do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from repairlab.analysis.statistics.paired_intervals import invert
from repairlab.analysis.statistics.values import Interval, NotEstimable, normal_quantile, too_few
from repairlab.contract.errors import BadInput

_HALVINGS = 60


def clustered_score(totals: Sequence[int], pairs: int, level: float = 0.95) -> Interval | NotEstimable:
    """Score interval of mean(totals) / pairs.

    Args:
        totals: for each task the sum over its pairs of the paired difference, from -pairs to pairs.
        pairs: pairs in each task: models times draws.
        level: confidence level.

    Raises:
        BadInput: no pairs, or a total outside the range.
    """
    if pairs < 1 or any(abs(total) > pairs for total in totals):
        raise BadInput(f"a task of {pairs} pairs has totals from -{pairs} to {pairs}")
    z = normal_quantile(level)
    n = len(totals)
    if missing := too_few(n):
        return missing
    masses = [(total / pairs, tasks) for total, tasks in sorted(Counter(totals).items())]
    mean = sum(totals) / (pairs * n)

    def outside(theta: float) -> bool:
        return (mean - theta) ** 2 * n > z * z * constrained_variance(masses, n, theta)

    return invert(mean, outside, level)


def constrained_variance(masses: Sequence[tuple[float, int]], n: int, theta: float) -> float:
    """Variance of a task difference under the multinomial that fits best among those with mean `theta`.

    With a Lagrange multiplier L for the mean, an observed value v has mass tasks / (n (1 + L (v - theta))).
    Values never observed have mass only where the multiplier stands at the edge of its range, and then only
    the extreme value of the support, 1 or -1, on the side of `theta`.

    Args:
        masses: observed values in [-1, 1] with the number of tasks at each.
        n: all tasks.
        theta: hypothesised mean, strictly between -1 and 1.
    """
    multiplier = _multiplier(masses, theta)
    variance = held = 0.0
    for value, tasks in masses:
        mass = tasks / (n * (1 + multiplier * (value - theta)))
        held += mass
        variance += mass * (value - theta) ** 2
    edge = 1.0 if multiplier < 0 else -1.0
    return variance + max(0.0, 1 - held) * (edge - theta) ** 2


def _multiplier(masses: Sequence[tuple[float, int]], theta: float) -> float:
    """Root of the constraint, which falls in the multiplier; an edge of the range where it has none.

    By halving: near a pole of the constraint, which lies at the edge of the range where the extreme value was
    observed, a faster method takes a tiny step for the end of its search.
    """
    low, high = -1 / (1 - theta), 1 / (1 + theta)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        constraint = 0.0
        for value, tasks in masses:
            constraint += tasks * (value - theta) / (1 + middle * (value - theta))
        if constraint > 0:
            low = middle
        else:
            high = middle
    return (low + high) / 2
