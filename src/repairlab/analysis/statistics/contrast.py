"""One paired contrast of two arms, with everything that its line of a table holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from repairlab.analysis.statistics.clustered_score import clustered_score
from repairlab.analysis.statistics.signflip import SignFlip, sign_flip
from repairlab.analysis.statistics.values import Interval, NotEstimable


@dataclass(frozen=True, slots=True)
class Contrast:
    """A difference of two arms over tasks.

    Attributes:
        tasks: number of tasks.
        pairs: pairs in each task: models times draws.
        estimate: mean over tasks and pairs of the paired difference, as an exact proportion.
        test: the exact sign-flip test over tasks.
        better: tasks by the size of a positive difference: `better[k]` tasks have k more solved pairs.
        worse: the same for negative differences.
        interval90, interval95, interval99: task-clustered score intervals; 99% is Bonferroni's over five.
    """

    tasks: int
    pairs: int
    estimate: Fraction
    test: SignFlip
    better: dict[int, int]
    worse: dict[int, int]
    interval90: Interval | NotEstimable
    interval95: Interval | NotEstimable
    interval99: Interval | NotEstimable

    @property
    def note(self) -> str:
        """What a table says where no task tells the arms apart; empty otherwise."""
        return "" if self.test.informative else f"no discordant task, n = {self.tasks}"


def contrast(totals: Sequence[int], pairs: int) -> Contrast | NotEstimable:
    """The contrast whose task totals are given.

    Args:
        totals: for each task the sum over its pairs of first arm minus second, -pairs to pairs.
        pairs: pairs in each task: models times draws.

    Raises:
        BadInput: no pairs, or a total outside the range.
    """
    if not totals:
        return NotEstimable("no data")
    ninety, ninety_five, ninety_nine = (clustered_score(totals, pairs, level) for level in (0.90, 0.95, 0.99))
    return Contrast(
        tasks=len(totals),
        pairs=pairs,
        estimate=Fraction(sum(totals), pairs * len(totals)),
        test=sign_flip(totals),
        better={size: totals.count(size) for size in range(1, pairs + 1)},
        worse={size: totals.count(-size) for size in range(1, pairs + 1)},
        interval90=ninety,
        interval95=ninety_five,
        interval99=ninety_nine,
    )
