from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest

from ledgerline.errors import ParseError
from ledgerline.invoices import Terms


@pytest.mark.parametrize("text", ["net 30", "net 10 eom", "2% 10 net 30", "2.5% 7 net 14"])
def test_parse_and_write(text):
    assert str(Terms.parse(text)) == text


@pytest.mark.parametrize("text", ["", "30", "net", "2% net 30", "net -1"])
def test_parse_refuses(text):
    with pytest.raises(ParseError):
        Terms.parse(text)


def test_due():
    assert Terms(30).due(date(2024, 1, 31)) == date(2024, 3, 1)
    assert Terms(10, end_of_month=True).due(date(2024, 2, 3)) == date(2024, 3, 10)


def test_early_discount(eur):
    terms = Terms.parse("2% 10 net 30")
    assert terms.early_discount(eur("150"), date(2024, 1, 1), date(2024, 1, 11)) == eur("3")
    assert terms.early_discount(eur("150"), date(2024, 1, 1), date(2024, 1, 12)) == eur("0")


def test_no_early_discount_without_days(eur):
    assert Terms(30).early_discount(eur("150"), date(2024, 1, 1), date(2024, 1, 1)) == eur("0")


def test_malformed_terms():
    with pytest.raises(ValueError, match="not negative"):
        Terms(-1)
    with pytest.raises(ValueError, match="between 0 and 100"):
        Terms(30, early_days=10, early_percent=Decimal(101))
