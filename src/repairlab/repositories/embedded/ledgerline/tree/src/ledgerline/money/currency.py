"""Currencies and their minor units."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ledgerline.errors import UnknownCurrency


@dataclass(frozen=True, slots=True)
class Currency:
    """A currency.

    Attributes:
        code: three capital letters.
        exponent: how many decimals an amount has; 0 for the yen, 3 for the dinar of Kuwait.
        symbol: what people write before or after an amount, or an empty text.
    """

    code: str
    exponent: int
    name: str
    symbol: str = ""

    def __post_init__(self) -> None:
        if len(self.code) != 3 or not self.code.isalpha() or not self.code.isupper():
            raise ValueError(f"a currency code has three capital letters, not {self.code!r}")
        if self.exponent < 0:
            raise ValueError("a currency has no negative number of decimals")

    @property
    def factor(self) -> int:
        """Minor units in one major unit."""
        return int(10**self.exponent)

    def __str__(self) -> str:
        return self.code


CHF = Currency("CHF", 2, "Swiss franc", "Fr.")
EUR = Currency("EUR", 2, "Euro", "€")
GBP = Currency("GBP", 2, "Pound sterling", "£")
JPY = Currency("JPY", 0, "Japanese yen", "¥")
KWD = Currency("KWD", 3, "Kuwaiti dinar")
SEK = Currency("SEK", 2, "Swedish krona", "kr")
USD = Currency("USD", 2, "US dollar", "$")

CURRENCIES: Mapping[str, Currency] = MappingProxyType(
    {currency.code: currency for currency in (CHF, EUR, GBP, JPY, KWD, SEK, USD)}
)


def lookup(code: str) -> Currency:
    """The currency with this code, in any case; raises UnknownCurrency."""
    try:
        return CURRENCIES[code.strip().upper()]
    except KeyError:
        raise UnknownCurrency(f"unknown currency {code!r}") from None


def by_symbol(symbol: str) -> Currency:
    """The currency that is written with this symbol; raises UnknownCurrency."""
    for currency in CURRENCIES.values():
        if symbol and currency.symbol == symbol:
            return currency
    raise UnknownCurrency(f"unknown currency symbol {symbol!r}")
