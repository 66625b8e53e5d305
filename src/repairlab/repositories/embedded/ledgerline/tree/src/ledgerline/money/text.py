"""Amounts as people write them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ledgerline.errors import ParseError
from ledgerline.money.amount import Money
from ledgerline.money.currency import Currency, by_symbol, lookup

_NUMBER = re.compile(r"^(?P<sign>[-+]?)(?P<whole>\d[\d.,' ]*?)(?:(?P<point>[.,])(?P<part>\d+))?$")


@dataclass(frozen=True, slots=True)
class Style:
    """How numbers are written.

    Attributes:
        point: what stands before the decimals.
        group: what stands between groups of three digits; empty for none.
        brackets: write negative amounts in brackets, as accountants do.
    """

    point: str = "."
    group: str = ""
    brackets: bool = False


PLAIN = Style()
ENGLISH = Style(point=".", group=",")
CONTINENTAL = Style(point=",", group=".")
SWISS = Style(point=".", group="'")


def parse(text: str, currency: Currency | None = None, style: Style = PLAIN) -> Money:
    """Read an amount such as ``-12.50 EUR``, ``€ 12.50`` or, where `currency` is given, ``12.50``.

    Raises:
        ParseError: no number, no currency, or a currency other than `currency`.
    """
    number, named = _separate(text.strip())
    if named is None and currency is None:
        raise ParseError(f"no currency in {text!r}")
    if named is not None and currency is not None and named != currency:
        raise ParseError(f"expected {currency.code}, got {text!r}")
    chosen = named or currency
    assert chosen is not None
    return Money.of(_normalise(number, style), chosen)


def format_money(amount: Money, style: Style = PLAIN, *, code: bool = True) -> str:
    """Write `amount` in a style, with its currency code unless told otherwise."""
    digits = str(abs(amount.decimal()))
    whole, _, part = digits.partition(".")
    if style.group:
        whole = re.sub(r"(?<=\d)(?=(\d{3})+$)", lambda _: style.group, whole)
    number = whole + (style.point + part if part else "")
    if amount.minor < 0:
        number = f"({number})" if style.brackets else f"-{number}"
    return f"{number} {amount.currency.code}" if code else number


def _separate(text: str) -> tuple[str, Currency | None]:
    """Number and currency of `text`; the currency stands before or after the number, as code or symbol."""
    match = re.match(r"^([^\d\s()+-]+)?\s*(\(?[-+]?\d.*?\)?)\s*([^\d\s()]+)?$", text)
    if not match or (match[1] and match[3]):
        raise ParseError(f"not an amount: {text!r}")
    mark = match[1] or match[3]
    if mark is None:
        return match[2], None
    return match[2], lookup(mark) if mark.isalpha() and len(mark) == 3 else by_symbol(mark)


def _normalise(number: str, style: Style) -> str:
    negative = number.startswith("(") and number.endswith(")")
    body = number[1:-1] if negative else number
    if style.group:
        body = body.replace(style.group, "")
    match = _NUMBER.match(body)
    if not match or (match["point"] and match["point"] != style.point):
        raise ParseError(f"not a number in this style: {number!r}")
    if not match["whole"].isdigit():
        raise ParseError(f"not a number in this style: {number!r}")
    sign = "-" if negative != (match["sign"] == "-") else ""
    return sign + match["whole"] + (f".{match['part']}" if match["part"] else "")
