"""Lines of the plain-text journal, cut into what they are made of.

The lexer knows nothing about dates or amounts; see :mod:`ledgerline.formats.reader` for these.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass

NOTE = ";"


class Kind(enum.Enum):
    """What a line is."""

    HEADER = "header"
    ENTRY = "entry"


@dataclass(frozen=True, slots=True)
class Line:
    """A line that carries something.

    Attributes:
        number: its place in the file, from 1.
        body: what stands before the note, without blanks around it.
        note: what follows the semicolon, without blanks around it; often empty.
    """

    number: int
    kind: Kind
    body: str
    note: str


def split_note(line: str) -> tuple[str, str]:
    """Body and note of a line, both without blanks around them."""
    body, _, note = line.partition(NOTE)
    return body.strip(), note.strip()


def lex(text: str) -> Iterator[Line]:
    """All lines that carry something; comments and blank lines are left out."""
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip() or line.startswith(NOTE):
            continue
        kind = Kind.ENTRY if line[0] in " \t" else Kind.HEADER
        body, note = split_note(line)
        yield Line(number, kind, body, note)
