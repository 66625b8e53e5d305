"""Journals and whole books as JSON, for programs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any

from ledgerline.accounts import Account, AccountType, Chart
from ledgerline.errors import LedgerlineError, ParseError
from ledgerline.journal.entry import Entry, Transaction
from ledgerline.journal.ledger import Ledger
from ledgerline.money.amount import Money
from ledgerline.money.currency import lookup

VERSION = 1


def dump(transactions: Iterable[Transaction]) -> str:
    """`transactions` as a JSON array, one object each."""
    return json.dumps([_transaction_out(t) for t in transactions], indent=2, ensure_ascii=False) + "\n"


def parse(text: str) -> list[Transaction]:
    """The transactions of a JSON array written by `dump`; raises ParseError."""
    data = _decode(text)
    if not isinstance(data, list):
        raise ParseError("expected a list of transactions")
    return [_transaction_in(item) for item in data]


def dump_book(ledger: Ledger) -> str:
    """A whole book: its chart of accounts, its transactions and how far it is locked."""
    book = {
        "version": VERSION,
        "accounts": [
            {
                "code": account.code,
                "name": account.name,
                "type": account.type.value,
                "currency": account.currency.code,
                "parent": account.parent,
            }
            for account in ledger.chart
        ],
        "transactions": [_transaction_out(transaction) for transaction in ledger],
        "locked_until": ledger.locked_until.isoformat() if ledger.locked_until else None,
    }
    return json.dumps(book, indent=2, ensure_ascii=False) + "\n"


def parse_book(text: str) -> Ledger:
    """The book that `dump_book` has written; raises ParseError."""
    data = _decode(text)
    if not isinstance(data, dict) or data.get("version") != VERSION:
        raise ParseError(f"not a book of version {VERSION}")
    try:
        chart = Chart(_account_in(item) for item in data["accounts"])
        ledger = Ledger(chart, [_transaction_in(item) for item in data["transactions"]])
        if data["locked_until"] is not None:
            ledger.lock(date.fromisoformat(data["locked_until"]))
    except (KeyError, TypeError, ValueError) as error:
        raise ParseError(f"damaged book: {error}") from error
    return ledger


def _decode(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise ParseError(error.msg, error.lineno) from error


def _account_in(item: Mapping[str, Any]) -> Account:
    kind = AccountType(item["type"])
    return Account(item["code"], item["name"], kind, lookup(item["currency"]), item.get("parent", ""))


def _transaction_out(transaction: Transaction) -> dict[str, Any]:
    return {
        "number": transaction.number,
        "date": transaction.date.isoformat(),
        "description": transaction.description,
        "reference": transaction.reference,
        "closing": transaction.closing,
        "entries": [
            {
                "account": entry.account,
                "amount": str(entry.amount.decimal()),
                "currency": entry.amount.currency.code,
                "memo": entry.memo,
                "tax_code": entry.tax_code,
            }
            for entry in transaction.entries
        ],
    }


def _transaction_in(item: Mapping[str, Any]) -> Transaction:
    try:
        return Transaction(
            date=date.fromisoformat(item["date"]),
            description=item["description"],
            entries=tuple(_entry_in(entry) for entry in item["entries"]),
            reference=item.get("reference", ""),
            number=item.get("number", 0),
            closing=item.get("closing", False),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise ParseError(f"damaged transaction: {error!r}") from error
    except LedgerlineError as error:
        raise ParseError(str(error)) from error


def _entry_in(item: Mapping[str, Any]) -> Entry:
    amount = Money.of(item["amount"], lookup(item["currency"]))
    return Entry(item["account"], amount, memo=item.get("memo", ""), tax_code=item.get("tax_code", ""))
