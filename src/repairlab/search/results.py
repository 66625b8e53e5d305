"""The one form in which every search tool answers, and its text for the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_ESCAPES = {
    0x07: "a",
    0x08: "b",
    0x09: "t",
    0x0A: "n",
    0x0B: "v",
    0x0C: "f",
    0x0D: "r",
    0x22: '"',
    0x5C: "\\",
}


@dataclass(frozen=True, slots=True)
class QueryError:
    """A query that cannot be searched for: an outcome of whoever asked, told in words it can act on."""

    reason: str


@dataclass(frozen=True, slots=True)
class Hit:
    """One file of an answer with the part of it that is shown.

    Attributes:
        path: relative path; bytes that are not UTF-8 as surrogate escapes.
        rank: place in the answer, from 1.
        start_line: number of the first shown line, from 1.
        lines: the shown lines as the model sees them: decoded, cut where too long, without newlines.
        matching_lines: numbers of those shown lines that match, ascending; empty for a tool without them.
        components: which component put the file at which rank (from 1), such as ``{"exact": 3}``.
    """

    path: str
    rank: int
    start_line: int
    lines: tuple[str, ...]
    matching_lines: tuple[int, ...]
    components: Mapping[str, int]


def render(hits: Sequence[Hit], *, summary: str) -> str:
    """The text of an answer: `summary`, then each file with numbered lines, ``>`` before the matching ones.

    Equal hits give equal text. Line feeds join the lines; a carriage return inside a line stays in it.
    """
    blocks = [summary]
    for hit in hits:
        last = hit.start_line + len(hit.lines) - 1
        width = len(str(last))
        marked = frozenset(hit.matching_lines)
        rows = [f"{hit.rank}. {quote_path(hit.path)} (lines {hit.start_line}-{last})"]
        for number, line in enumerate(hit.lines, start=hit.start_line):
            rows.append(f"{'>' if number in marked else ' '} {number:>{width}} | {line}")
        blocks.append("\n".join(rows))
    return "\n\n".join(blocks)


def show_line(line: bytes, characters: int) -> str:
    """`line` for display: decoded with U+FFFD for bytes that are not UTF-8, cut after `characters`.

    Byte-order marks and carriage returns are kept, since a diff has to repeat them.
    """
    text = line.decode("utf-8", "replace")
    dropped = len(text) - characters
    return f"{text[:characters]} [cut: {dropped} characters]" if dropped > 0 else text


def quote_path(path: str) -> str:
    """`path` as git shows it: as it is, or in quotes with escapes where a byte could be misread."""
    if path.isprintable() and '"' not in path and "\\" not in path:
        return path
    quoted = "".join(_quote_character(character) for character in path)
    return f'"{quoted}"'


def _quote_character(character: str) -> str:
    escape = _ESCAPES.get(ord(character))
    if escape is not None:
        return "\\" + escape
    if character.isprintable():
        return character
    return "".join(f"\\{byte:03o}" for byte in character.encode("utf-8", "surrogateescape"))
