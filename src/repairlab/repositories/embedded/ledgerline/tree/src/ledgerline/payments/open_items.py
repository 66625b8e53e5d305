"""Open items: what customers still owe, and since when."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from itertools import pairwise

from ledgerline.invoices.invoice import Invoice
from ledgerline.money.amount import Money, total
from ledgerline.money.currency import Currency
from ledgerline.tax.rates import TaxTable


@dataclass(frozen=True, slots=True)
class Payment:
    """Money that came in.

    Attributes:
        reference: what the payer wrote; often the number of an invoice.
    """

    date: date
    amount: Money
    payer: str
    reference: str = ""


@dataclass(frozen=True, slots=True)
class OpenItem:
    """What is left to pay of one document; negative for a credit note that has not been used yet."""

    number: str
    customer: str
    due: date
    remaining: Money

    def reduced(self, by: Money) -> OpenItem:
        """The item after `by` has been paid; raises ValueError where that is too much."""
        rest = self.remaining - by
        if rest.minor * self.remaining.minor < 0 or abs(rest) > abs(self.remaining):
            raise ValueError(f"{by} is more than is open on {self.number}")
        return dataclasses.replace(self, remaining=rest)

    def days_overdue(self, on: date) -> int:
        """Days since the item was due; 0 while it is not overdue."""
        return max((on - self.due).days, 0)


def open_items(invoices: Iterable[Invoice], table: TaxTable) -> list[OpenItem]:
    """One open item for each invoice, in the order in which they are due."""
    items = [
        OpenItem(invoice.number, invoice.customer, invoice.due, invoice.total(table)) for invoice in invoices
    ]
    return sorted(items, key=lambda item: (item.due, item.number))


BUCKETS = (0, 30, 60, 90)


def ageing(items: Iterable[OpenItem], on: date, currency: Currency) -> dict[str, Money]:
    """What is open, by age: not due, up to 30, 60 and 90 days overdue, and older.

    Returns:
        Amounts by the labels ``not due``, ``1-30``, ``31-60``, ``61-90`` and ``over 90``.
    """
    labels = ["not due"]
    labels += [f"{low + 1}-{high}" for low, high in pairwise(BUCKETS)]
    labels.append(f"over {BUCKETS[-1]}")
    found: dict[str, list[Money]] = {label: [] for label in labels}
    for item in items:
        late = item.days_overdue(on)
        index = sum(late > limit for limit in BUCKETS)
        found[labels[index]].append(item.remaining)
    return {label: total(amounts, currency) for label, amounts in found.items()}
