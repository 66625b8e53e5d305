"""Spreading income and expenses over the months that they belong to.

An insurance paid in March for twelve months is an expense of each of these months. It is first booked as
prepaid (an asset) and then released month by month; income received in advance is treated likewise.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from ledgerline.journal.entry import Entry, Transaction
from ledgerline.money.allocate import allocate, split
from ledgerline.money.amount import Money
from ledgerline.periods.calendar import Period, add_months, end_of_month


@dataclass(frozen=True, slots=True)
class Release:
    """What becomes income or expense on one day."""

    date: date
    amount: Money


def spread(amount: Money, start: date, months: int) -> list[Release]:
    """Spread `amount` evenly over `months` months; each part is dated on the last day of its month.

    A refund or a correction is spread as a negative amount.
    """
    shares = split(amount, months)
    return [
        Release(end_of_month(add_months(start.replace(day=1), index)), share)
        for index, share in enumerate(shares)
    ]


def spread_by_days(amount: Money, period: Period) -> list[Release]:
    """Spread `amount` over the months of `period` in proportion to their days."""
    months = list(period.months())
    shares = allocate(amount, [month.days for month in months])
    return [Release(month.end, share) for month, share in zip(months, shares, strict=True)]


def release_transactions(
    releases: list[Release], deferred: str, account: str, description: str
) -> list[Transaction]:
    """Transactions that move each release from the account `deferred` to `account`."""
    return [
        Transaction(
            date=release.date,
            description=f"{description} ({index} of {len(releases)})",
            entries=(Entry(account, release.amount), Entry(deferred, -release.amount)),
        )
        for index, release in enumerate(releases, start=1)
        if release.amount
    ]


def outstanding(releases: list[Release], on: date) -> Money:
    """What is still deferred at the end of the day `on`."""
    if not releases:
        raise ValueError("there are no releases")
    rest = Money.zero(releases[0].amount.currency)
    for release in releases:
        if release.date > on:
            rest = rest + release.amount
    return rest
