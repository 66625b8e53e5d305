"""Journals in files: plain text, CSV and JSON, and bank statements coming in."""

from __future__ import annotations

from collections.abc import Iterable

from ledgerline.errors import LedgerlineError
from ledgerline.formats import csvfile, jsonfile, reader, writer
from ledgerline.journal.entry import Transaction

FORMATS = ("text", "csv", "json")


def dumps(transactions: Iterable[Transaction], name: str = "text") -> str:
    """`transactions` in one of the formats ``text``, ``csv`` and ``json``."""
    if name == "text":
        return writer.dump(transactions)
    if name == "csv":
        return csvfile.dump(transactions)
    if name == "json":
        return jsonfile.dump(transactions)
    raise LedgerlineError(f"no format {name!r}; there are {', '.join(FORMATS)}")


def loads(text: str, name: str = "text") -> list[Transaction]:
    """The transactions in a text of one of the formats.

    Raises:
        ParseError: the text is not in that format; the message names the line.
    """
    if name == "text":
        return reader.parse(text)
    if name == "csv":
        return csvfile.parse(text)
    if name == "json":
        return jsonfile.parse(text)
    raise LedgerlineError(f"no format {name!r}; there are {', '.join(FORMATS)}")


__all__ = ["FORMATS", "dumps", "loads"]
