"""Sharing an amount out without losing a cent.

Dividing 100.00 by three gives three times 33.33 and a cent over. Booked as it is, that cent would turn up
months later as a difference that nobody can explain. The functions here hand every left-over unit to one of
the shares, by the method of largest remainders.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from ledgerline.errors import AllocationError
from ledgerline.money.amount import Money
from ledgerline.money.rounding import Exact, exact


def allocate(amount: Money, weights: Sequence[Exact]) -> list[Money]:
    """Share `amount` out in proportion to `weights`.

    What the division leaves over goes, one minor unit each, to the shares that lost most by it; among
    equals the earlier share comes first.

    Returns:
        One share for each weight, in the order of the weights.

    Raises:
        AllocationError: there are no weights, one is negative, or all are zero.
    """
    parts = _checked(weights)
    whole = sum(parts)
    shares = [amount.minor * part / whole for part in parts]
    units = [int(share) for share in shares]
    left_over = amount.minor - sum(units)
    by_loss = sorted(range(len(units)), key=lambda i: shares[i] - units[i], reverse=True)
    for index in by_loss[:left_over]:
        units[index] += 1
    return [Money(unit, amount.currency) for unit in units]


def split(amount: Money, parts: int) -> list[Money]:
    """Share `amount` out into `parts` shares that differ by one minor unit at most.

    Raises:
        AllocationError: `parts` is not positive.
    """
    if parts <= 0:
        raise AllocationError(f"cannot split an amount into {parts} parts")
    return allocate(amount, [1] * parts)


def _checked(weights: Sequence[Exact]) -> list[Fraction]:
    parts = [exact(weight) for weight in weights]
    if not parts:
        raise AllocationError("there is nothing to share the amount out to")
    if any(part < 0 for part in parts):
        raise AllocationError("a weight is negative")
    if not any(parts):
        raise AllocationError("all weights are zero")
    return parts
