"""What a statistic can be: a number, an interval, or the reason why there is none. Never NaN."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import NamedTuple

from repairlab.contract.errors import BadInput


class Interval(NamedTuple):
    """A two-sided interval and its confidence level, such as 0.95."""

    low: float
    high: float
    level: float


@dataclass(frozen=True, slots=True)
class NotEstimable:
    """There is no such number in these data. A value that tables print, never an error and never zero."""

    reason: str

    def __str__(self) -> str:
        return self.reason


class Effect(NamedTuple):
    """A fitted contrast of two arms and its standard error, on the scale of its model."""

    estimate: float
    error: float


def normal_quantile(level: float) -> float:
    """The two-sided standard normal quantile of a confidence level: 1.959964 at 0.95.

    Raises:
        BadInput: the level does not lie strictly between 0 and 1.
    """
    if not 0 < level < 1:
        raise BadInput(f"a confidence level lies between 0 and 1, not at {level}")
    return NormalDist().inv_cdf((1 + level) / 2)


def too_few(count: int, unit: str = "task") -> NotEstimable | None:
    """Why `count` independent units carry no interval, or None where they do.

    One task shows nothing of how tasks differ, whatever the number of its runs.
    """
    if count == 0:
        return NotEstimable("no data")
    return NotEstimable(f"not estimable (1 {unit})") if count == 1 else None
