"""Recorded replies: each request gets what it got when it was recorded, to the letter.

A recording is a cell's transcript: lines of JSON in which a ``request`` is followed by what came back.
Requests are found by the digest of their sorted text; one that was sent several times gets its replies in
order.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from repairlab.contract.errors import BadInput

_REPLIES = ("reply", "retry", "unparsable-call")


@dataclass(frozen=True, slots=True)
class Recording:
    """What came back once."""

    kind: str
    """``reply``, ``retry`` (a reply that was set aside), or ``unparsable-call``."""
    body: Any
    """The whole reply; for ``unparsable-call`` the text of the error."""


class Recorded:
    """Replies by request. Use one for each run: it counts what it has given out."""

    def __init__(self, recordings: Mapping[str, tuple[Recording, ...]]) -> None:
        self._recordings = recordings
        self._given: dict[str, int] = {}

    def next(self, body: Mapping[str, Any]) -> Recording | None:
        """The next reply to `body`; ``None`` where none is recorded, or no more."""
        key = request_key(body)
        number = self._given.get(key, 0)
        known = self._recordings.get(key, ())
        if number >= len(known):
            return None
        self._given[key] = number + 1
        return known[number]

    def rewind(self) -> None:
        """Give everything out again."""
        self._given.clear()


def request_key(body: Mapping[str, Any]) -> str:
    """Digest of a request body that does not depend on the order of its keys."""
    text = json.dumps(body, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def load_recordings(path: Path) -> Recorded:
    """Read a transcript.

    Raises:
        BadInput: it cannot be read, or a line is not what a transcript holds.
    """
    try:
        lines = path.read_text(encoding="utf-8").rstrip("\n").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: cannot be read ({error})") from error
    found: dict[str, tuple[Recording, ...]] = {}
    for key, recording in _pairs(lines, path):
        found[key] = (*found.get(key, ()), recording)
    return Recorded(found)


def _pairs(lines: list[str], path: Path) -> Iterator[tuple[str, Recording]]:
    asked = ""
    for number, line in enumerate(lines, start=1):
        try:
            entry = json.loads(line)
            kind = entry["type"]
            if kind == "request":
                asked = request_key(entry["body"])
            elif kind in _REPLIES and asked:
                yield asked, Recording(kind, entry["body"])
        except (ValueError, KeyError, TypeError) as error:
            raise BadInput(f"{path}:{number}: no line of a transcript ({error})") from error
