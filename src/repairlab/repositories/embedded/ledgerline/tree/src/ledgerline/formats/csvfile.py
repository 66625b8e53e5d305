"""Journals as CSV: one row for each entry, for spreadsheets."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from datetime import date
from itertools import groupby

from ledgerline.errors import LedgerlineError, ParseError
from ledgerline.journal.entry import Entry, Transaction
from ledgerline.money.amount import Money
from ledgerline.money.currency import lookup

COLUMNS = (
    "number",
    "date",
    "description",
    "reference",
    "account",
    "amount",
    "currency",
    "tax_code",
    "memo",
)

_Row = dict[str, str]


def dump(transactions: Iterable[Transaction]) -> str:
    """`transactions` as CSV with a header. Rows of one transaction stand together.

    Transactions that have no number yet are numbered here, after the highest number in use.
    """
    waiting = [transaction for transaction in transactions if not transaction.closing]
    fresh = max((transaction.number for transaction in waiting), default=0)
    stream = io.StringIO()
    rows = csv.writer(stream, lineterminator="\n")
    rows.writerow(COLUMNS)
    for transaction in waiting:
        number = transaction.number
        if not number:
            fresh += 1
            number = fresh
        for entry in transaction.entries:
            rows.writerow(_row(number, transaction, entry))
    return stream.getvalue()


def parse(text: str) -> list[Transaction]:
    """The transactions of a CSV file written by `dump`.

    Raises:
        ParseError: another header, a value that does not fit, or a transaction that does not balance.
    """
    rows = csv.DictReader(io.StringIO(text, newline=""))
    if tuple(rows.fieldnames or ()) != COLUMNS:
        raise ParseError(f"expected the columns {', '.join(COLUMNS)}", 1)
    return [
        _transaction(list(group)) for _, group in groupby(_numbered(rows), key=lambda pair: pair[1]["number"])
    ]


def _numbered(rows: csv.DictReader[str]) -> Iterator[tuple[int, _Row]]:
    for row in rows:
        if None in row or None in row.values():
            raise ParseError(f"expected {len(COLUMNS)} values", rows.line_num)
        yield rows.line_num, row


def _row(number: int, transaction: Transaction, entry: Entry) -> list[str]:
    return [
        str(number),
        transaction.date.isoformat(),
        transaction.description,
        transaction.reference,
        entry.account,
        str(entry.amount.decimal()),
        entry.amount.currency.code,
        entry.tax_code,
        entry.memo,
    ]


def _transaction(rows: list[tuple[int, _Row]]) -> Transaction:
    line, first = rows[0]
    try:
        return Transaction(
            date=date.fromisoformat(first["date"]),
            description=first["description"],
            entries=tuple(_entry(row) for _, row in rows),
            reference=first["reference"],
            number=int(first["number"]),
        )
    except (LedgerlineError, ValueError) as error:
        raise ParseError(str(error), line) from error


def _entry(row: _Row) -> Entry:
    amount = Money.of(row["amount"], lookup(row["currency"]))
    return Entry(row["account"], amount, memo=row["memo"], tax_code=row["tax_code"])
