"""Server-sent events, incrementally, from raw bytes.

Lines end at LF, CR LF or CR and nowhere else: U+2028 and its like are legal inside JSON text, and a decoder
that splits there loses what the model wrote.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_LINE_END = re.compile(rb"\r\n|\n|\r")


@dataclass(frozen=True, slots=True)
class Event:
    """One event; `name` is empty for the default type."""

    name: str
    data: str


class EventDecoder:
    """Feed it bytes as they come; it returns the events that they complete.

    Raises:
        UnicodeDecodeError: from `feed` and `end`, for a line that is not UTF-8.
    """

    def __init__(self) -> None:
        self._pending = bytearray()
        self._scanned = 0
        self._name = ""
        self._data: list[str] = []

    def feed(self, data: bytes) -> list[Event]:
        """Events completed by `data`."""
        self._pending += data
        events: list[Event] = []
        start = 0
        scanned = len(self._pending)
        for match in _LINE_END.finditer(self._pending, self._scanned):
            if match.group() == b"\r" and match.end() == len(self._pending):
                scanned -= 1  # the LF of a CR LF may still come
                break
            events += self._line(bytes(self._pending[start : match.start()]).decode("utf-8"))
            start = match.end()
        del self._pending[:start]
        self._scanned = scanned - start
        return events

    def end(self) -> list[Event]:
        """Events left when the body has ended properly: a last line may lack its line end."""
        rest = bytes(self._pending).removesuffix(b"\r").decode("utf-8")
        self._pending.clear()
        return (self._line(rest) if rest else []) + self._line("")

    def _line(self, line: str) -> list[Event]:
        if not line:
            return self._dispatch()
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            self._data.append(value)
        elif field == "event":
            self._name = value
        return []

    def _dispatch(self) -> list[Event]:
        events = [Event(self._name, "\n".join(self._data))] if self._data else []
        self._name = ""
        self._data = []
        return events
