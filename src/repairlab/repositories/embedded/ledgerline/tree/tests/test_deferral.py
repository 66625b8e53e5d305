from __future__ import annotations

from datetime import date

import pytest

from ledgerline.errors import AllocationError
from ledgerline.money import EUR, total
from ledgerline.periods import Period
from ledgerline.periods.deferral import outstanding, release_transactions, spread, spread_by_days


def test_spread_is_dated_on_ends_of_months(eur):
    releases = spread(eur("300"), date(2024, 1, 15), 3)
    assert [release.date for release in releases] == [date(2024, 1, 31), date(2024, 2, 29), date(2024, 3, 31)]
    assert {release.amount for release in releases} == {eur("100")}


@pytest.mark.parametrize("text", ["100.00", "0.05", "1234.56", "-1200.00"])
def test_spread_adds_up(eur, text):
    releases = spread(eur(text), date(2024, 1, 15), 12)
    assert total((release.amount for release in releases), EUR) == eur(text)


def test_spread_needs_a_month(eur):
    with pytest.raises(AllocationError):
        spread(eur("300"), date(2024, 1, 15), 0)


def test_spread_by_days(eur):
    releases = spread_by_days(eur("91.00"), Period(date(2024, 1, 1), date(2024, 3, 31)))
    assert [release.amount for release in releases] == [eur("31"), eur("29"), eur("31")]


def test_release_transactions(ledger, booking, eur):
    ledger.post(booking(date(2024, 1, 15), "1400", "1000", "100", description="Insurance"))
    releases = spread(eur("100"), date(2024, 1, 15), 3)
    ledger.post_all(release_transactions(releases, "1400", "6200", "Insurance"))
    assert ledger.balance("6200", until=date(2024, 2, 29)) == eur("66.67")
    assert ledger.balance("6200") == eur("100")
    assert ledger.balance("1400") == eur("0")
    assert [t.description for t in ledger][-1] == "Insurance (3 of 3)"


def test_months_without_an_amount_are_not_booked(eur):
    releases = spread(eur("0.02"), date(2024, 1, 1), 3)
    assert len(release_transactions(releases, "1400", "6200", "Tiny")) == 2


def test_outstanding(eur):
    releases = spread(eur("90"), date(2024, 1, 1), 3)
    assert outstanding(releases, date(2024, 1, 30)) == eur("90")
    assert outstanding(releases, date(2024, 1, 31)) == eur("60")
    with pytest.raises(ValueError, match="no releases"):
        outstanding([], date(2024, 1, 1))
