"""Entries and transactions."""

from __future__ import annotations

import dataclasses
import datetime as dt
from dataclasses import dataclass

from ledgerline.errors import UnbalancedTransaction
from ledgerline.money.amount import Money


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a transaction: an account and what is booked on it.

    Attributes:
        amount: positive for a debit, negative for a credit.
        memo: a note on this line alone.
        tax_code: the tax rate that this line belongs to, or an empty text.
    """

    account: str
    amount: Money
    memo: str = ""
    tax_code: str = ""

    def reversed(self) -> Entry:
        """The same line with debit and credit exchanged."""
        return dataclasses.replace(self, amount=-self.amount)


def debit(account: str, amount: Money, memo: str = "", tax_code: str = "") -> Entry:
    """`amount` on the debit side of `account`."""
    return Entry(account, amount, memo, tax_code)


def credit(account: str, amount: Money, memo: str = "", tax_code: str = "") -> Entry:
    """`amount` on the credit side of `account`."""
    return Entry(account, -amount, memo, tax_code)


@dataclass(frozen=True, slots=True)
class Transaction:
    """A business event: entries that balance.

    Attributes:
        reference: the voucher or document behind it.
        number: running number in the ledger; 0 until the transaction is posted.
        closing: True for the transaction that closes a fiscal year.

    Raises:
        ValueError: no description, or fewer than two entries.
        UnbalancedTransaction: the entries do not add up to zero in every currency.
    """

    date: dt.date
    description: str
    entries: tuple[Entry, ...]
    reference: str = ""
    number: int = 0
    closing: bool = False

    def __post_init__(self) -> None:
        if not self.description.strip():
            raise ValueError("a transaction needs a description")
        if len(self.entries) < 2:
            raise ValueError("a transaction needs two entries at least")
        for code, rest in sorted(self.balance().items()):
            if rest:
                raise UnbalancedTransaction(f"{self.description!r} is off by {rest} in {code}")

    def balance(self) -> dict[str, Money]:
        """Sum of all entries for each currency code; all zero in a valid transaction."""
        sums: dict[str, Money] = {}
        for entry in self.entries:
            currency = entry.amount.currency
            sums[currency.code] = sums.get(currency.code, Money.zero(currency)) + entry.amount
        return sums

    def total(self) -> dict[str, Money]:
        """Sum of the debits for each currency code: the size of the transaction."""
        sums: dict[str, Money] = {}
        for entry in self.entries:
            currency = entry.amount.currency
            start = sums.get(currency.code, Money.zero(currency))
            sums[currency.code] = start + entry.amount if entry.amount.minor > 0 else start
        return sums

    def accounts(self) -> list[str]:
        """Codes of the accounts that are touched, sorted, each once."""
        return sorted({entry.account for entry in self.entries})

    def reversal(self, on: dt.date) -> Transaction:
        """A new transaction that takes this one back on another day."""
        return Transaction(
            date=on,
            description=f"Reversal of {self.description}",
            entries=tuple(entry.reversed() for entry in self.entries),
            reference=self.reference,
        )
