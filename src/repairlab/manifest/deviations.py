"""The deviations log: what happened otherwise than promised. Entries are appended, never changed.

The log is a page for people, ``preregistration/DEVIATIONS.md``. Each entry carries the SHA-256 of all
text before it, so an entry that was changed, moved or removed later breaks the chain behind it. Only
cutting off the end leaves no trace inside the file; the freeze record's amendments and git hold that.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Literal, NamedTuple

from repairlab.contract.canonical import sha256_hex
from repairlab.contract.errors import BadInput, IntegrityViolation
from repairlab.contract.study import Study

Unsealing = Literal["before", "after"]

_FIELDS = ("experiment", "what", "why", "who", "effect", "before this")
_HEADING = re.compile(r"^## D(\d{3,}) · (\S+) · (before|after) unsealing$", re.MULTILINE)
_FIELD = re.compile(r"^- ([a-z ]+): (.+)$")


class Deviation(NamedTuple):
    """What is to be logged. Every text is one line and none is empty."""

    experiment: str
    at: str
    """UTC, ``2026-01-31T12:00:00Z``."""
    unsealing: Unsealing
    """Whether outcomes of the experiment had been shown to anyone by then."""
    what: str
    why: str
    who: str
    effect: str
    """On each confirmatory result, with and without; or why there can be none."""


class Entry(NamedTuple):
    """One entry of the log, as read."""

    number: int
    deviation: Deviation
    before: str
    """SHA-256 of the text before the entry."""


def deviations_file(study: Study) -> Path:
    """Where the log stands."""
    return study.preregistration / "DEVIATIONS.md"


def append(study: Study, deviation: Deviation) -> Entry:
    """Check the log, then add one entry at its end, synced to disk.

    Raises:
        BadInput: a text is empty or holds a line break.
        IntegrityViolation: the log was changed since it was written.
    """
    for name, text in deviation._asdict().items():
        if not text.strip() or text.splitlines() != [text]:
            raise BadInput(f"deviation: {name}: one line of text is needed, not {text!r}")
    path = deviations_file(study)
    entries = read(study)
    text = path.read_text(encoding="utf-8") if path.is_file() else _HEAD
    entry = Entry(len(entries) + 1, deviation, sha256_hex(text.encode()))
    with path.open("a", encoding="utf-8") as log:
        if log.tell() == 0:
            log.write(text)
        log.write(_rendered(entry))
        log.flush()
        os.fsync(log.fileno())
    return entry


def read(study: Study) -> tuple[Entry, ...]:
    """Every entry, oldest first.

    Raises:
        IntegrityViolation: an entry is malformed, out of order, or follows text that was changed.
    """
    path = deviations_file(study)
    if not path.is_file():
        return ()
    text = path.read_text(encoding="utf-8")
    headings = list(_HEADING.finditer(text))
    if len(headings) != len(re.findall(r"^## D", text, re.MULTILINE)):
        raise IntegrityViolation(f"{path}: a heading is not of the form '## D001 · TIME · before unsealing'")
    ends = [heading.start() for heading in headings[1:]] + [len(text)]
    entries = []
    for number, (heading, end) in enumerate(zip(headings, ends, strict=True), start=1):
        entry = _parsed(heading, text[heading.end() : end], path)
        if entry.number != number:
            raise IntegrityViolation(f"{path}: D{entry.number:03d} stands where D{number:03d} is due")
        if entry.before != sha256_hex(text[: heading.start()].encode()):
            raise IntegrityViolation(f"{path}: text before D{number:03d} was changed after it was written")
        if text[heading.start() : end] != _rendered(entry):
            raise IntegrityViolation(f"{path}: D{number:03d} holds more than its fields")
        entries.append(entry)
    return tuple(entries)


def _rendered(entry: Entry) -> str:
    said = entry.deviation
    lines = [
        f"## D{entry.number:03d} · {said.at} · {said.unsealing} unsealing",
        "",
        *(f"- {name}: {getattr(said, name)}" for name in ("experiment", "what", "why", "who", "effect")),
        f"- before this: {entry.before}",
    ]
    return "\n".join(lines) + "\n\n"


def _parsed(heading: re.Match[str], body: str, path: Path) -> Entry:
    number, at, unsealing = heading.groups()
    fields = [(found[1], found[2]) for found in map(_FIELD.match, body.strip().split("\n")) if found]
    if tuple(name for name, _ in fields) != _FIELDS:
        raise IntegrityViolation(f"{path}: D{number}: its fields are not {', '.join(_FIELDS)}")
    values = dict(fields)
    before = values.pop("before this")
    when: Unsealing = "before" if unsealing == "before" else "after"
    return Entry(int(number), Deviation(at=at, unsealing=when, **values), before)


_HEAD = """\
# Deviations

What was done otherwise than preregistered. `repairlab deviations add` writes here; nothing is ever changed or
taken out. Each entry names the SHA-256 of everything before it, so `repairlab verify` and every
report find an edit. Reports print this page.

"""
