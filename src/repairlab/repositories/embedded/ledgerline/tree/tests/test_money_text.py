from __future__ import annotations

import pytest

from ledgerline.errors import ParseError, UnknownCurrency
from ledgerline.money import EUR, JPY, USD, Money
from ledgerline.money.text import CONTINENTAL, ENGLISH, PLAIN, SWISS, Style, format_money, parse


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("12.50 EUR", Money(1250, EUR)),
        ("EUR 12.50", Money(1250, EUR)),
        ("-12.50 eur", Money(-1250, EUR)),
        ("€12.50", Money(1250, EUR)),
        ("$ 3", Money(300, USD)),
        ("1500 JPY", Money(1500, JPY)),
    ],
    ids=["after", "before", "negative", "symbol", "symbol-blank", "yen"],
)
def test_parse(text, expected):
    assert parse(text) == expected


@pytest.mark.parametrize(
    ("text", "style"),
    [("1,234.50", ENGLISH), ("1.234,50", CONTINENTAL), ("1'234.50", SWISS), ("1234.50", PLAIN)],
)
def test_parse_in_a_style(text, style):
    assert parse(text, EUR, style) == Money(123450, EUR)


def test_parse_brackets_as_negative():
    assert parse("(12.50)", EUR) == Money(-1250, EUR)


@pytest.mark.parametrize("text", ["", "EUR", "12.50", "1.2.3 EUR", "12,50 EUR", "EUR 12 EUR"])
def test_parse_refuses(text):
    with pytest.raises(ParseError):
        parse(text)


def test_parse_refuses_another_currency():
    with pytest.raises(ParseError, match="expected EUR"):
        parse("12.50 USD", EUR)
    with pytest.raises(UnknownCurrency):
        parse("12.50 XYZ")


@pytest.mark.parametrize(
    ("minor", "style", "expected"),
    [
        (123456789, ENGLISH, "1,234,567.89"),
        (123456789, CONTINENTAL, "1.234.567,89"),
        (-123450, PLAIN, "-1234.50"),
        (-123450, Style(brackets=True), "(1234.50)"),
        (99900, ENGLISH, "999.00"),
    ],
)
def test_format(minor, style, expected):
    assert format_money(Money(minor, EUR), style, code=False) == expected


def test_format_with_code():
    assert format_money(Money(1500, JPY), ENGLISH) == "1,500 JPY"
