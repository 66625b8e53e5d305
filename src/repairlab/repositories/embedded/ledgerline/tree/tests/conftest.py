from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest

from ledgerline import EUR, Ledger, Money, Transaction, credit, debit, standard_chart
from ledgerline.tax import TaxRate, TaxTable


@pytest.fixture
def eur():
    """Makes amounts in euros from text."""
    return lambda text: Money.of(text, EUR)


@pytest.fixture
def chart():
    return standard_chart(EUR)


@pytest.fixture
def ledger(chart):
    return Ledger(chart)


@pytest.fixture
def taxes():
    """Standard and reduced rate, both booked on 2200; the standard rate rose in 2021."""
    return TaxTable(
        [
            TaxRate("S", Decimal(19), "2200", valid_to=date(2020, 12, 31)),
            TaxRate("S", Decimal(20), "2200", valid_from=date(2021, 1, 1)),
            TaxRate("R", Decimal(10), "2200"),
        ]
    )


@pytest.fixture
def booking():
    """Makes a transaction of two entries."""

    def make(day, to, source, text, description="Something", **more):
        amount = Money.of(text, EUR)
        return Transaction(day, description, (debit(to, amount), credit(source, amount)), **more)

    return make
