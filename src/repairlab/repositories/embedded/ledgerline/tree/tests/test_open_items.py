from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest

from ledgerline.invoices import Invoice, LineItem, Terms
from ledgerline.money import EUR
from ledgerline.payments import OpenItem, ageing, open_items


@pytest.fixture
def item(eur):
    return OpenItem("INV-1", "Acme", date(2024, 1, 31), eur("100"))


def test_open_items_come_by_due_date(taxes, eur):
    line = LineItem("Chair", Decimal(1), eur("10.00"), tax_code="S")
    invoices = [
        Invoice("INV-1", "Acme", date(2024, 1, 1), (line,), terms=Terms(60)),
        Invoice("INV-2", "Acme", date(2024, 1, 5), (line,), terms=Terms(10)),
    ]
    items = open_items(invoices, taxes)
    assert [(i.number, i.remaining) for i in items] == [("INV-2", eur("12.00")), ("INV-1", eur("12.00"))]


def test_reduced(item, eur):
    assert item.reduced(eur("40")).remaining == eur("60")
    assert item.reduced(eur("100")).remaining == eur("0")


@pytest.mark.parametrize("amount", ["100.01", "-1"])
def test_reduced_by_too_much(item, eur, amount):
    with pytest.raises(ValueError, match="more than is open"):
        item.reduced(eur(amount))


def test_days_overdue(item):
    assert item.days_overdue(date(2024, 1, 31)) == 0
    assert item.days_overdue(date(2024, 2, 1)) == 1


@pytest.mark.parametrize(
    ("day", "label"),
    [
        (date(2024, 1, 31), "not due"),
        (date(2024, 2, 1), "1-30"),
        (date(2024, 3, 1), "1-30"),
        (date(2024, 3, 2), "31-60"),
        (date(2024, 4, 30), "61-90"),
        (date(2024, 5, 1), "over 90"),
    ],
)
def test_ageing(item, day, label, eur):
    assert {key for key, amount in ageing([item], day, EUR).items() if amount} == {label}


def test_ageing_adds_up(item, eur):
    buckets = ageing([item, item], date(2024, 2, 10), EUR)
    assert list(buckets) == ["not due", "1-30", "31-60", "61-90", "over 90"]
    assert buckets["1-30"] == eur("200")
