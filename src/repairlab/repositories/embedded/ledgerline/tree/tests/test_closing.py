from __future__ import annotations

from datetime import date

import pytest

from ledgerline.errors import ClosedPeriod, LedgerlineError
from ledgerline.periods import FiscalCalendar
from ledgerline.periods.closing import close, result

YEAR = FiscalCalendar().year(2023)


@pytest.fixture
def year_2023(ledger, booking):
    ledger.post(booking(date(2023, 5, 1), "1000", "4000", "1000"))
    ledger.post(booking(date(2023, 12, 31), "6100", "1000", "400"))
    ledger.post(booking(date(2024, 1, 1), "6100", "1000", "100"))
    return ledger


def test_close_clears_income_and_expenses(year_2023, eur):
    closing = close(year_2023, YEAR)
    assert closing.date == date(2023, 12, 31)
    assert year_2023.balance("4000") == eur("0")
    assert year_2023.balance("6100", until=date(2023, 12, 31)) == eur("0")
    assert year_2023.balance("3000") == eur("-600")


def test_close_leaves_the_next_year_alone(year_2023, eur):
    close(year_2023, YEAR)
    assert year_2023.balance("6100") == eur("100")


def test_close_locks(year_2023, booking):
    close(year_2023, YEAR)
    with pytest.raises(ClosedPeriod):
        year_2023.post(booking(date(2023, 12, 31), "6100", "1000", "1"))
    with pytest.raises(ClosedPeriod):
        close(year_2023, YEAR)


def test_an_empty_year_is_locked_without_a_transaction(ledger):
    assert close(ledger, YEAR) is None
    assert ledger.locked_until == date(2023, 12, 31)


def test_the_result_goes_to_equity(year_2023):
    with pytest.raises(LedgerlineError, match="no equity account"):
        close(year_2023, YEAR, retained_earnings="1000")
    assert year_2023.locked_until is None


def test_result_is_the_same_before_and_after(year_2023, eur):
    before = result(year_2023, YEAR)
    close(year_2023, YEAR)
    assert before == result(year_2023, YEAR) == {"EUR": eur("600")}
