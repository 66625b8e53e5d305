"""The registered test: exact two-sided sign-flip over tasks.

Under the null hypothesis the two arms' labels are exchangeable within a task, so each task's difference
keeps or flips its sign with probability 1/2, all runs of the task together. The distribution of the sum is
a convolution of two-point distributions, counted here in whole numbers, without rounding.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from repairlab.contract.errors import BadInput

_LARGEST_SPAN = 1_000_000


@dataclass(frozen=True, slots=True)
class SignFlip:
    """The result of an exact sign-flip test. `p`, `mid_p` and `least_p` are exact fractions.

    Attributes:
        total: sum of the differences over tasks.
        informative: tasks whose difference is not zero; only these enter the test.
        zeros: tasks whose difference is zero. They are counted and shown, and change no p.
        p: P(|S*| >= |S|); 1 without an informative task.
        mid_p: P(|S*| > |S|) + P(|S*| = |S|) / 2; 1 without an informative task, by convention.
        least_p: the smallest p that this number of informative tasks can give.
    """

    total: Fraction
    informative: int
    zeros: int
    p: Fraction
    mid_p: Fraction
    least_p: Fraction


def sign_flip(differences: Sequence[int | Fraction]) -> SignFlip:
    """Test whether task differences are centred at zero.

    Args:
        differences: one number a task. With two models and one run it is the sum over the models of the
            paired difference, -2 to 2; with several draws any fraction. The unit does not matter.

    Raises:
        BadInput: a difference is neither int nor Fraction, or their spread is too large to count.
    """
    values = [_exact(value) for value in differences]
    steps = [abs(value) for value in values if value]
    total = sum(values, Fraction(0))
    zeros = len(values) - len(steps)
    if not steps:
        return SignFlip(total, 0, zeros, Fraction(1), Fraction(1), Fraction(1))
    unit = math.lcm(*(step.denominator for step in steps))
    counts = _sums([int(step * unit) for step in steps])
    observed = abs(int(total * unit))
    beyond = sum(ways for place, ways in counts.items() if abs(place) > observed)
    level = sum(ways for place, ways in counts.items() if abs(place) == observed)
    ways = 1 << len(steps)
    return SignFlip(
        total=total,
        informative=len(steps),
        zeros=zeros,
        p=Fraction(beyond + level, ways),
        mid_p=Fraction(2 * beyond + level, 2 * ways),
        least_p=Fraction(2, ways),
    )


def _exact(value: int | Fraction) -> Fraction:
    # A float is refused: rounded thirds would break the ties that decide the p.
    if isinstance(value, bool) or not isinstance(value, (int, Fraction)):
        raise BadInput(f"an exact test needs whole numbers or fractions, not {value!r}")
    return Fraction(value)


def _sums(steps: Sequence[int]) -> dict[int, int]:
    """In how many of the 2^n sign patterns each sum occurs."""
    if sum(steps) > _LARGEST_SPAN:
        raise BadInput("these differences span too many values for an exact test; use sampled flips")
    counts = {0: 1}
    for step in sorted(steps):
        grown: dict[int, int] = {}
        for place, ways in counts.items():
            grown[place + step] = grown.get(place + step, 0) + ways
            grown[place - step] = grown.get(place - step, 0) + ways
        counts = grown
    return counts
