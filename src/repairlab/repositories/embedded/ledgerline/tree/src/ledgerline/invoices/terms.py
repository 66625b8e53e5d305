"""Terms of payment."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal

from ledgerline.errors import ParseError
from ledgerline.money.amount import Money
from ledgerline.periods.calendar import end_of_month

_TEXT = re.compile(
    r"^(?:(?P<percent>\d+(?:\.\d+)?)% (?P<early>\d+) )?net (?P<days>\d+)(?P<eom> eom)?$", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Terms:
    """When an invoice is due, and what paying early saves.

    Attributes:
        days: days from the date of the invoice until it is due.
        end_of_month: count from the end of the month of the invoice instead.
        early_days: days within which the discount may be taken; 0 for none.
        early_percent: that discount, in per cent of the amount payable.
    """

    days: int = 30
    end_of_month: bool = False
    early_days: int = 0
    early_percent: Decimal = Decimal(0)

    def __post_init__(self) -> None:
        if self.days < 0 or self.early_days < 0:
            raise ValueError("days are not negative")
        if not 0 <= self.early_percent <= 100:
            raise ValueError("a discount lies between 0 and 100 per cent")

    @classmethod
    def parse(cls, text: str) -> Terms:
        """Read terms such as ``net 30``, ``net 10 eom`` or ``2% 10 net 30``."""
        match = _TEXT.match(text.strip())
        if not match:
            raise ParseError(f"not terms of payment: {text!r}")
        return cls(
            days=int(match["days"]),
            end_of_month=bool(match["eom"]),
            early_days=int(match["early"] or 0),
            early_percent=Decimal(match["percent"] or 0),
        )

    def due(self, invoiced: date) -> date:
        """The last day of payment for an invoice of that day."""
        start = end_of_month(invoiced) if self.end_of_month else invoiced
        return start + timedelta(days=self.days)

    def early_discount(self, payable: Money, invoiced: date, paid: date) -> Money:
        """What may be kept back by paying on the day `paid`; zero when that is too late."""
        if self.early_days and paid <= invoiced + timedelta(days=self.early_days):
            return payable.percent(self.early_percent)
        return Money.zero(payable.currency)

    def __str__(self) -> str:
        early = f"{self.early_percent}% {self.early_days} " if self.early_days else ""
        return f"{early}net {self.days}{' eom' if self.end_of_month else ''}"
