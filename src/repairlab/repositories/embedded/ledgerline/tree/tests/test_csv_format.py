from __future__ import annotations

from datetime import date

import pytest

from ledgerline import Transaction, credit, debit
from ledgerline.errors import LedgerlineError, ParseError
from ledgerline.formats import dumps, loads

DAY = date(2024, 3, 1)


def test_written_form(booking):
    assert dumps([booking(DAY, "6100", "1000", "850", description="Rent, March", number=2)], "csv") == (
        "number,date,description,reference,account,amount,currency,tax_code,memo\n"
        '2,2024-03-01,"Rent, March",,6100,850.00,EUR,,\n'
        '2,2024-03-01,"Rent, March",,1000,-850.00,EUR,,\n'
    )


@pytest.mark.parametrize(
    "text",
    ["plain", 'say "hi"', "a; b", "two\nlines", "a,b"],
    ids=["plain", "quotes", "semicolon", "lines", "comma"],
)
def test_round_trip(eur, text):
    entries = (debit("6100", eur("1"), memo=text, tax_code="S"), credit("1000", eur("1")))
    transactions = [Transaction(DAY, text, entries, reference=text, number=1)]
    assert loads(dumps(transactions, "csv"), "csv") == transactions


def test_fresh_transactions_are_numbered(booking):
    transactions = [
        booking(DAY, "6100", "1000", "1"),
        booking(DAY, "6100", "1000", "2", number=5),
        booking(DAY, "6100", "1000", "3"),
    ]
    assert [t.number for t in loads(dumps(transactions, "csv"), "csv")] == [6, 5, 7]


def test_another_header():
    with pytest.raises(ParseError, match="columns"):
        loads("a,b\n1,2\n", "csv")


def test_damaged_rows_name_the_line(booking):
    text = dumps([booking(DAY, "6100", "1000", "850", number=1)], "csv")
    with pytest.raises(ParseError, match="line 2"):
        loads(text.replace("2024-03-01", "yesterday"), "csv")
    with pytest.raises(ParseError, match="values"):
        loads(text.replace(",EUR", "", 1), "csv")


def test_unknown_formats():
    with pytest.raises(LedgerlineError, match="no format 'xml'"):
        dumps([], "xml")
    with pytest.raises(LedgerlineError, match="no format 'xml'"):
        loads("", "xml")
