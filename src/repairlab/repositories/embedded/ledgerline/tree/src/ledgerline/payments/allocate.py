"""Deciding which open items a payment settles."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ledgerline.errors import AllocationError
from ledgerline.money.amount import Money
from ledgerline.payments.open_items import OpenItem, Payment


class Strategy(enum.Enum):
    """In which order open items are settled, once those named in the reference have been."""

    OLDEST_FIRST = "oldest-first"
    SMALLEST_FIRST = "smallest-first"
    LARGEST_FIRST = "largest-first"


@dataclass(frozen=True, slots=True)
class Settlement:
    """What became of a payment.

    Attributes:
        parts: document number and amount, in the order in which they were settled.
        items: all open items afterwards, without those that are paid.
        left_over: what the payment has more than was open.
    """

    parts: tuple[tuple[str, Money], ...]
    items: tuple[OpenItem, ...]
    left_over: Money


def allocate(
    payment: Payment, items: Sequence[OpenItem], strategy: Strategy = Strategy.OLDEST_FIRST
) -> Settlement:
    """Settle open items of the payer with `payment`, as far as it goes.

    Documents named in the reference of the payment come first, then the others by `strategy`. Credit notes
    of the payer are used up before the money, so they add to what can be settled.

    Raises:
        AllocationError: the payment is not positive.
    """
    if payment.amount.minor <= 0:
        raise AllocationError(f"a payment of {payment.amount} settles nothing")
    mine = [item for item in items if item.customer == payment.payer]
    rest = payment.amount
    parts: list[tuple[str, Money]] = []
    for item in _in_order(mine, payment.reference, strategy):
        share = item.remaining if item.remaining.minor < 0 else min(item.remaining, rest)
        if share:
            parts.append((item.number, share))
            rest = rest - share
    return Settlement(tuple(parts), tuple(_apply(items, parts)), rest)


def _in_order(items: Iterable[OpenItem], reference: str, strategy: Strategy) -> list[OpenItem]:
    def rank(item: OpenItem) -> tuple[bool, bool, int, str]:
        is_debt = item.remaining.minor > 0
        named = item.number in reference.replace(",", " ").split()
        key = item.due.toordinal()
        if strategy is Strategy.SMALLEST_FIRST:
            key = item.remaining.minor
        elif strategy is Strategy.LARGEST_FIRST:
            key = -item.remaining.minor
        return (is_debt, not named, key, item.number)

    return sorted(items, key=rank)


def _apply(items: Iterable[OpenItem], parts: Iterable[tuple[str, Money]]) -> list[OpenItem]:
    paid = dict(parts)
    reduced = [item.reduced(paid[item.number]) if item.number in paid else item for item in items]
    return [item for item in reduced if item.remaining]
