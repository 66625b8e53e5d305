"""Transactions that come again and again: rent, salaries, subscriptions."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta

from ledgerline.journal.entry import Transaction
from ledgerline.periods.calendar import add_months


class Unit(enum.Enum):
    """What the interval of a recurrence is counted in."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    YEAR = "year"


@dataclass(frozen=True, slots=True)
class Recurrence:
    """Every so many days, weeks, months or years, from `start` on.

    Months and years are counted from `start`, not from the last day: what starts on the 31st falls on the
    last day of shorter months and is back on the 31st after them.

    Attributes:
        until: the last day on which it may fall, or None for no end.
    """

    start: date
    every: int
    unit: Unit
    until: date | None = None

    def __post_init__(self) -> None:
        if self.every <= 0:
            raise ValueError("an interval is positive")

    def day(self, index: int) -> date:
        """The day of the occurrence `index`, from 0."""
        steps = self.every * index
        if self.unit is Unit.DAY:
            return self.start + timedelta(days=steps)
        if self.unit is Unit.WEEK:
            return self.start + timedelta(weeks=steps)
        return add_months(self.start, steps if self.unit is Unit.MONTH else 12 * steps)

    def days(self, until: date) -> Iterator[date]:
        """All days up to `until` inclusive, or to the end of the recurrence if that comes first."""
        end = until if self.until is None else min(until, self.until)
        index = 0
        while (day := self.day(index)) <= end:
            yield day
            index += 1

    def transactions(self, template: Transaction, since: date, until: date) -> list[Transaction]:
        """Copies of `template` for every day from `since` to `until`, both inclusive."""
        return [dataclasses.replace(template, date=day, number=0) for day in self.days(until) if day >= since]
