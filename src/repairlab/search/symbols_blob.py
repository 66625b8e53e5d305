"""What is stored of the symbols of one file: rows of numbers over a table of its texts.

Lines count from 1, bytes from 0; a text is given by its index, `NONE` for none. Light on imports: worker
processes load this and the parser, nothing else.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import chain
from typing import NamedTuple

NONE = -1
UNKNOWN = "?"
"""The receiver of a member whose expression is no dotted name."""

_HEADER = struct.Struct("<IIIiI")


class Kind(IntEnum):
    """What a definition is. The order of names is of no meaning, the numbers are stored."""

    FUNCTION = 0
    METHOD = 1
    TYPE = 2
    CONSTANT = 3
    VARIABLE = 4


class Use(IntEnum):
    """How a reference uses its name."""

    CALL = 0
    BASE = 1
    TYPE = 2


class Definition(NamedTuple):
    """A definition.

    Attributes:
        name: text, in NFKC.
        owner: text, the dotted names of what it stands in (Go methods: their type); `NONE` at the top.
        receiver: text, the variable that a Go method calls its receiver; `NONE` if it has none.
        kind: a `Kind`.
        enclosing: index of the function or type around it in this file, `NONE` at the top.
        start, end: bytes of the whole definition, the end excluded.
        place: byte where the name begins.
        first, last: lines of the whole definition.
        line: where the name stands.
        recovered: 1 if it was read off a line that the parser could not place.
    """

    name: int
    owner: int
    receiver: int
    kind: int
    enclosing: int
    start: int
    end: int
    place: int
    first: int
    last: int
    line: int
    recovered: int


class Reference(NamedTuple):
    """A use of a name.

    Attributes:
        name: text, in NFKC.
        receiver: text of what stands before the dot, `UNKNOWN` if no dotted name; `NONE` for a plain name.
        use: a `Use`.
        enclosing: index of the innermost function or type around it in this file, `NONE` at the top.
        place: byte where the name begins.
        line: where it stands.
    """

    name: int
    receiver: int
    use: int
    enclosing: int
    place: int
    line: int


class Import(NamedTuple):
    """A name that a file takes from elsewhere.

    Attributes:
        module: text, the dotted module without leading dots, or the path of a Go package.
        last: text, the last component of that.
        name: text, what is taken from the module, ``*`` for all; `NONE` for the module itself.
        alias: text, the name it gets here; `NONE` if the source gives none.
        level: leading dots of a relative import.
        line: where it stands.
    """

    module: int
    last: int
    name: int
    alias: int
    level: int
    line: int


@dataclass(frozen=True, slots=True)
class FileSymbols:
    """The symbols of one file.

    Attributes:
        texts: what the rows refer to, distinct.
        package: text of the Go package clause, `NONE` where there is none.
        errors: whether the parser found errors.
        definitions: by start, the longer one first.
        references: by place.
        imports: by place.
    """

    texts: Sequence[str]
    package: int
    errors: bool
    definitions: Sequence[Definition]
    references: Sequence[Reference]
    imports: Sequence[Import]


class Columns(NamedTuple):
    """A stored file, its rows still in one run of 32-bit numbers each (row after row)."""

    texts: list[str]
    package: int
    errors: bool
    definitions: memoryview
    references: memoryview
    imports: memoryview


def pack(symbols: FileSymbols) -> bytes:
    """The stored form."""
    rows: tuple[Sequence[Iterable[int]], ...] = (symbols.definitions, symbols.references, symbols.imports)
    numbers = array("i", chain.from_iterable(chain.from_iterable(rows)))
    header = _HEADER.pack(*map(len, rows), symbols.package, symbols.errors)
    return header + numbers.tobytes() + "\0".join(symbols.texts).encode()


def unpack(value: memoryview) -> Columns:
    """What `pack` stored."""
    *counts, package, errors = _HEADER.unpack_from(value)
    views: list[memoryview] = []
    place = _HEADER.size
    widths = (len(Definition._fields), len(Reference._fields), len(Import._fields))
    for count, width in zip(counts, widths, strict=True):
        views.append(value[place : place + 4 * count * width])
        place += 4 * count * width
    text = str(value[place:], "utf-8")
    return Columns(text.split("\0") if text else [], package, bool(errors), *views)
