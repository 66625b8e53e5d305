from __future__ import annotations

from decimal import Decimal

import pytest

from ledgerline.errors import CurrencyMismatch, ParseError
from ledgerline.money import EUR, JPY, KWD, USD, Money, total


@pytest.mark.parametrize(
    ("text", "currency", "minor"),
    [
        ("12.30", EUR, 1230),
        ("12.3", EUR, 1230),
        ("-0.01", EUR, -1),
        ("1500", JPY, 1500),
        ("1.234", KWD, 1234),
    ],
)
def test_of_reads_major_units(text, currency, minor):
    assert Money.of(text, currency) == Money(minor, currency)


@pytest.mark.parametrize(
    ("text", "currency"), [("0.001", EUR), ("0.5", JPY), ("twelve", EUR), ("NaN", EUR), ("", EUR)]
)
def test_of_refuses_what_is_no_amount(text, currency):
    with pytest.raises(ParseError):
        Money.of(text, currency)


def test_arithmetic(eur):
    assert eur("1.10") + eur("2.20") == eur("3.30")
    assert eur("1.10") - eur("2.20") == eur("-1.10")
    assert -eur("1.10") == eur("-1.10")
    assert abs(eur("-1.10")) == eur("1.10")


def test_currencies_do_not_mix():
    with pytest.raises(CurrencyMismatch, match="EUR with USD"):
        Money(1, EUR) + Money(1, USD)
    with pytest.raises(CurrencyMismatch):
        _ = Money(1, EUR) < Money(1, USD)
    assert Money(1, EUR) != Money(1, USD)


def test_comparison(eur):
    assert eur("1") < eur("2") <= eur("2")
    assert eur("2") > eur("1") >= eur("1")


def test_truth(eur):
    assert eur("0.01")
    assert not eur("0.00")


def test_minor_units_are_whole():
    with pytest.raises(TypeError):
        Money(1.5, EUR)


@pytest.mark.parametrize(("factor", "expected"), [("0.5", "0.03"), ("-0.5", "-0.03"), ("3", "0.15")])
def test_times_rounds_half_up(eur, factor, expected):
    assert eur("0.05").times(Decimal(factor)) == eur(expected)


def test_percent(eur):
    assert eur("99.99").percent(20) == eur("20.00")


@pytest.mark.parametrize(
    ("minor", "currency", "text"), [(-5, EUR, "-0.05 EUR"), (1500, JPY, "1500 JPY"), (1, KWD, "0.001 KWD")]
)
def test_str(minor, currency, text):
    assert str(Money(minor, currency)) == text


def test_total(eur):
    assert total([eur("1"), eur("2"), eur("-0.50")], EUR) == eur("2.50")
    assert total([], JPY) == Money(0, JPY)
