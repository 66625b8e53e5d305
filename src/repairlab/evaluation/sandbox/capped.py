"""A bounded record of an unbounded stream."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Capped:
    """Head and tail of a stream, at most `cap` bytes together; the middle is counted and dropped."""

    cap: int
    head: bytearray = field(default_factory=bytearray)
    tail: bytearray = field(default_factory=bytearray)
    dropped: int = 0

    def add(self, data: bytes) -> None:
        """Take the next bytes of the stream."""
        room = max(self.cap // 2 - len(self.head), 0)
        self.head += data[:room]
        self.tail += data[room:]
        surplus = len(self.tail) - (self.cap - self.cap // 2)
        if surplus > 0:
            del self.tail[:surplus]
            self.dropped += surplus
