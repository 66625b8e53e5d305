"""What of the base a fix rests on: the lines that must have been seen by whoever could have written it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from repairlab.hosts.emulator.engines.hunks import Hunk, hunks_of

Shown: TypeAlias = Mapping[str, Mapping[int, str]]
"""Lines that tool results showed, by path and by number from 1."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the base."""

    path: str
    number: int
    text: str


@dataclass(frozen=True, slots=True)
class Package:
    """A folder (empty for the root) of which some file must have been shown; or its parent, if it is new."""

    folder: str
    is_new: bool


Need: TypeAlias = Line | Package


def needs_of(diff: str) -> tuple[Need, ...]:
    """Lines that `diff` removes; for a pure insertion both neighbours; for a new file its package."""
    hunks = hunks_of(diff)
    created = sorted(_created_files(diff))
    new_folders = {_folder(path) for path in created if path.rsplit("/", 1)[-1] == "__init__.py"}
    found: list[Need] = [need for hunk in hunks if hunk.path is not None for need in _needs(hunk.path, hunk)]
    found += [Package(_folder(path), _folder(path) in new_folders) for path in created]
    return tuple(dict.fromkeys(found))


def all_shown(needs: tuple[Need, ...], shown: Shown) -> bool:
    """Whether each of `needs` is among what was shown, to the letter. Nothing to need is nothing shown."""
    return bool(needs) and all(_is_shown(need, shown) for need in needs)


def _is_shown(need: Need, shown: Shown) -> bool:
    if isinstance(need, Line):
        return shown.get(need.path, {}).get(need.number) == need.text
    folders = {need.folder, _folder(need.folder)} if need.is_new else {need.folder}
    return any(_folder(path) in folders for path in shown)


def _needs(path: str, hunk: Hunk) -> list[Line]:
    """Walk the hunk's body with the number of the old line that comes next."""
    found: list[Line] = []
    number = hunk.start
    last: Line | None = None
    pure: list[Line | None] = []  # the neighbour above a run of additions that has removed nothing yet
    removes = False
    for sign, text in hunk.body:
        if sign == "+":
            if not removes and not pure:
                pure.append(last)
            continue
        line = Line(path, number, text)
        number += 1
        if sign == "-":
            found.append(line)
            removes, pure = True, []
        else:
            if pure:
                found += [one for one in (pure[0], line) if one is not None]
            removes, pure = False, []
        last = line
    if pure and pure[0] is not None:
        found.append(pure[0])
    return found


def _created_files(diff: str) -> set[str]:
    lines = diff.split("\n")
    pairs = pairwise(lines)
    return {
        after[4:].split("\t")[0].removeprefix("b/")
        for before, after in pairs
        if before == "--- /dev/null" and after.startswith("+++ ")
    } | _created_empty(lines)


def _created_empty(lines: list[str]) -> set[str]:
    """New files without content have no file headers, only the line that begins their part."""
    return {
        before.split(" b/", 1)[1]
        for before, after in pairwise(lines)
        if before.startswith("diff --git ") and after.startswith("new file mode") and " b/" in before
    }


def _folder(path: str) -> str:
    return path.rpartition("/")[0]
