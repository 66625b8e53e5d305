"""Amounts of money."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from ledgerline.errors import CurrencyMismatch, ParseError
from ledgerline.money.currency import Currency
from ledgerline.money.rounding import Exact, Rounding, exact, round_half


@dataclass(frozen=True, slots=True)
class Money:
    """An exact amount: whole minor units of one currency.

    Amounts of one currency can be added, subtracted, negated and compared. Mixing currencies raises
    :class:`~ledgerline.errors.CurrencyMismatch`; only comparing for equality never does.
    """

    minor: int
    currency: Currency

    def __post_init__(self) -> None:
        if isinstance(self.minor, bool) or not isinstance(self.minor, int):
            raise TypeError(f"minor units are whole numbers, not {self.minor!r}")

    @classmethod
    def of(cls, text: str | int | Decimal, currency: Currency) -> Money:
        """The amount written as a decimal number of major units.

        Raises:
            ParseError: more decimals than the currency has, or no number at all.
        """
        try:
            value = Decimal(text)
        except ArithmeticError:
            raise ParseError(f"not a number: {text!r}") from None
        if not value.is_finite():
            raise ParseError(f"not an amount: {text!r}")
        minor = Fraction(value) * currency.factor
        if minor.denominator != 1:
            raise ParseError(f"{currency.code} has {currency.exponent} decimals, got {text!r}")
        return cls(int(minor), currency)

    @classmethod
    def zero(cls, currency: Currency) -> Money:
        """Nothing, in a currency."""
        return cls(0, currency)

    def __add__(self, other: Money) -> Money:
        return Money(self.minor + self._same(other), self.currency)

    def __sub__(self, other: Money) -> Money:
        return Money(self.minor - self._same(other), self.currency)

    def __neg__(self) -> Money:
        return Money(-self.minor, self.currency)

    def __abs__(self) -> Money:
        return Money(abs(self.minor), self.currency)

    def __bool__(self) -> bool:
        return self.minor != 0

    def __lt__(self, other: Money) -> bool:
        return self.minor < self._same(other)

    def __le__(self, other: Money) -> bool:
        return self.minor <= self._same(other)

    def __gt__(self, other: Money) -> bool:
        return self.minor > self._same(other)

    def __ge__(self, other: Money) -> bool:
        return self.minor >= self._same(other)

    def times(self, factor: Exact, rounding: Rounding = Rounding.HALF_UP) -> Money:
        """This amount times an exact factor, rounded to whole minor units."""
        return Money(round_half(self.minor * exact(factor), rounding), self.currency)

    def percent(self, percent: Exact, rounding: Rounding = Rounding.HALF_UP) -> Money:
        """So many per cent of this amount, rounded to whole minor units."""
        return self.times(exact(percent) / 100, rounding)

    def decimal(self) -> Decimal:
        """Major units with exactly as many decimals as the currency has."""
        return Decimal(self.minor).scaleb(-self.currency.exponent)

    def __str__(self) -> str:
        return f"{self.decimal()} {self.currency.code}"

    def _same(self, other: Money) -> int:
        if other.currency != self.currency:
            raise CurrencyMismatch(self.currency.code, other.currency.code)
        return other.minor


def total(amounts: Iterable[Money], currency: Currency) -> Money:
    """The sum of `amounts`, all of which must be in `currency`; zero when there are none."""
    result = Money.zero(currency)
    for amount in amounts:
        result = result + amount
    return result
