from __future__ import annotations

from datetime import date
from decimal import Decimal
from fractions import Fraction

import pytest

from ledgerline.errors import MissingRate
from ledgerline.money import CHF, EUR, JPY, USD, Money, RateTable


@pytest.fixture
def rates():
    table = RateTable()
    table.add(date(2024, 1, 1), EUR, USD, Decimal("1.10"))
    table.add(date(2024, 2, 1), EUR, USD, Decimal("1.08"))
    table.add(date(2024, 1, 1), EUR, JPY, Decimal("160"))
    return table


@pytest.mark.parametrize(
    ("day", "expected"),
    [
        (date(2024, 1, 1), "1.10"),
        (date(2024, 1, 31), "1.10"),
        (date(2024, 2, 1), "1.08"),
        (date(2025, 1, 1), "1.08"),
    ],
)
def test_a_rate_holds_until_the_next(rates, day, expected):
    assert rates.rate(day, EUR, USD) == Fraction(Decimal(expected))


def test_inverse(rates):
    assert rates.rate(date(2024, 1, 5), USD, EUR) == Fraction(10, 11)


def test_through_a_third_currency(rates):
    assert rates.convert(Money.of("11.00", USD), JPY, date(2024, 1, 5)) == Money(1600, JPY)


def test_same_currency_needs_no_rate(rates):
    assert rates.rate(date(1999, 1, 1), CHF, CHF) == 1


def test_no_rate(rates):
    with pytest.raises(MissingRate, match="CHF to EUR"):
        rates.rate(date(2024, 1, 1), CHF, EUR)
    with pytest.raises(MissingRate):
        rates.rate(date(2023, 12, 31), EUR, USD)


def test_the_later_rate_of_a_day_wins(rates):
    rates.add(date(2024, 1, 1), EUR, USD, Decimal("1.11"))
    assert rates.rate(date(2024, 1, 1), EUR, USD) == Fraction(111, 100)


def test_a_rate_is_positive(rates):
    with pytest.raises(ValueError, match="positive"):
        rates.add(date(2024, 1, 1), EUR, USD, Decimal(0))
