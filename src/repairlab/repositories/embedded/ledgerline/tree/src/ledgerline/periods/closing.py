"""Closing a fiscal year."""

from __future__ import annotations

from ledgerline.accounts import AccountType
from ledgerline.errors import ClosedPeriod, LedgerlineError
from ledgerline.journal.entry import Entry, Transaction
from ledgerline.journal.ledger import Ledger
from ledgerline.money.amount import Money, total
from ledgerline.periods.calendar import Period


def close(ledger: Ledger, period: Period, retained_earnings: str = "3000") -> Transaction | None:
    """Close `period`: bring income and expenses to zero, book the result as equity, lock the period.

    Returns:
        The posted closing transaction, or None when there was nothing to close (the period is locked all
        the same).

    Raises:
        ClosedPeriod: the last day of the period is locked already.
        LedgerlineError: `retained_earnings` is no equity account, or currencies are mixed.
    """
    if ledger.locked_until is not None and period.end <= ledger.locked_until:
        raise ClosedPeriod(f"{period.label or period.end} is closed already")
    equity = ledger.chart.get(retained_earnings)
    if equity.type is not AccountType.EQUITY:
        raise LedgerlineError(f"account {equity.code} is no equity account")
    entries = _clearing_entries(ledger, period)
    posted = None
    if entries:
        cleared = total((entry.amount for entry in entries), equity.currency)
        posted = ledger.post(
            Transaction(
                date=period.end,
                description=f"Closing of {period.label or period.end}",
                entries=(*entries, Entry(equity.code, -cleared)),
                closing=True,
            )
        )
    ledger.lock(period.end)
    return posted


def result(ledger: Ledger, period: Period) -> dict[str, Money]:
    """Profit (positive) or loss of `period` for each currency code, whether or not it is closed."""
    sums: dict[str, Money] = {}
    for account in ledger.chart.of_type(AccountType.INCOME, AccountType.EXPENSE):
        booked = ledger.balance(account.code, period.start, period.end, closing=False)
        code = account.currency.code
        sums[code] = sums.get(code, Money.zero(account.currency)) - booked
    return sums


def _clearing_entries(ledger: Ledger, period: Period) -> list[Entry]:
    """Entries that bring every income and expense account to zero at the end of `period`."""
    entries = []
    for account in ledger.chart.of_type(AccountType.INCOME, AccountType.EXPENSE):
        booked = ledger.balance(account.code, until=period.end)
        if booked:
            entries.append(Entry(account.code, -booked))
    return entries
