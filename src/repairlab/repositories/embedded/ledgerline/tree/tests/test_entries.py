from __future__ import annotations

from datetime import date

import pytest

from ledgerline import EUR, USD, Entry, Money, Transaction, credit, debit
from ledgerline.errors import UnbalancedTransaction

DAY = date(2024, 3, 1)


def test_sides(eur):
    assert debit("1", eur("5")).amount == eur("5")
    assert credit("1", eur("5")).amount == eur("-5")


def test_a_transaction_balances(eur):
    with pytest.raises(UnbalancedTransaction, match=r"off by 0\.01 EUR"):
        Transaction(DAY, "Wrong", (debit("1", eur("5.01")), credit("2", eur("5.00"))))


def test_each_currency_balances(eur):
    dollars = Money.of("5.00", USD)
    with pytest.raises(UnbalancedTransaction, match="USD"):
        Transaction(DAY, "Mixed", (debit("1", eur("0")), credit("2", dollars)))


def test_description_and_entries_are_needed(eur):
    with pytest.raises(ValueError, match="description"):
        Transaction(DAY, "  ", (debit("1", eur("5")), credit("2", eur("5"))))
    with pytest.raises(ValueError, match="two entries"):
        Transaction(DAY, "Alone", (Entry("1", Money.zero(EUR)),))


def test_total_is_the_sum_of_the_debits(eur):
    entries = (debit("1", eur("5")), debit("2", eur("3")), credit("3", eur("8")))
    assert Transaction(DAY, "Three", entries).total() == {"EUR": eur("8")}


def test_accounts_are_named_once(eur):
    entries = (debit("2", eur("5")), debit("2", eur("3")), credit("1", eur("8")))
    assert Transaction(DAY, "Three", entries).accounts() == ["1", "2"]


def test_reversal(eur):
    original = Transaction(DAY, "Rent", (debit("1", eur("5"), "memo"), credit("2", eur("5"))), "R1", 7)
    taken_back = original.reversal(date(2024, 4, 1))
    assert taken_back.entries == (credit("1", eur("5"), "memo"), debit("2", eur("5")))
    assert taken_back.number == 0
    assert taken_back.reference == "R1"
    assert taken_back.description == "Reversal of Rent"
