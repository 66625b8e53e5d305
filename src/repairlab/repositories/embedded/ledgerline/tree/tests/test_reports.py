from __future__ import annotations

from datetime import date

import pytest

from ledgerline import EUR
from ledgerline.periods import FiscalCalendar
from ledgerline.periods.closing import close
from ledgerline.reports import balance_sheet, income_statement, trial_balance

YEAR = FiscalCalendar().year(2023)


@pytest.fixture
def books(ledger, booking):
    ledger.post(booking(date(2023, 5, 1), "1000", "4000", "1000"))
    ledger.post(booking(date(2023, 6, 1), "6100", "1000", "400"))
    ledger.post(booking(date(2023, 7, 1), "1200", "4100", "50.50"))
    ledger.post(booking(date(2024, 1, 2), "6100", "1000", "100"))
    return ledger


def test_trial_balance_rows(books, eur):
    report = trial_balance(books, until=YEAR.end)
    assert [(row.account.code, row.debits, row.credits) for row in report.rows] == [
        ("1000", eur("1000"), eur("400")),
        ("1200", eur("50.50"), eur("0")),
        ("4000", eur("0"), eur("1000")),
        ("4100", eur("0"), eur("50.50")),
        ("6100", eur("400"), eur("0")),
    ]


def test_trial_balance_totals_agree(books):
    debits, credits = trial_balance(books).total()["EUR"]
    assert debits == credits


def test_trial_balance_of_one_account(books, eur):
    report = trial_balance(books)
    assert report.balance("1000") == eur("500")
    assert report.balance("6200") is None


def test_trial_balance_text(books):
    lines = trial_balance(books, until=YEAR.end).render().splitlines()
    assert lines[0].split() == ["Account", "Debit", "Credit", "Balance"]
    assert lines[2].split() == ["1000", "Bank", "1,000.00", "400.00", "600.00", "EUR"]


def test_open_accounts(books, booking):
    books.post(booking(date(2024, 1, 5), "1000", "1200", "50.50"))
    assert trial_balance(books).open_accounts() == ["1000", "4000", "4100", "6100"]


def test_income_statement(books, eur):
    statement = income_statement(books, YEAR, EUR)
    assert statement.section("Income").total == eur("1050.50")
    assert statement.section("Expenses").total == eur("400")
    assert statement.result == eur("650.50")


def test_income_statement_of_a_closed_year(books):
    before = income_statement(books, YEAR, EUR)
    close(books, YEAR)
    assert income_statement(books, YEAR, EUR) == before


@pytest.mark.parametrize("closed", [False, True])
def test_balance_sheet_balances(books, closed):
    if closed:
        close(books, YEAR)
    sheet = balance_sheet(books, date(2024, 1, 31), EUR)
    right = sheet.section("Liabilities").total + sheet.section("Equity").total + sheet.result
    assert sheet.section("Assets").total == right


def test_statement_text(books):
    text = income_statement(books, YEAR, EUR).render()
    assert "Total income" in text
    assert text.splitlines()[-1].split() == ["Profit", "650.50", "EUR"]


def test_unknown_section(books):
    with pytest.raises(KeyError):
        income_statement(books, YEAR, EUR).section("Assets")
