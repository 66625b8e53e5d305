"""The ledger: what has been posted, in order."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from datetime import date

from ledgerline.accounts import Chart
from ledgerline.errors import ClosedPeriod, CurrencyMismatch
from ledgerline.journal.entry import Entry, Transaction
from ledgerline.money.amount import Money, total


class Ledger:
    """Posted transactions over a chart of accounts.

    Transactions are numbered from 1 in the order of posting and never change afterwards; a mistake is
    corrected by posting a reversal.
    """

    def __init__(self, chart: Chart, transactions: Iterable[Transaction] = ()) -> None:
        self.chart = chart
        self._posted: list[Transaction] = []
        self._locked_until: date | None = None
        for transaction in transactions:
            self.post(transaction)

    @property
    def locked_until(self) -> date | None:
        """The last day that takes no more postings, or None."""
        return self._locked_until

    def lock(self, until: date) -> None:
        """Take no more postings up to and including `until`. A lock never moves backwards."""
        if self._locked_until is None or until > self._locked_until:
            self._locked_until = until

    def check(self, transaction: Transaction) -> None:
        """Raise what `post` would raise, and post nothing."""
        if self._locked_until is not None and transaction.date <= self._locked_until:
            raise ClosedPeriod(f"{transaction.date} lies in a closed period (to {self._locked_until})")
        for entry in transaction.entries:
            account = self.chart.get(entry.account)
            if account.currency != entry.amount.currency:
                raise CurrencyMismatch(account.currency.code, entry.amount.currency.code)

    def post(self, transaction: Transaction) -> Transaction:
        """Post `transaction` and return it with its number.

        Raises:
            ClosedPeriod: the date lies in a locked period.
            UnknownAccount: an entry names an account that the chart does not have.
            CurrencyMismatch: an entry is not in the currency of its account.
        """
        self.check(transaction)
        numbered = dataclasses.replace(transaction, number=len(self._posted) + 1)
        self._posted.append(numbered)
        return numbered

    def post_all(self, transactions: Iterable[Transaction]) -> list[Transaction]:
        """Post all or none of `transactions`."""
        waiting = list(transactions)
        for transaction in waiting:
            self.check(transaction)
        return [self.post(transaction) for transaction in waiting]

    def transactions(self, since: date | None = None, until: date | None = None) -> Iterator[Transaction]:
        """Transactions from `since` to `until`, both inclusive, by date and number."""
        for transaction in sorted(self._posted, key=lambda t: (t.date, t.number)):
            if (since is None or transaction.date >= since) and (until is None or transaction.date <= until):
                yield transaction

    def entries(
        self,
        account: str,
        since: date | None = None,
        until: date | None = None,
        *,
        closing: bool = True,
    ) -> list[Entry]:
        """Entries on one account, in order; without those of closing transactions if asked."""
        self.chart.get(account)
        return [
            entry
            for transaction in self.transactions(since, until)
            if closing or not transaction.closing
            for entry in transaction.entries
            if entry.account == account
        ]

    def balance(
        self,
        account: str,
        since: date | None = None,
        until: date | None = None,
        *,
        closing: bool = True,
    ) -> Money:
        """Sum of the entries on one account: positive when the debits are larger."""
        booked = self.entries(account, since, until, closing=closing)
        return total((entry.amount for entry in booked), self.chart.get(account).currency)

    def __len__(self) -> int:
        return len(self._posted)

    def __iter__(self) -> Iterator[Transaction]:
        return iter(tuple(self._posted))
