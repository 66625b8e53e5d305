"""How far missing pairs could move a contrast, for outputs that are marked incomplete."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from repairlab.analysis.statistics.signflip import sign_flip
from repairlab.contract.errors import BadInput


class PartialTask(NamedTuple):
    """A task's known paired differences, summed, and how many of its pairs are missing."""

    total: int
    missing: int


@dataclass(frozen=True, slots=True)
class WorstCase:
    """What the missing pairs allow.

    Attributes:
        missing: missing pairs.
        planned: pairs that the plan has.
        low, high: the difference over all planned pairs, each missing one against, or for, the first arm.
        p: exact p with every missing pair against the observed direction; 1 if that takes the direction away.
    """

    missing: int
    planned: int
    low: Fraction
    high: Fraction
    p: Fraction


def worst_case(tasks: Sequence[PartialTask], pairs: int) -> WorstCase:
    """Bounds over all planned tasks, of which some lack pairs. A pair with one known cell is missing.

    Args:
        tasks: every planned task, also those with nothing known.
        pairs: planned pairs in each task.

    Raises:
        BadInput: no task, or a task whose known and missing pairs do not fit the plan.
    """
    if not tasks or any(not 0 <= t.missing <= pairs or abs(t.total) > pairs - t.missing for t in tasks):
        raise BadInput(f"each task has {pairs} pairs, known or missing")
    planned = pairs * len(tasks)
    missing = sum(task.missing for task in tasks)
    known = sum(task.total for task in tasks)
    against = -1 if known > 0 else 1
    imputed = [task.total + against * task.missing for task in tasks]
    turned = known == 0 or sum(imputed) * known <= 0
    return WorstCase(
        missing=missing,
        planned=planned,
        low=Fraction(known - missing, planned),
        high=Fraction(known + missing, planned),
        p=Fraction(1) if turned else sign_flip(imputed).p,
    )
