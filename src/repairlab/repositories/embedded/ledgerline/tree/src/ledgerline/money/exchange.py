"""Exchange rates over time."""

from __future__ import annotations

import bisect
from datetime import date
from decimal import Decimal
from fractions import Fraction

from ledgerline.errors import MissingRate
from ledgerline.money.amount import Money
from ledgerline.money.currency import Currency
from ledgerline.money.rounding import Rounding, round_half


class RateTable:
    """Rates between pairs of currencies. A rate holds from its day until the next one.

    Rates are looked up directly, inverted, or through one common third currency, in this order.
    """

    def __init__(self) -> None:
        self._rates: dict[tuple[str, str], list[tuple[date, Fraction]]] = {}

    def add(self, on: date, base: Currency, quote: Currency, rate: Decimal) -> None:
        """From `on`, one `base` costs `rate` of `quote`. A second rate of the same day replaces the first."""
        if rate <= 0:
            raise ValueError("an exchange rate is positive")
        history = self._rates.setdefault((base.code, quote.code), [])
        days = [day for day, _ in history]
        place = bisect.bisect_left(days, on)
        if place < len(days) and days[place] == on:
            history[place] = (on, Fraction(rate))
        else:
            history.insert(place, (on, Fraction(rate)))

    def rate(self, on: date, base: Currency, quote: Currency) -> Fraction:
        """What one `base` costs in `quote` on that day; raises MissingRate."""
        if base == quote:
            return Fraction(1)
        found = self._direct(on, base.code, quote.code) or self._through(on, base.code, quote.code)
        if found is None:
            raise MissingRate(f"no rate from {base.code} to {quote.code} on {on}")
        return found

    def convert(
        self, amount: Money, currency: Currency, on: date, rounding: Rounding = Rounding.HALF_UP
    ) -> Money:
        """`amount` in another currency at the rate of the day."""
        major = Fraction(amount.minor, amount.currency.factor) * self.rate(on, amount.currency, currency)
        return Money(round_half(major * currency.factor, rounding), currency)

    def _direct(self, on: date, base: str, quote: str) -> Fraction | None:
        found = self._latest(on, base, quote)
        if found is not None:
            return found
        inverse = self._latest(on, quote, base)
        return None if inverse is None else 1 / inverse

    def _through(self, on: date, base: str, quote: str) -> Fraction | None:
        for middle in sorted({code for pair in self._rates for code in pair}):
            first = self._direct(on, base, middle)
            second = self._direct(on, middle, quote)
            if first is not None and second is not None:
                return first * second
        return None

    def _latest(self, on: date, base: str, quote: str) -> Fraction | None:
        history = self._rates.get((base, quote), [])
        place = bisect.bisect_right([day for day, _ in history], on)
        return history[place - 1][1] if place else None
