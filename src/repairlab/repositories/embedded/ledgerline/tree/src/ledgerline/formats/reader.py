"""Reading the plain-text journal. The format is described in docs/text-format.md."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date

from ledgerline.errors import LedgerlineError, ParseError
from ledgerline.formats.lexer import Kind, Line, lex
from ledgerline.journal.entry import Entry, Transaction
from ledgerline.money.text import parse as parse_money


@dataclass(slots=True)
class _Draft:
    """A transaction while its entries are being read."""

    line: int
    date: date
    number: int
    description: str
    reference: str
    entries: list[Entry] = field(default_factory=list)

    def finish(self) -> Transaction:
        try:
            return Transaction(
                date=self.date,
                description=self.description,
                entries=tuple(self.entries),
                reference=self.reference,
                number=self.number,
            )
        except (LedgerlineError, ValueError) as error:
            raise ParseError(str(error), self.line) from error


def parse(text: str) -> list[Transaction]:
    """The transactions of a plain-text journal, in the order of the file.

    Raises:
        ParseError: a line is not in the expected form, or a transaction does not balance.
    """
    return list(_transactions(text))


def _transactions(text: str) -> Iterator[Transaction]:
    draft: _Draft | None = None
    for line in lex(text):
        if line.kind is Kind.HEADER:
            if draft is not None:
                yield draft.finish()
            draft = _parse_header(line)
        elif draft is None:
            raise ParseError("an entry stands before the first transaction", line.number)
        else:
            draft.entries.append(_parse_entry(line))
    if draft is not None:
        yield draft.finish()


def _parse_header(line: Line) -> _Draft:
    """Read ``DATE #NUMBER DESCRIPTION ; REFERENCE``."""
    parts = line.body.split(maxsplit=2)
    if len(parts) < 3 or not parts[1].startswith("#") or not parts[1][1:].isdigit():
        raise ParseError("expected a date, a number such as #12 and a description", line.number)
    try:
        day = date.fromisoformat(parts[0])
    except ValueError:
        raise ParseError(f"not a date: {parts[0]!r}", line.number) from None
    return _Draft(line.number, day, int(parts[1][1:]), parts[2], line.note)


def _parse_entry(line: Line) -> Entry:
    """Read ``ACCOUNT AMOUNT CURRENCY [TAX] ; MEMO``."""
    parts = line.body.split()
    if len(parts) not in (3, 4):
        raise ParseError("expected an account, an amount and a currency", line.number)
    tax_code = ""
    if len(parts) == 4:
        if not (parts[3].startswith("[") and parts[3].endswith("]")):
            raise ParseError(f"expected a tax code in brackets, got {parts[3]!r}", line.number)
        tax_code = parts[3][1:-1]
    try:
        amount = parse_money(f"{parts[1]} {parts[2]}")
    except LedgerlineError as error:
        raise ParseError(str(error), line.number) from error
    return Entry(parts[0], amount, memo=line.note, tax_code=tax_code)
