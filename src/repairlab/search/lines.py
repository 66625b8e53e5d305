"""The lines of a corpus that hold a text: all that a pattern has to look at whose every match holds it.

In a large corpus most time of a scan goes into the other lines: they are left out first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Numbers = NDArray[np.uint32]
Offsets = NDArray[np.int64]


class Lines(NamedTuple):
    """Some lines of a corpus, in its order.

    Attributes:
        files: file of each line, shape (lines,).
        numbers: of each line in its file, from 1, shape (lines,).
        text: the lines, each with a newline, one behind the other.
        begins: where in `text` each line begins, shape (lines,).
    """

    files: Offsets
    numbers: Offsets
    text: bytes
    begins: Offsets


def lines_around(places: Offsets, buffer: Bytes, newlines: Numbers, starts: Numbers) -> Lines:
    """The distinct lines that hold these places.

    Args:
        places: offsets in the buffer, ascending, of bytes that are no newline.
        buffer: files, each with one byte behind it that no file holds.
        newlines: offset of every newline, ascending.
        starts: where each file begins, and the end of the buffer.
    """
    behind = np.searchsorted(newlines, places.astype(np.uint32))
    cuts = np.searchsorted(places, starts)
    fresh = np.ones(len(places), np.bool_)
    fresh[1:] = behind[1:] != behind[:-1]
    fresh[cuts[cuts < len(places)]] = True  # the last line of a file may have no newline
    files = np.repeat(np.arange(len(starts) - 1), np.diff(cuts))[fresh]
    behind = behind[fresh]
    numbers = behind - np.searchsorted(newlines, starts[:-1])[files] + 1
    first = starts[files].astype(np.int64)
    later = numbers > 1
    first[later] = newlines[behind[later] - 1] + np.int64(1)
    last = starts[files + 1].astype(np.int64) - 1
    ended = behind < len(newlines)
    last[ended] = np.minimum(last[ended], newlines[behind[ended]])
    ends = np.cumsum(last - first + 1)  # the byte behind each line is taken along
    begins = np.concatenate(([0], ends))[:-1]
    steps = np.ones(ends[-1] if len(ends) else 0, np.int64)
    steps[begins] = np.diff(last, prepend=0) - (last - first)  # from the byte behind a line to the next
    text = buffer[np.cumsum(steps)]
    text[ends - 1] = 0x0A  # behind the last line of a file may stand what ends the file
    return Lines(files, numbers, text.tobytes(), begins)
