"""Months, quarters and fiscal years."""

from __future__ import annotations

import calendar
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta

from ledgerline.errors import ParseError


def end_of_month(day: date) -> date:
    """The last day of the month of `day`."""
    return day.replace(day=calendar.monthrange(day.year, day.month)[1])


def add_months(day: date, months: int) -> date:
    """The same day `months` later (or earlier), or the last of the month where it has no such day."""
    index = day.year * 12 + day.month - 1 + months
    year, month = divmod(index, 12)
    last = calendar.monthrange(year, month + 1)[1]
    return date(year, month + 1, min(day.day, last))


@dataclass(frozen=True, slots=True)
class Period:
    """A stretch of days, both ends inclusive."""

    start: date
    end: date
    label: str = ""

    def __post_init__(self) -> None:
        if self.end < self.start:
            raise ValueError(f"a period ends before it starts: {self.start} to {self.end}")

    def __contains__(self, day: object) -> bool:
        return isinstance(day, date) and self.start <= day <= self.end

    @property
    def days(self) -> int:
        """How many days the period has."""
        return (self.end - self.start).days + 1

    def overlaps(self, other: Period) -> bool:
        """True where the two share a day."""
        return self.start <= other.end and other.start <= self.end

    def months(self) -> Iterator[Period]:
        """The calendar months of the period; the first and the last may be cut."""
        first = self.start
        while first <= self.end:
            last = min(end_of_month(first), self.end)
            yield Period(first, last, f"{first:%Y-%m}")
            first = last + timedelta(days=1)


@dataclass(frozen=True, slots=True)
class FiscalCalendar:
    """Fiscal years of twelve months that start on the first of `first_month`.

    A fiscal year is named after the calendar year in which it starts.
    """

    first_month: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.first_month <= 12:
            raise ValueError(f"no such month: {self.first_month}")

    def year_of(self, day: date) -> int:
        """The fiscal year that `day` lies in."""
        return day.year if day.month >= self.first_month else day.year - 1

    def year(self, year: int) -> Period:
        """The fiscal year `year` as a period."""
        start = date(year, self.first_month, 1)
        return Period(start, add_months(start, 12) - timedelta(days=1), self._label(year))

    def quarter(self, year: int, quarter: int) -> Period:
        """Quarter 1 to 4 of a fiscal year."""
        if not 1 <= quarter <= 4:
            raise ValueError(f"no such quarter: {quarter}")
        start = add_months(date(year, self.first_month, 1), 3 * (quarter - 1))
        return Period(start, add_months(start, 3) - timedelta(days=1), f"{self._label(year)}-Q{quarter}")

    def quarter_of(self, day: date) -> Period:
        """The quarter that `day` lies in."""
        months = (day.month - self.first_month) % 12
        return self.quarter(self.year_of(day), months // 3 + 1)

    def parse(self, label: str) -> Period:
        """The period that a label such as ``2024``, ``2024-Q3`` or ``2024-07`` names.

        Years and quarters are fiscal; a month is a month of the calendar.
        """
        year, _, rest = label.strip().partition("-")
        if not year.isdigit() or len(year) != 4:
            raise ParseError(f"not a period: {label!r}")
        if not rest:
            return self.year(int(year))
        if rest[0] in "Qq" and rest[1:] in ("1", "2", "3", "4"):
            return self.quarter(int(year), int(rest[1:]))
        if len(rest) == 2 and rest.isdigit() and 1 <= int(rest) <= 12:
            start = date(int(year), int(rest), 1)
            return Period(start, end_of_month(start), f"{year}-{rest}")
        raise ParseError(f"not a period: {label!r}")

    def _label(self, year: int) -> str:
        return str(year) if self.first_month == 1 else f"{year}/{(year + 1) % 100:02}"
