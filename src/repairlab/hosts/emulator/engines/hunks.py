"""Where a unified diff changes what.

Bodies are read by the counts of their headers, so that a removed line that looks like a file header is none.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_HEADER = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


@dataclass(frozen=True, slots=True)
class Hunk:
    """One hunk, in lines of the old file counted from 1. A created file has no old path and no lines."""

    path: str | None
    start: int
    length: int
    removed: tuple[str, ...]
    context: tuple[str, ...]
    body: tuple[tuple[str, str], ...] = ()
    """Each line of the hunk: its sign (blank, minus, plus) and its text."""


def hunks_of(diff: str) -> tuple[Hunk, ...]:
    """Hunks of `diff` in order."""
    found: list[Hunk] = []
    path: str | None = None
    lines = diff.split("\n")
    number = 0
    while number < len(lines):
        line = lines[number]
        number += 1
        if line.startswith("--- "):
            path = _old_path(line)
            continue
        header = _HEADER.match(line)
        if header is None:
            continue
        old = int(header.group(2) or "1")
        new = int(header.group(4) or "1")
        body, number = _body(lines, number, old, new)
        removed = tuple(text[1:] for text in body if text.startswith("-"))
        context = tuple(text[1:] for text in body if text.startswith(" "))
        signed = tuple((text[0], text[1:]) for text in body)
        found.append(Hunk(path, int(header.group(1)), old, removed, context, signed))
    return tuple(found)


def _body(lines: list[str], number: int, old: int, new: int) -> tuple[list[str], int]:
    body: list[str] = []
    while number < len(lines) and (old > 0 or new > 0):
        line = lines[number]
        number += 1
        sign = line[:1] or " "
        if sign == "\\":
            continue
        old -= sign in "- "
        new -= sign in "+ "
        body.append(line or " ")
    return body, number


def _old_path(line: str) -> str | None:
    path = line[4:].split("\t")[0]
    return None if path == "/dev/null" else path.removeprefix("a/")
