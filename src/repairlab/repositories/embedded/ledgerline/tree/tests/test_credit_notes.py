from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest

from ledgerline.invoices import Invoice, LineItem, post
from ledgerline.reports import trial_balance

DAY = date(2024, 3, 1)
LATER = date(2024, 3, 20)


@pytest.fixture
def make_invoice(eur):
    """Makes an invoice over three income accounts, 60.00 each."""

    def make(discount=None, cash_rounding=0):
        lines = tuple(
            LineItem(name, Decimal(2), eur("30.00"), account=account, tax_code="S")
            for name, account in (("Chairs", "4000"), ("Repairs", "4100"), ("Software", "4200"))
        )
        reduction = eur(discount) if discount else None
        return Invoice("INV-7", "Acme", DAY, lines, discount=reduction, cash_rounding=cash_rounding)

    return make


def test_credit_note_has_the_opposite_sign(make_invoice, taxes):
    invoice = make_invoice("9.00")
    note = invoice.credit_note("CN-1", LATER)
    assert note.total(taxes) == -invoice.total(taxes)
    assert note.net() == -invoice.net()
    assert (note.number, note.corrects, note.date) == ("CN-1", "INV-7", LATER)


def test_credit_note_title(ledger, make_invoice, taxes):
    posted = post(ledger, make_invoice().credit_note("CN-1", LATER), taxes)
    assert posted.description == "Credit note CN-1 for INV-7, Acme"
    assert posted.reference == "CN-1"


def test_credit_note_leaves_no_account_open(ledger, make_invoice, taxes):
    invoice = make_invoice("9.00")
    post(ledger, invoice, taxes)
    post(ledger, invoice.credit_note("CN-1", LATER), taxes)
    assert trial_balance(ledger).open_accounts() == []


def test_credit_note_takes_back_cash_rounding(ledger, make_invoice, taxes):
    invoice = make_invoice("9.03", cash_rounding=5)
    post(ledger, invoice, taxes)
    assert "6900" in trial_balance(ledger).open_accounts()
    post(ledger, invoice.credit_note("CN-1", LATER), taxes)
    assert trial_balance(ledger).open_accounts() == []


def test_credit_note_of_a_part(ledger, make_invoice, taxes, eur):
    invoice = make_invoice()
    post(ledger, invoice, taxes)
    part = Invoice("CN-2", "Acme", LATER, (LineItem("Chair", Decimal(-1), eur("30.00"), tax_code="S"),))
    post(ledger, part, taxes)
    assert ledger.balance("1200") == eur("216.00") - eur("36.00")
    assert ledger.balance("4000") == eur("-30.00")
