from __future__ import annotations

from datetime import date

import pytest

from ledgerline import USD, Ledger, Money, Transaction, credit, debit
from ledgerline.errors import ClosedPeriod, CurrencyMismatch, UnknownAccount


def test_posting_numbers_transactions(ledger, booking):
    first = ledger.post(booking(date(2024, 3, 2), "6100", "1000", "10"))
    second = ledger.post(booking(date(2024, 3, 1), "6100", "1000", "10", number=99))
    assert (first.number, second.number) == (1, 2)
    assert len(ledger) == 2


def test_transactions_come_by_date(ledger, booking):
    ledger.post(booking(date(2024, 3, 2), "6100", "1000", "10"))
    ledger.post(booking(date(2024, 3, 1), "6100", "1000", "10"))
    assert [t.number for t in ledger.transactions()] == [2, 1]
    assert [t.number for t in ledger] == [1, 2]


def test_balance(ledger, booking, eur):
    ledger.post(booking(date(2024, 3, 1), "1000", "4000", "100.50"))
    ledger.post(booking(date(2024, 3, 2), "6100", "1000", "40"))
    assert ledger.balance("1000") == eur("60.50")
    assert ledger.balance("4000") == eur("-100.50")
    assert ledger.balance("6200") == eur("0")


def test_both_ends_are_inclusive(ledger, booking, eur):
    for day in (1, 2, 3):
        ledger.post(booking(date(2024, 3, day), "6100", "1000", "1"))
    assert ledger.balance("6100", date(2024, 3, 1), date(2024, 3, 2)) == eur("2")
    assert ledger.balance("6100", since=date(2024, 3, 3)) == eur("1")
    assert ledger.balance("6100", until=date(2024, 3, 1)) == eur("1")


def test_unknown_accounts(ledger, booking):
    with pytest.raises(UnknownAccount):
        ledger.post(booking(date(2024, 3, 1), "9999", "1000", "1"))
    with pytest.raises(UnknownAccount):
        ledger.balance("9999")
    assert len(ledger) == 0


def test_the_currency_of_the_account_counts(ledger):
    amount = Money.of("1", USD)
    with pytest.raises(CurrencyMismatch):
        ledger.post(Transaction(date(2024, 3, 1), "Dollars", (debit("6100", amount), credit("1000", amount))))


def test_lock(ledger, booking):
    ledger.lock(date(2024, 3, 31))
    with pytest.raises(ClosedPeriod, match="2024-03-31"):
        ledger.post(booking(date(2024, 3, 31), "6100", "1000", "1"))
    ledger.post(booking(date(2024, 4, 1), "6100", "1000", "1"))


def test_a_lock_never_moves_back(ledger):
    ledger.lock(date(2024, 3, 31))
    ledger.lock(date(2024, 2, 29))
    assert ledger.locked_until == date(2024, 3, 31)


def test_post_all_is_all_or_none(ledger, booking):
    good = booking(date(2024, 3, 1), "6100", "1000", "1")
    with pytest.raises(UnknownAccount):
        ledger.post_all([good, booking(date(2024, 3, 1), "9999", "1000", "1")])
    assert len(ledger) == 0
    assert [t.number for t in ledger.post_all([good, good])] == [1, 2]


def test_closing_transactions_can_be_left_out(chart, booking, eur):
    day = date(2024, 12, 31)
    ledger = Ledger(
        chart, [booking(day, "1000", "4000", "5"), booking(day, "4000", "3000", "5", closing=True)]
    )
    assert ledger.balance("4000") == eur("0")
    assert ledger.balance("4000", closing=False) == eur("-5")
