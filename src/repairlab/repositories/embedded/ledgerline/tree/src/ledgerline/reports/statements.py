"""Income statement and balance sheet."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date

from ledgerline.accounts import Account, AccountType, Chart
from ledgerline.journal.ledger import Ledger
from ledgerline.money.amount import Money, total
from ledgerline.money.currency import Currency
from ledgerline.money.text import ENGLISH, format_money
from ledgerline.periods.calendar import Period
from ledgerline.reports.table import render


@dataclass(frozen=True, slots=True)
class Section:
    """Accounts of one type; amounts are positive on the normal side of the type."""

    title: str
    lines: tuple[tuple[Account, Money], ...]
    total: Money


@dataclass(frozen=True, slots=True)
class Statement:
    """A report of several sections and its bottom line."""

    title: str
    sections: tuple[Section, ...]
    result: Money
    result_title: str

    def section(self, title: str) -> Section:
        """The section with this title; raises KeyError."""
        for section in self.sections:
            if section.title == title:
                return section
        raise KeyError(title)

    def render(self) -> str:
        """The statement as a plain-text table."""
        rows: list[list[str]] = []
        for section in self.sections:
            rows.append([section.title, ""])
            rows += [
                [f"  {account.code} {account.name}", format_money(amount, ENGLISH)]
                for account, amount in section.lines
            ]
            rows.append([f"Total {section.title.lower()}", format_money(section.total, ENGLISH)])
        footer = [self.result_title, format_money(self.result, ENGLISH)]
        return render([self.title, ""], rows, footer=footer)


def income_statement(ledger: Ledger, period: Period, currency: Currency) -> Statement:
    """Income, expenses and profit of `period`, whether or not it is closed."""

    def booked(account: Account) -> Money:
        return ledger.balance(account.code, period.start, period.end, closing=False)

    income = _section("Income", ledger.chart, AccountType.INCOME, currency, booked)
    expenses = _section("Expenses", ledger.chart, AccountType.EXPENSE, currency, booked)
    title = f"Income statement {period.label or period.start}"
    return Statement(title, (income, expenses), income.total - expenses.total, "Profit")


def balance_sheet(ledger: Ledger, on: date, currency: Currency) -> Statement:
    """Assets, liabilities and equity at the end of a day.

    What has not been closed yet counts as equity in a line of the result: in sound books the assets equal
    liabilities, equity and this result together.
    """

    def booked(account: Account) -> Money:
        return ledger.balance(account.code, until=on)

    assets = _section("Assets", ledger.chart, AccountType.ASSET, currency, booked)
    liabilities = _section("Liabilities", ledger.chart, AccountType.LIABILITY, currency, booked)
    equity = _section("Equity", ledger.chart, AccountType.EQUITY, currency, booked)
    temporary = [a for a in ledger.chart if a.type.is_temporary and a.currency == currency]
    result = -total((booked(account) for account in temporary), currency)
    sections = (assets, liabilities, equity)
    return Statement(f"Balance sheet {on}", sections, result, "Result of the open year")


def _section(
    title: str,
    chart: Chart,
    kind: AccountType,
    currency: Currency,
    booked: Callable[[Account], Money],
) -> Section:
    lines = []
    for account in chart.of_type(kind):
        if account.currency == currency and (amount := booked(account)):
            lines.append((account, amount if kind.normal_sign > 0 else -amount))
    return Section(title, tuple(lines), total((amount for _, amount in lines), currency))
