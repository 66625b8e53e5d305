from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest

from ledgerline import Entry
from ledgerline.errors import ClosedPeriod
from ledgerline.invoices import Accounts, Invoice, LineItem, post
from ledgerline.invoices.posting import to_transaction

DAY = date(2024, 3, 1)


@pytest.fixture
def invoice(eur):
    lines = (
        LineItem("Chairs", Decimal(2), eur("50.00"), tax_code="S"),
        LineItem("Table", Decimal(1), eur("80.00"), tax_code="S"),
        LineItem("Books", Decimal(1), eur("20.00"), account="4100", tax_code="R"),
    )
    return Invoice("INV-1", "Acme", DAY, lines)


def test_entries(invoice, taxes, eur):
    assert to_transaction(invoice, taxes).entries == (
        Entry("1200", eur("238.00"), memo="Acme"),
        Entry("4000", eur("-180.00"), tax_code="S"),
        Entry("4100", eur("-20.00"), tax_code="R"),
        Entry("2200", eur("-2.00"), memo="10%", tax_code="R"),
        Entry("2200", eur("-36.00"), memo="20%", tax_code="S"),
    )


def test_post(ledger, invoice, taxes, eur):
    posted = post(ledger, invoice, taxes)
    assert posted.number == 1
    assert posted.reference == "INV-1"
    assert posted.description == "Invoice INV-1, Acme"
    assert ledger.balance("1200") == eur("238.00")
    assert ledger.balance("2200") == eur("-38.00")


def test_other_accounts(invoice, taxes):
    transaction = to_transaction(invoice, taxes, Accounts(receivables="1010"))
    assert transaction.entries[0].account == "1010"


def test_cash_rounding_is_booked(ledger, taxes, eur):
    line = LineItem("Pencil", Decimal(1), eur("1.02"))
    post(ledger, Invoice("INV-2", "Acme", DAY, (line,), cash_rounding=5), taxes)
    assert ledger.balance("1200") == eur("1.00")
    assert ledger.balance("6900") == eur("0.02")


def test_nothing_to_round(ledger, invoice, taxes, eur):
    post(ledger, invoice, taxes)
    assert ledger.entries("6900") == []


def test_discount_reduces_income_and_tax(ledger, taxes, eur):
    line = LineItem("Chairs", Decimal(2), eur("50.00"), tax_code="S")
    post(ledger, Invoice("INV-3", "Acme", DAY, (line,), discount=eur("10.00")), taxes)
    assert ledger.balance("4000") == eur("-90.00")
    assert ledger.balance("2200") == eur("-18.00")
    assert ledger.balance("1200") == eur("108.00")


def test_closed_periods_take_no_invoice(ledger, invoice, taxes):
    ledger.lock(DAY)
    with pytest.raises(ClosedPeriod):
        post(ledger, invoice, taxes)
