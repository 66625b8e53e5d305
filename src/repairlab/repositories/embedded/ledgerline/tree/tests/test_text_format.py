from __future__ import annotations

from datetime import date

import pytest

from ledgerline import Entry, Transaction, credit, debit
from ledgerline.errors import ParseError
from ledgerline.formats import dumps, loads

DAY = date(2024, 3, 1)

RENT = """\
; ledgerline journal

2024-03-01 #1 Rent for March ; LEASE-7
    6100  850.00 EUR
    1000  -850.00 EUR  ; standing order
"""


@pytest.fixture
def sale(eur):
    entries = (
        debit("1200", eur("120.00"), memo="Acme"),
        credit("4000", eur("100.00"), tax_code="S"),
        credit("2200", eur("20.00"), memo="20%", tax_code="S"),
    )
    return Transaction(DAY, "Invoice INV-1, Acme", entries, reference="INV-1", number=3)


def test_written_form(booking, eur):
    entries = (debit("6100", eur("850")), credit("1000", eur("850"), memo="standing order"))
    assert dumps([Transaction(DAY, "Rent for March", entries, "LEASE-7", 1)]) == RENT


def test_read_form(eur):
    (rent,) = loads(RENT)
    assert (rent.date, rent.number, rent.description, rent.reference) == (DAY, 1, "Rent for March", "LEASE-7")
    assert rent.entries[1] == Entry("1000", eur("-850"), memo="standing order")


def test_tax_codes_stand_in_brackets(sale):
    assert "    2200  -20.00 EUR [S]  ; 20%\n" in dumps([sale])


def test_round_trip(sale, booking):
    transactions = [sale, booking(DAY, "6100", "1000", "850.00", description="Rent", number=4)]
    assert loads(dumps(transactions)) == transactions


@pytest.mark.parametrize(
    "description",
    ["Rent", "#1 of 12", "Café \N{EN DASH} März", "two  blanks", "a = b [S]", "scans in C:\\new"],
    ids=["plain", "hash", "unicode", "blanks", "brackets", "backslash"],
)
def test_descriptions_come_back(booking, description):
    transaction = booking(DAY, "6100", "1000", "1.00", description=description, number=1)
    assert loads(dumps([transaction])) == [transaction]


def test_closing_transactions_are_left_out(booking):
    transaction = booking(DAY, "4000", "3000", "1.00", closing=True)
    assert loads(dumps([transaction])) == []


def test_comments_and_blank_lines():
    text = "; one\n\n" + RENT.replace("    1000", "\n; two\n    1000")
    assert loads(text) == loads(RENT)


def test_tabs_indent_too():
    assert loads(RENT.replace("    ", "\t")) == loads(RENT)


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("2024-03-01", "2024-02-30", 3, "not a date"),
        ("#1", "1", 3, "expected a date"),
        ("    1000", "1000", 3, "two entries"),
        ("850.00 EUR\n    1000", "850.00\n    1000", 4, "expected an account"),
        ("6100  850.00", "6100  850.001", 4, "decimals"),
        ("-850.00 EUR", "-850.00 EUR S", 5, "brackets"),
        ("6100  850.00", "6100  850.01", 3, "off by"),
    ],
    ids=["date", "number", "indent", "currency", "decimals", "tax", "balance"],
)
def test_errors_name_the_line(old, new, line, message):
    with pytest.raises(ParseError, match=message) as caught:
        loads(RENT.replace(old, new, 1))
    assert caught.value.line == line


def test_entries_need_a_transaction():
    with pytest.raises(ParseError, match="before the first transaction"):
        loads("    6100  850.00 EUR\n")
