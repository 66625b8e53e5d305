"""The trial balance: every account with its debits, credits and balance."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from ledgerline.accounts import Account
from ledgerline.journal.ledger import Ledger
from ledgerline.money.amount import Money
from ledgerline.money.text import ENGLISH, format_money
from ledgerline.reports.table import render


@dataclass(frozen=True, slots=True)
class Row:
    """One account: sums of both sides, both positive."""

    account: Account
    debits: Money
    credits: Money

    @property
    def balance(self) -> Money:
        """Debits less credits."""
        return self.debits - self.credits


@dataclass(frozen=True, slots=True)
class TrialBalance:
    """All accounts on which something has been booked, by code."""

    rows: tuple[Row, ...]

    def total(self) -> dict[str, tuple[Money, Money]]:
        """Sums of the debits and the credits for each currency code; the two are equal in sound books."""
        sums: dict[str, tuple[Money, Money]] = {}
        for row in self.rows:
            zero = Money.zero(row.account.currency)
            debits, credits = sums.get(row.account.currency.code, (zero, zero))
            sums[row.account.currency.code] = (debits + row.debits, credits + row.credits)
        return sums

    def balance(self, code: str) -> Money | None:
        """Balance of one account, or None when nothing has been booked on it."""
        for row in self.rows:
            if row.account.code == code:
                return row.balance
        return None

    def open_accounts(self) -> list[str]:
        """Codes of the accounts whose balance is not zero."""
        return [row.account.code for row in self.rows if row.balance]

    def render(self) -> str:
        """The report as a plain-text table."""
        rows = [
            [
                f"{row.account.code} {row.account.name}",
                format_money(row.debits, ENGLISH, code=False),
                format_money(row.credits, ENGLISH, code=False),
                format_money(row.balance, ENGLISH),
            ]
            for row in self.rows
        ]
        return render(["Account", "Debit", "Credit", "Balance"], rows)


def trial_balance(ledger: Ledger, since: date | None = None, until: date | None = None) -> TrialBalance:
    """The trial balance of the days from `since` to `until`, both inclusive."""
    rows = []
    for account in ledger.chart:
        entries = ledger.entries(account.code, since, until)
        debits = credits = Money.zero(account.currency)
        for entry in entries:
            if entry.amount.minor >= 0:
                debits = debits + entry.amount
            else:
                credits = credits - entry.amount
        if entries:
            rows.append(Row(account, debits, credits))
    return TrialBalance(tuple(rows))
