"""Tax rates and the time for which they hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from ledgerline.errors import MissingRate


@dataclass(frozen=True, slots=True)
class TaxRate:
    """One rate of a tax.

    Attributes:
        code: what lines and entries refer to, such as ``S`` for the standard rate.
        percent: per cent of the net amount.
        account: where the tax is booked.
        valid_from: the first day, or None for "always was".
        valid_to: the last day, or None for "until further notice".
    """

    code: str
    percent: Decimal
    account: str
    valid_from: date | None = None
    valid_to: date | None = None

    def __post_init__(self) -> None:
        if self.percent < 0:
            raise ValueError("a tax rate is not negative")
        if self.valid_from and self.valid_to and self.valid_to < self.valid_from:
            raise ValueError(f"rate {self.code} ends before it starts")

    def holds(self, on: date) -> bool:
        """True where the rate is in force on that day."""
        return (self.valid_from is None or self.valid_from <= on) and (
            self.valid_to is None or on <= self.valid_to
        )

    def overlaps(self, other: TaxRate) -> bool:
        """True where both rates have the same code and share a day."""
        if self.code != other.code:
            return False
        earliest, latest = date.min, date.max
        return (self.valid_from or earliest) <= (other.valid_to or latest) and (
            other.valid_from or earliest
        ) <= (self.valid_to or latest)


class TaxTable:
    """Rates by code and day. At most one rate of a code holds on any day."""

    def __init__(self, rates: Iterable[TaxRate] = ()) -> None:
        self._rates: list[TaxRate] = []
        for rate in rates:
            self.add(rate)

    def add(self, rate: TaxRate) -> None:
        """Take `rate` in; raises ValueError where it overlaps with one of the same code."""
        for other in self._rates:
            if rate.overlaps(other):
                raise ValueError(f"two rates {rate.code} hold on the same day")
        self._rates.append(rate)

    def rate(self, code: str, on: date) -> TaxRate:
        """The rate that holds on that day; raises MissingRate."""
        for rate in self._rates:
            if rate.code == code and rate.holds(on):
                return rate
        raise MissingRate(f"no tax rate {code!r} on {on}")

    def codes(self) -> list[str]:
        """All codes, sorted, each once."""
        return sorted({rate.code for rate in self._rates})

    def __iter__(self) -> Iterator[TaxRate]:
        return iter(sorted(self._rates, key=lambda rate: (rate.code, rate.valid_from or date.min)))
