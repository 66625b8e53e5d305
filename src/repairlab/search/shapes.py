r"""Patterns that are a few bytes in a row: ``def \w+``, ``\breturn\b``, ``(?i)error``, a text.

Which lines match is all that a search asks, so a repetition at either end of a pattern counts by its least
number alone: ``\w+ = \w+`` matches on the same lines as ``\w = \w``. What is left of many patterns is of one
length, and can be looked for in all bytes of a corpus at once. Any other pattern has no shape here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from repairlab.search.words import is_word_byte

_TOKEN = re.compile(r"(?P<atom>\\[^0-9A-Za-z\0\n]|\\[wdsbB]|[^\\()\[\]{}|*+?\0\n])(?P<repeat>[*+?]\??)?")
_NO_TEXT = frozenset(b"\0\n")
"""Bytes that end a line or a file."""
_ASCII = frozenset(range(128)) - _NO_TEXT
_CLASSES = {
    r"\w": frozenset(filter(is_word_byte, range(128))),
    r"\d": frozenset(b"0123456789"),
    r"\s": frozenset(b"\t\f\r "),
    ".": _ASCII,
}
_FOLDED_BEYOND_ASCII = frozenset(("K", "S", "k", "s", r"\w"))
"""What matches letters outside ASCII where case does not count: the Kelvin sign, the long s."""
_CASE = 0x20
"""The bit by which capital letters differ from small ones in ASCII."""
_MAY_BE_ABSENT = ("*", "?")


class Edge(Enum):
    """What must hold between two bytes."""

    WORD = r"\b"
    """A word byte stands on one side alone."""
    NO_WORD = r"\B"
    """On both sides or on none."""
    BEGIN = "^"
    """A line begins."""
    END = "$"
    """A line ends."""


_EDGES = {edge.value: edge for edge in Edge}


@dataclass(frozen=True, slots=True)
class Shape:
    """Bytes in a row.

    Attributes:
        sets: for each byte, which ones may stand there, never a newline or a NUL. At least one is a
            `comparison`, or it is `any_character`.
        edges: before which byte (the number of bytes: behind the last) something must hold.
        ascii_alone: the shape tells nothing about a file with a byte outside ASCII.
    """

    sets: tuple[frozenset[int], ...]
    edges: tuple[tuple[int, Edge], ...] = ()
    ascii_alone: bool = False

    @property
    def any_character(self) -> bool:
        """Whether all lines match that are not empty."""
        return self.sets == (_ASCII,) and not self.edges


class Comparison(NamedTuple):
    """A byte is in a set if ``byte | mask == value``."""

    mask: int
    value: int


def comparison(allowed: frozenset[int]) -> Comparison | None:
    """How to tell the bytes of a set, if it is one byte or one letter in both cases."""
    if len(allowed) == 1:
        return Comparison(0, min(allowed))
    small = max(allowed)
    if len(allowed) == 2 and small & _CASE and min(allowed) == small ^ _CASE:
        return Comparison(_CASE, small)
    return None


def text_shape(text: bytes, *, alone_before: bool, alone_behind: bool) -> Shape | None:
    """A text; `alone_*` requires that no word byte stands beside the word byte at that end."""
    if _NO_TEXT & frozenset(text) or not text:
        return None
    alone = alone_before or alone_behind
    if alone and not text.isascii():
        return None
    edges = [(0, Edge.WORD)] * alone_before + [(len(text), Edge.WORD)] * alone_behind
    # Whether a character outside ASCII belongs to an identifier, its bytes do not tell.
    return Shape(tuple(frozenset((byte,)) for byte in text), tuple(edges), ascii_alone=alone)


def pattern_shape(pattern: str) -> Shape | None:
    """The shape of a regular expression that RE2 accepts, None if it has none that is understood here."""
    folds_case = pattern.startswith("(?i)")
    atoms = _atoms(pattern.removeprefix("(?i)"))
    sets: list[frozenset[int]] = []
    edges: list[tuple[int, Edge]] = []
    for atom in atoms:
        if atom in _EDGES:
            edges.append((len(sets), _EDGES[atom]))
        elif atom in _CLASSES:
            sets.append(_CLASSES[atom])
        elif not folds_case:
            sets += (frozenset((byte,)) for byte in atom[-1].encode())
        elif atom.isascii():
            sets.append(frozenset((atom[-1].lower() + atom[-1].upper()).encode()))
        else:
            return None
    beyond = _ASCII in sets or (folds_case and not _FOLDED_BEYOND_ASCII.isdisjoint(atoms))
    shape = Shape(tuple(sets), tuple(edges), ascii_alone=beyond)
    return shape if shape.any_character or any(map(comparison, sets)) else None


def _atoms(pattern: str) -> list[str]:
    """The atoms of a pattern that repeats none but at its ends, as often as each must stand there.

    Empty where there are none, or something else stands between them.
    """
    tokens: list[tuple[str, str]] = []
    place = 0
    while place < len(pattern):
        read = _TOKEN.match(pattern, place)
        if read is None:
            return []
        tokens.append((read["atom"], (read["repeat"] or "")[:1]))
        place = read.end()
    if any(repeat and atom in _EDGES for atom, repeat in tokens):
        return []
    while tokens and tokens[0][1] in _MAY_BE_ABSENT:
        del tokens[0]
    while tokens and tokens[-1][1] in _MAY_BE_ABSENT:
        del tokens[-1]
    return [] if any(repeat for _, repeat in tokens[1:-1]) else [atom for atom, _ in tokens]
