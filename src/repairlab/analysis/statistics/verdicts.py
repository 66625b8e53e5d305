"""From numbers to the registered words. "No difference" is none of them."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Literal

from repairlab.analysis.statistics.multiplicity import checked_p_values
from repairlab.analysis.statistics.values import Interval, NotEstimable
from repairlab.contract.errors import BadInput

EQUIVALENCE_LEVEL = 0.90

Expected = Literal["positive", "none"]


class Verdict(StrEnum):
    """The words of a confirmatory contrast."""

    SUPPORTED = "supported"
    CONTRADICTED = "contradicted"
    DIFFERENT = "different"
    EQUIVALENT = "practically equivalent"
    INCONCLUSIVE = "inconclusive"


def intersection_union(estimates: Sequence[float], p_values: Sequence[float]) -> float:
    """One p for "every difference is positive": the largest, or 1 where an estimate is not positive.

    Level alpha without inner correction (Berger, Technometrics 1982;24:295-300).

    Raises:
        BadInput: no component, or not one p for each estimate.
    """
    checked = checked_p_values(p_values)
    if not checked or len(checked) != len(estimates):
        raise BadInput("an intersection-union test needs one estimate and one p for each component")
    return max(checked) if all(estimate > 0 for estimate in estimates) else 1.0


def equivalent(interval: Interval | NotEstimable, bound: float) -> bool:
    """Two one-sided tests at 5%: the 90% interval lies inside (-bound, bound), ends excluded.

    Raises:
        BadInput: the interval is of another level, or the bound is not positive.
    """
    if bound <= 0:
        raise BadInput(f"an equivalence bound is positive, not {bound}")
    if isinstance(interval, NotEstimable):
        return False
    if abs(interval.level - EQUIVALENCE_LEVEL) > 1e-9:
        raise BadInput(f"equivalence is read from the 90% interval, not from {interval.level:.0%}")
    return -bound < interval.low and interval.high < bound


def verdict(
    adjusted_p: float,
    estimate: float,
    interval90: Interval | NotEstimable,
    *,
    expected: Expected,
    sesoi: float,
    alpha: float,
) -> Verdict:
    """The word of a confirmatory contrast.

    Args:
        adjusted_p: exact p, adjusted by the registered procedure.
        estimate: first arm minus second, as a proportion.
        interval90: the 90% task-clustered score interval.
        expected: "positive" where the first arm was said to be better; "none" where no direction was named,
            so that a rejection is "different", to be shown with the estimate's sign.
        sesoi: smallest effect of interest, as a proportion (0.10 for 10 points).
        alpha: familywise level.
    """
    (p,) = checked_p_values([adjusted_p])
    if p <= alpha and estimate != 0:
        if expected == "none":
            return Verdict.DIFFERENT
        return Verdict.SUPPORTED if estimate > 0 else Verdict.CONTRADICTED
    return Verdict.EQUIVALENT if equivalent(interval90, sesoi) else Verdict.INCONCLUSIVE
