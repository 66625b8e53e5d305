"""Writing the plain-text journal. The format is described in docs/text-format.md."""

from __future__ import annotations

from collections.abc import Iterable

from ledgerline.formats.lexer import NOTE
from ledgerline.journal.entry import Entry, Transaction
from ledgerline.money.text import PLAIN, format_money

TITLE = f"{NOTE} ledgerline journal"
INDENT = "    "


def dump(transactions: Iterable[Transaction]) -> str:
    """`transactions` as a plain-text journal, in the order given.

    Closing transactions are left out: whoever reads the journal closes the year anew.
    """
    blocks = [TITLE]
    blocks += [dump_transaction(transaction) for transaction in transactions if not transaction.closing]
    return "\n\n".join(blocks) + "\n"


def dump_transaction(transaction: Transaction) -> str:
    """One transaction: its header and its entries, without a line end after the last."""
    lines = [_header(transaction)]
    lines += [INDENT + _entry(entry) for entry in transaction.entries]
    return "\n".join(lines)


def _header(transaction: Transaction) -> str:
    head = f"{transaction.date.isoformat()} #{transaction.number} {transaction.description}"
    return _with_note(head, transaction.reference, gap=" ")


def _entry(entry: Entry) -> str:
    text = f"{entry.account}  {format_money(entry.amount, PLAIN)}"
    if entry.tax_code:
        text += f" [{entry.tax_code}]"
    return _with_note(text, entry.memo, gap="  ")


def _with_note(text: str, note: str, gap: str) -> str:
    return f"{text}{gap}{NOTE} {note}" if note else text
