"""The registered test: exact two-sided sign-flip over tasks.

Under the null hypothesis the two arms' labels are exchangeable within a task, so each task's difference
keeps or flips its sign with probability 1/2, all runs of the task together. Tasks of equal size make a
binomial, and the sum is the convolution of these few binomials: counted in whole numbers, without rounding,
and in time that grows with the number of tasks, not with its square.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate

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
    beyond, level = _tails([int(step * unit) for step in steps], abs(int(total * unit)))
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


def _tails(steps: Sequence[int], observed: int) -> tuple[int, int]:
    """In how many of the 2^n sign patterns the sum lies farther from zero than `observed`, and as far."""
    if sum(steps) > _LARGEST_SPAN:
        raise BadInput("these differences span too many values for an exact test; use sampled flips")
    ranked = sorted(Counter(steps).items(), key=lambda item: (item[1], item[0]))
    *others, (size, times) = ranked
    sums = {0: 1}
    for step, count in others:
        sums = _spread(sums, step, count)
    # The most frequent size enters last, by its cumulated binomial: `reach[j]` patterns have j plus signs or
    # more.
    chosen = _binomials(times)
    reach = [*reversed(list(accumulate(reversed(chosen)))), 0]
    beyond = level = 0
    for place, ways in sums.items():
        # The sum is place + size (2 j - times); j is the least number of positive signs that takes it there.
        needed, odd = divmod(observed - place + size * times, 2 * size)
        exact = odd == 0 and 0 <= needed <= times
        level += ways * chosen[needed] if exact else 0
        beyond += ways * reach[min(max(needed + 1, 0), times + 1)]
    # The distribution is symmetric; at zero the middle is one place, not two.
    return (2 * beyond, 2 * level) if observed else (2 * beyond, level)


def _spread(sums: dict[int, int], step: int, count: int) -> dict[int, int]:
    grown: dict[int, int] = {}
    for positive, chosen in enumerate(_binomials(count)):
        move = step * (2 * positive - count)
        for place, ways in sums.items():
            grown[place + move] = grown.get(place + move, 0) + ways * chosen
    return grown


def _binomials(count: int) -> list[int]:
    row = [1]
    for k in range(count):
        row.append(row[-1] * (count - k) // (k + 1))
    return row
