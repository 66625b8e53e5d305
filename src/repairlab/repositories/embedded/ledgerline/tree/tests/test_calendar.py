from __future__ import annotations

from datetime import date

import pytest

from ledgerline.errors import ParseError
from ledgerline.periods import FiscalCalendar, Period, add_months, end_of_month


@pytest.mark.parametrize(
    ("day", "months", "expected"),
    [
        (date(2024, 1, 31), 1, date(2024, 2, 29)),
        (date(2023, 1, 31), 1, date(2023, 2, 28)),
        (date(2024, 11, 15), 2, date(2025, 1, 15)),
        (date(2024, 1, 15), -1, date(2023, 12, 15)),
        (date(2024, 3, 31), -13, date(2023, 2, 28)),
        (date(2024, 12, 1), 0, date(2024, 12, 1)),
    ],
)
def test_add_months(day, months, expected):
    assert add_months(day, months) == expected


def test_end_of_month():
    assert end_of_month(date(2024, 2, 1)) == date(2024, 2, 29)
    assert end_of_month(date(2024, 12, 31)) == date(2024, 12, 31)


def test_period_holds_both_ends():
    period = Period(date(2024, 1, 1), date(2024, 1, 31))
    assert date(2024, 1, 1) in period
    assert date(2024, 1, 31) in period
    assert date(2024, 2, 1) not in period
    assert period.days == 31


def test_period_ends_after_its_start():
    with pytest.raises(ValueError, match="ends before"):
        Period(date(2024, 1, 2), date(2024, 1, 1))


def test_overlap():
    january = Period(date(2024, 1, 1), date(2024, 1, 31))
    assert january.overlaps(Period(date(2024, 1, 31), date(2024, 2, 5)))
    assert not january.overlaps(Period(date(2024, 2, 1), date(2024, 2, 5)))


def test_months_of_a_period_may_be_cut():
    months = list(Period(date(2024, 1, 20), date(2024, 3, 5)).months())
    assert [(m.label, m.days) for m in months] == [("2024-01", 12), ("2024-02", 29), ("2024-03", 5)]


@pytest.mark.parametrize(
    ("first_month", "day", "year"),
    [
        (1, date(2024, 1, 1), 2024),
        (4, date(2024, 3, 31), 2023),
        (4, date(2024, 4, 1), 2024),
        (12, date(2024, 11, 30), 2023),
    ],
)
def test_fiscal_year_of_a_day(first_month, day, year):
    assert FiscalCalendar(first_month).year_of(day) == year


def test_fiscal_year_as_period():
    period = FiscalCalendar(4).year(2023)
    assert (period.start, period.end, period.label) == (date(2023, 4, 1), date(2024, 3, 31), "2023/24")


@pytest.mark.parametrize(
    ("day", "start", "label"),
    [
        (date(2024, 3, 31), date(2024, 1, 1), "2023/24-Q4"),
        (date(2024, 4, 1), date(2024, 4, 1), "2024/25-Q1"),
        (date(2024, 12, 31), date(2024, 10, 1), "2024/25-Q3"),
    ],
)
def test_quarter_of_a_day(day, start, label):
    quarter = FiscalCalendar(4).quarter_of(day)
    assert (quarter.start, quarter.label) == (start, label)
    assert day in quarter


@pytest.mark.parametrize(
    ("label", "start", "end"),
    [
        ("2024", date(2024, 1, 1), date(2024, 12, 31)),
        ("2024-Q2", date(2024, 4, 1), date(2024, 6, 30)),
        ("2024-02", date(2024, 2, 1), date(2024, 2, 29)),
    ],
)
def test_parse(label, start, end):
    period = FiscalCalendar().parse(label)
    assert (period.start, period.end) == (start, end)


@pytest.mark.parametrize("label", ["", "24", "2024-Q5", "2024-13", "2024-1", "Q1-2024"])
def test_parse_refuses(label):
    with pytest.raises(ParseError):
        FiscalCalendar().parse(label)
