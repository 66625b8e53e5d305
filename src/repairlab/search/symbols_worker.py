"""Parses files in a process of its own: ``python -m repairlab.search.symbols_worker LANGUAGE``.

Standard input and output hold a sequence of byte strings, each behind its length (8 bytes, little-endian):
the files, and the stored symbols of each in the same order. A process that loads only this module is at work
much sooner than one that `multiprocessing` starts, which would load the caller's main module first.
"""

from __future__ import annotations

import gc
import struct
import sys
from collections.abc import Iterable, Iterator

from repairlab.search.symbols_parse import Grammar, parse_packed

_LENGTH = struct.Struct("<Q")


def framed(pieces: Iterable[bytes]) -> bytes:
    """Byte strings as one."""
    return b"".join(part for piece in pieces for part in (_LENGTH.pack(len(piece)), piece))


def unframed(data: bytes) -> Iterator[bytes]:
    """The byte strings that `framed` joined.

    Raises:
        ValueError: the last one is cut short.
    """
    place = 0
    while place < len(data):
        if place + _LENGTH.size > len(data):
            raise ValueError("cut short")
        (size,) = _LENGTH.unpack_from(data, place)
        place += _LENGTH.size
        if place + size > len(data):
            raise ValueError("cut short")
        yield data[place : place + size]
        place += size


def main(arguments: list[str]) -> int:
    """Parse what stands on standard input; the exit status."""
    if arguments not in (["python"], ["go"]):
        return 2
    gc.disable()  # nothing here refers to itself in a circle: looking for circles only takes time
    grammar = Grammar("python" if arguments == ["python"] else "go")
    sys.stdout.buffer.write(framed(parse_packed(grammar, unframed(sys.stdin.buffer.read()))))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
