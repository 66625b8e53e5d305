"""Accounts and the chart of accounts."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ledgerline.errors import DuplicateAccount, UnknownAccount
from ledgerline.money.currency import Currency


class AccountType(enum.Enum):
    """The five kinds of accounts."""

    ASSET = "asset"
    LIABILITY = "liability"
    EQUITY = "equity"
    INCOME = "income"
    EXPENSE = "expense"

    @property
    def normal_sign(self) -> int:
        """+1 where a growing balance is a debit (assets, expenses), -1 where it is a credit."""
        return 1 if self in (AccountType.ASSET, AccountType.EXPENSE) else -1

    @property
    def is_temporary(self) -> bool:
        """True for the accounts that start every fiscal year at zero."""
        return self in (AccountType.INCOME, AccountType.EXPENSE)


@dataclass(frozen=True, slots=True)
class Account:
    """One account.

    Attributes:
        code: what entries refer to; digits by convention, any text without blanks in fact.
        currency: the only currency that may be booked here.
        parent: code of the account whose reports include this one, or an empty text.
    """

    code: str
    name: str
    type: AccountType
    currency: Currency
    parent: str = ""

    def __post_init__(self) -> None:
        if not self.code or any(character.isspace() for character in self.code):
            raise ValueError(f"an account code is a text without blanks, not {self.code!r}")


class Chart:
    """The chart of accounts: every account by its code."""

    def __init__(self, accounts: Iterable[Account] = ()) -> None:
        self._accounts: dict[str, Account] = {}
        for account in accounts:
            self.add(account)

    def add(self, account: Account) -> Account:
        """Take `account` in. Its parent must be there already."""
        if account.code in self._accounts:
            raise DuplicateAccount(f"account {account.code!r} exists already")
        if account.parent and account.parent not in self._accounts:
            raise UnknownAccount(account.parent)
        self._accounts[account.code] = account
        return account

    def get(self, code: str) -> Account:
        """The account with this code; raises UnknownAccount."""
        try:
            return self._accounts[code]
        except KeyError:
            raise UnknownAccount(code) from None

    def find(self, text: str) -> list[Account]:
        """Accounts whose code starts with `text` or whose name holds it, in any case."""
        wanted = text.casefold()
        return [a for a in self if a.code.startswith(text) or wanted in a.name.casefold()]

    def children(self, code: str) -> list[Account]:
        """Accounts directly below `code`."""
        self.get(code)
        return [account for account in self if account.parent == code]

    def subtree(self, code: str) -> list[Account]:
        """`code` itself and everything below it, parents before children."""
        found = [self.get(code)]
        for child in self.children(code):
            found.extend(self.subtree(child.code))
        return found

    def of_type(self, *types: AccountType) -> list[Account]:
        """Accounts of the given types, by code."""
        return [account for account in self if account.type in types]

    def __contains__(self, code: object) -> bool:
        return code in self._accounts

    def __iter__(self) -> Iterator[Account]:
        return iter(sorted(self._accounts.values(), key=lambda account: account.code))

    def __len__(self) -> int:
        return len(self._accounts)


_STANDARD = (
    ("1000", "Bank", AccountType.ASSET),
    ("1010", "Cash", AccountType.ASSET),
    ("1200", "Receivables", AccountType.ASSET),
    ("1400", "Prepaid expenses", AccountType.ASSET),
    ("1500", "Input tax", AccountType.ASSET),
    ("2000", "Payables", AccountType.LIABILITY),
    ("2200", "Output tax", AccountType.LIABILITY),
    ("2400", "Deferred income", AccountType.LIABILITY),
    ("3000", "Retained earnings", AccountType.EQUITY),
    ("4000", "Sales", AccountType.INCOME),
    ("4100", "Services", AccountType.INCOME),
    ("4200", "Licences", AccountType.INCOME),
    ("6000", "Materials", AccountType.EXPENSE),
    ("6100", "Rent", AccountType.EXPENSE),
    ("6200", "Insurance", AccountType.EXPENSE),
    ("6900", "Rounding differences", AccountType.EXPENSE),
)


def standard_chart(currency: Currency) -> Chart:
    """A chart that does for a small trading company, all accounts in one currency."""
    return Chart(Account(code, name, kind, currency) for code, name, kind in _STANDARD)
