from __future__ import annotations

import dataclasses
from datetime import date
from decimal import Decimal

import pytest

from ledgerline.invoices import Invoice, LineItem, Terms


@pytest.fixture
def invoice(eur):
    return Invoice(
        "INV-1",
        "Acme",
        date(2024, 3, 1),
        (
            LineItem("Chairs", Decimal(3), eur("33.33"), tax_code="S"),
            LineItem("Books", Decimal("1.5"), eur("20.00"), account="4100", tax_code="R"),
            LineItem("Postage", Decimal(1), eur("4.90")),
        ),
        terms=Terms(14),
    )


def test_line_amounts(invoice, eur):
    assert [line.amount for line in invoice.lines] == [eur("99.99"), eur("30.00"), eur("4.90")]


def test_totals(invoice, taxes, eur):
    assert invoice.subtotal() == invoice.net() == eur("134.89")
    assert [line.tax for line in invoice.tax(taxes)] == [eur("3.00"), eur("20.00")]
    assert invoice.total(taxes) == eur("157.89")


def test_due(invoice):
    assert invoice.due == date(2024, 3, 15)


def test_discount_is_shared_by_size(invoice, taxes, eur):
    reduced = dataclasses.replace(invoice, discount=eur("13.49"))
    assert reduced.net_amounts() == [eur("89.99"), eur("27.00"), eur("4.41")]
    assert reduced.net() == eur("121.40")
    assert reduced.total(taxes) == eur("121.40") + eur("18.00") + eur("2.70")


def test_discounted_lines_add_up(invoice, eur):
    for cents in range(1, 400, 7):
        reduced = dataclasses.replace(invoice, discount=eur("0.01").times(cents))
        assert sum(amount.minor for amount in reduced.net_amounts()) == reduced.net().minor


def test_goods_taken_back_carry_no_discount(eur):
    lines = (
        LineItem("Chairs", Decimal(2), eur("50.00")),
        LineItem("Broken chair", Decimal(-1), eur("50.00")),
        LineItem("Table", Decimal(1), eur("100.00")),
    )
    invoice = Invoice("INV-2", "Acme", date(2024, 3, 1), lines, discount=eur("10.00"))
    assert invoice.net_amounts() == [eur("95.00"), eur("-50.00"), eur("95.00")]


@pytest.mark.parametrize(("cents", "expected"), [(5, "157.90"), (10, "157.90"), (100, "158.00")])
def test_cash_rounding(invoice, taxes, eur, cents, expected):
    assert dataclasses.replace(invoice, cash_rounding=cents).total(taxes) == eur(expected)


def test_an_invoice_has_lines():
    with pytest.raises(ValueError, match="needs a line"):
        Invoice("INV-3", "Acme", date(2024, 3, 1), ())


@pytest.mark.parametrize(("discount", "message"), [("-1", "sign"), ("200", "larger")])
def test_discounts_that_make_no_sense(invoice, eur, discount, message):
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(invoice, discount=eur(discount))
