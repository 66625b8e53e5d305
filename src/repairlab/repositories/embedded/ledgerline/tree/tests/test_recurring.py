from __future__ import annotations

from datetime import date

import pytest

from ledgerline.journal import Recurrence, Unit


def days(recurrence, until):
    return [f"{day:%m-%d}" for day in recurrence.days(until)]


def test_weeks():
    assert days(Recurrence(date(2024, 1, 1), 2, Unit.WEEK), date(2024, 2, 1)) == ["01-01", "01-15", "01-29"]


def test_days():
    assert days(Recurrence(date(2024, 2, 27), 1, Unit.DAY), date(2024, 3, 1)) == [
        "02-27",
        "02-28",
        "02-29",
        "03-01",
    ]


def test_the_end_of_the_month_does_not_drift():
    recurrence = Recurrence(date(2024, 1, 31), 1, Unit.MONTH)
    assert days(recurrence, date(2024, 5, 31)) == ["01-31", "02-29", "03-31", "04-30", "05-31"]


def test_leap_days_come_back():
    recurrence = Recurrence(date(2020, 2, 29), 1, Unit.YEAR)
    assert [recurrence.day(index) for index in (0, 1, 4)] == [
        date(2020, 2, 29),
        date(2021, 2, 28),
        date(2024, 2, 29),
    ]


def test_it_ends():
    recurrence = Recurrence(date(2024, 1, 1), 1, Unit.MONTH, until=date(2024, 2, 1))
    assert days(recurrence, date(2030, 1, 1)) == ["01-01", "02-01"]


def test_an_interval_is_positive():
    with pytest.raises(ValueError, match="positive"):
        Recurrence(date(2024, 1, 1), 0, Unit.DAY)


def test_transactions_are_copies(booking):
    template = booking(date(2023, 1, 1), "6100", "1000", "850", description="Rent", number=4)
    recurrence = Recurrence(date(2024, 1, 15), 1, Unit.MONTH)
    made = recurrence.transactions(template, since=date(2024, 2, 1), until=date(2024, 3, 31))
    assert [t.date for t in made] == [date(2024, 2, 15), date(2024, 3, 15)]
    assert {t.number for t in made} == {0}
    assert {t.entries for t in made} == {template.entries}
