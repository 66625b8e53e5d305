from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest

from ledgerline import EUR
from ledgerline.invoices import Invoice, LineItem, post
from ledgerline.periods import FiscalCalendar
from ledgerline.reports import tax_return

QUARTER = FiscalCalendar().quarter(2024, 1)


@pytest.fixture
def sales(ledger, taxes, eur):
    lines = (
        LineItem("Chairs", Decimal(1), eur("100.00"), tax_code="S"),
        LineItem("Books", Decimal(1), eur("50.00"), tax_code="R"),
        LineItem("Stamps", Decimal(1), eur("5.00")),
    )
    post(ledger, Invoice("INV-1", "Acme", date(2024, 1, 1), lines), taxes)
    post(ledger, Invoice("INV-2", "Acme", date(2024, 3, 31), lines[:1]), taxes)
    post(ledger, Invoice("INV-3", "Acme", date(2024, 4, 1), lines), taxes)
    return ledger


def test_lines(sales, taxes, eur):
    report = tax_return(sales, taxes, QUARTER, EUR)
    assert [(line.code, line.net, line.tax) for line in report.lines] == [
        ("R", eur("50.00"), eur("5.00")),
        ("S", eur("200.00"), eur("40.00")),
    ]


def test_total(sales, taxes, eur):
    assert tax_return(sales, taxes, QUARTER, EUR).total() == eur("45.00")


def test_line_of_a_code(sales, taxes, eur):
    report = tax_return(sales, taxes, QUARTER, EUR)
    assert report.line("S").tax == eur("40.00")
    with pytest.raises(KeyError):
        report.line("X")


def test_credit_notes_reduce_the_tax(sales, taxes, eur):
    line = LineItem("Chair", Decimal(-1), eur("100.00"), tax_code="S")
    post(sales, Invoice("CN-1", "Acme", date(2024, 2, 1), (line,)), taxes)
    assert tax_return(sales, taxes, QUARTER, EUR).line("S").net == eur("100.00")


def test_text(sales, taxes):
    lines = tax_return(sales, taxes, QUARTER, EUR).render().splitlines()
    assert lines[-1].split() == ["Total", "45.00", "EUR"]
