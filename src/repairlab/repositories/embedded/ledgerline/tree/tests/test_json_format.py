from __future__ import annotations

import json
from datetime import date

import pytest

from ledgerline import Transaction, credit, debit
from ledgerline.errors import ParseError
from ledgerline.formats import dumps, loads
from ledgerline.formats.jsonfile import dump_book, parse_book

DAY = date(2024, 3, 1)


def test_round_trip(eur):
    entries = (debit("6100", eur("1"), memo="a; b", tax_code="S"), credit("1000", eur("1")))
    transactions = [Transaction(DAY, "two\nlines", entries, reference="R", number=1)]
    assert loads(dumps(transactions, "json"), "json") == transactions


def test_amounts_are_text(booking):
    (item,) = json.loads(dumps([booking(DAY, "6100", "1000", "850")], "json"))
    assert item["entries"][1]["amount"] == "-850.00"


@pytest.mark.parametrize("text", ["{", "{}", '[{"date": "2024-03-01"}]', '[{"date": 3}]'])
def test_damaged_text(text):
    with pytest.raises(ParseError):
        loads(text, "json")


def test_book(ledger, booking):
    ledger.post(booking(DAY, "6100", "1000", "850", reference="R"))
    ledger.post(booking(DAY, "4000", "3000", "1", closing=True))
    ledger.lock(DAY)
    again = parse_book(dump_book(ledger))
    assert list(again) == list(ledger)
    assert list(again.chart) == list(ledger.chart)
    assert again.locked_until == DAY


@pytest.mark.parametrize("text", ["[]", '{"version": 2}', '{"version": 1}'])
def test_damaged_books(text):
    with pytest.raises(ParseError):
        parse_book(text)
