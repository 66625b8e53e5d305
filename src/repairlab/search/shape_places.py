"""Where a shape stands in the bytes of a corpus, and how many lines of each file hold it.

All bytes are compared with the two rarest neighbours that the shape names; what is left is looked at in full.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from repairlab.search.lines import Bytes, Numbers, Offsets
from repairlab.search.shapes import Comparison, Edge, Shape, comparison
from repairlab.search.words import is_word_byte

_SAMPLE = 2**16
_STRIDE = 2**18
"""Bytes compared at once: small enough for a processor's cache."""
LINE_ENDS = np.isin(np.arange(256), (0x00, 0x0A))
"""Whether a byte ends a line or a file."""
_WORD = np.array([is_word_byte(byte) for byte in range(256)])

Flags = NDArray[np.bool_]


def shape_places(shape: Shape, buffer: Bytes) -> Offsets:
    """Every offset at which `shape` begins, ascending.

    Args:
        shape: some byte of it is known, see `repairlab.search.shapes.comparison`.
        buffer: files without a NUL, each with one NUL behind it.
    """
    first, pair = _rarest(shape, buffer[:_SAMPLE])
    places = _starts_of(pair, buffer) - first
    places = places[(places >= 0) & (places + len(shape.sets) <= len(buffer))]
    for number, allowed in enumerate(shape.sets):
        if not first <= number < first + len(pair):
            table = np.zeros(256, np.bool_)
            table[list(allowed)] = True
            places = places[table[buffer[places + number]]]
    for number, edge in shape.edges:
        # Before the first byte of the buffer is read its last one, a NUL, as before any other file.
        places = places[_holds(edge, buffer[places + number - 1], buffer[places + number])]
    return places


def text_places(text: bytes, buffer: Bytes) -> Offsets:
    """Every offset at which `text` (not empty) stands, ascending."""
    return shape_places(Shape(tuple(frozenset((byte,)) for byte in text)), buffer)


def _holds(edge: Edge, before: Bytes, behind: Bytes) -> Flags:
    if edge in (Edge.BEGIN, Edge.END):
        return LINE_ENDS[before if edge is Edge.BEGIN else behind]
    differ: Flags = _WORD[before] != _WORD[behind]
    return differ if edge is Edge.WORD else ~differ


def _rarest(shape: Shape, sample: Bytes) -> tuple[int, tuple[Comparison, ...]]:
    """The one or two neighbours that a sample holds least often, and where in the shape they stand."""
    known = [comparison(allowed) for allowed in shape.sets]
    runs = [
        (number, tuple(one for one in known[number : number + 2] if one is not None))
        for number, begins in enumerate(known)
        if begins is not None
    ]
    longest = max(len(run) for _, run in runs)
    return min(
        (item for item in runs if len(item[1]) == longest),
        key=lambda item: (len(_starts_of(item[1], sample)), item[0]),
    )


def _starts_of(pair: tuple[Comparison, ...], buffer: Bytes) -> Offsets:
    """Offsets at which one byte or two in a row pass their tests."""
    found = [np.zeros(0, np.int64)]
    for begin in range(0, len(buffer), _STRIDE):
        here = _passes(pair[0], buffer[begin : begin + _STRIDE])
        if len(pair) == 2:
            behind = _passes(pair[1], buffer[begin + 1 : begin + 1 + _STRIDE])
            here = here[: len(behind)] & behind
        found.append(np.flatnonzero(here) + begin)
    return np.concatenate(found)


def _passes(test: Comparison, data: Bytes) -> Flags:
    result: Flags = ((data | np.uint8(test.mask)) if test.mask else data) == test.value
    return result


def lines_by_file(places: Offsets, newlines: Numbers, starts: Numbers) -> Offsets:
    """Distinct lines of each file that hold one of these places.

    Args:
        places: offsets in the buffer, ascending, of bytes that end neither a line nor a file.
        newlines: offset of every newline, ascending.
        starts: where each file begins, and the end of the buffer.
    """
    behind = np.searchsorted(newlines, places.astype(np.uint32))
    cuts = np.searchsorted(places, starts)
    fresh = np.ones(len(places), np.bool_)
    fresh[1:] = behind[1:] != behind[:-1]
    fresh[cuts[cuts < len(places)]] = True  # the last line of a file may have no newline
    counts: Offsets = np.diff(np.concatenate(([0], np.cumsum(fresh)))[cuts])
    return counts


def filled_lines_by_file(buffer: Bytes, newlines: Numbers, starts: Numbers) -> Offsets:
    """Lines of each file that are not empty; arguments as in `lines_by_file`."""
    if not len(buffer):
        return np.zeros(0, np.int64)
    filled = ~LINE_ENDS[buffer[newlines.astype(np.int64) - 1]]
    cuts = np.searchsorted(newlines, starts)
    counts: Offsets = np.diff(np.concatenate(([0], np.cumsum(filled)))[cuts])
    # What stands behind the last newline of a file is a line of its own.
    return counts + ~LINE_ENDS[buffer[starts[1:].astype(np.int64) - 2]]
