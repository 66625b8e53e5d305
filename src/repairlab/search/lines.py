"""The lines of a corpus that hold a text: all that a pattern has to look at whose every match holds it.

In a large corpus most time of a scan goes into the other lines. They are left out first, by comparing all
bytes with the two rarest neighbours of the text.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_SAMPLE = 2**16
_STRIDE = 2**18
"""Bytes compared at once: small enough for a processor's cache."""

Bytes = NDArray[np.uint8]
Numbers = NDArray[np.uint32]
Offsets = NDArray[np.int64]


class Lines(NamedTuple):
    """Some lines of a corpus, in its order.

    Attributes:
        files: file of each line, shape (lines,).
        text: the lines, each with a newline, one behind the other.
        begins: where in `text` each line begins, shape (lines,).
    """

    files: Offsets
    text: bytes
    begins: Offsets


def places_of(text: bytes, buffer: Bytes) -> Offsets:
    """Every offset at which `text` (not empty) stands, ascending."""
    sample = buffer[:_SAMPLE].tobytes()
    pairs = [text[place : place + 2] for place in range(max(1, len(text) - 1))]
    rare = min(range(len(pairs)), key=lambda place: sample.count(pairs[place]))
    places = _starts_of(pairs[rare], buffer[: len(buffer) - (len(text) - rare - len(pairs[rare]))]) - rare
    places = places[places >= 0]
    for place, byte in enumerate(text):
        if not rare <= place < rare + 2:
            places = places[buffer[places + place] == byte]
    return places


def _starts_of(pair: bytes, buffer: Bytes) -> Offsets:
    """Offsets of one or two bytes."""
    found = [np.zeros(0, np.int64)]
    for begin in range(0, len(buffer), _STRIDE):
        here = buffer[begin : begin + _STRIDE] == pair[0]
        if len(pair) == 2:
            behind = buffer[begin + 1 : begin + 1 + _STRIDE] == pair[1]
            here = here[: len(behind)] & behind
        found.append(np.flatnonzero(here) + begin)
    return np.concatenate(found)


def lines_around(places: Offsets, buffer: Bytes, newlines: Numbers, starts: Numbers) -> Lines:
    """The distinct lines that hold these places.

    Args:
        places: offsets in the buffer, ascending, of bytes that are no newline.
        buffer: files, each with one byte behind it that no file holds.
        newlines: offset of every newline, ascending.
        starts: where each file begins, and the end of the buffer.
    """
    behind = np.searchsorted(newlines, places)
    files = np.searchsorted(starts, places, "right") - 1
    fresh = np.ones(len(places), np.bool_)
    fresh[1:] = (behind[1:] != behind[:-1]) | (files[1:] != files[:-1])
    behind, files = behind[fresh], files[fresh]
    padded = np.concatenate(([-1], newlines, starts[-1:])).astype(np.int64)
    first = np.maximum(padded[behind] + 1, starts[files])
    last = np.minimum(padded[behind + 1], starts[files + 1].astype(np.int64) - 1)
    ends = np.cumsum(last - first + 1)  # the byte behind each line is taken along
    begins = np.concatenate(([0], ends[:-1])) if len(ends) else ends
    shift = np.repeat(first - begins, last - first + 1)
    text = buffer[shift + np.arange(len(shift))]
    text[ends - 1] = 0x0A  # behind the last line of a file may stand what ends the file
    return Lines(files, text.tobytes(), begins)
