"""Reading tool results: which lines of which files they show, and where to look next."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from repairlab.hosts.emulator.engines.replaced import Shown

_READ_HEAD = re.compile(r"^(?P<path>\S.*), lines (?P<first>\d+) to (?P<last>\d+) of \d+.*:$")
_READ_ROW = re.compile(r"^(?P<number>\d+)\t(?P<text>.*)$", re.DOTALL)
_HIT_HEAD = re.compile(r"^\d+\. (?P<path>\S.*) \(lines (?P<first>\d+)-(?P<last>\d+)\)(?: .*)?$")
_HIT_ROW = re.compile(r"^(?P<mark>[> ]) +(?P<number>\d+) \| (?P<text>.*)$", re.DOTALL)
_BARE_PATH = re.compile(r"^(?:\d+\. |[-*] )?(?P<path>[^\s:,()|]+\.(?:py|go))(?:$|[\s:,(])")


@dataclass(frozen=True, slots=True)
class Place:
    """A file that a result names, and the line around which to open it."""

    path: str
    line: int


def lines_shown(results: Iterable[str]) -> Shown:
    """All lines that `results` show. A line that was cut for display is not shown."""
    shown: dict[str, dict[int, str]] = {}
    for result in results:
        path = ""
        for row in result.split("\n"):
            head = _READ_HEAD.match(row) or _HIT_HEAD.match(row)
            line = _READ_ROW.match(row) or _HIT_ROW.match(row)
            if head:
                path = head["path"]
                shown.setdefault(path, {})
            elif line and path:
                shown[path][int(line["number"])] = line["text"]
            elif _BARE_PATH.match(row):
                shown.setdefault(_path_in(row), {})
    return shown


def places_in(result: str) -> tuple[Place, ...]:
    """Files that a search result names, in its order, each with the middle of its marked or shown lines."""
    lines: dict[str, list[int]] = {}
    marked: dict[str, list[int]] = {}
    path = ""
    for row in result.split("\n"):
        head, line = _HIT_HEAD.match(row), _HIT_ROW.match(row)
        if head:
            path = head["path"]
            lines.setdefault(path, [])
        elif line and path:
            lines[path].append(int(line["number"]))
            if line["mark"] == ">":
                marked.setdefault(path, []).append(int(line["number"]))
        elif _BARE_PATH.match(row):
            lines.setdefault(_path_in(row), [])
    return tuple(Place(path, _middle(marked.get(path) or lines[path])) for path in lines)


def _path_in(row: str) -> str:
    match = _BARE_PATH.match(row)
    return match["path"] if match else ""


def _middle(numbers: list[int]) -> int:
    return sorted(numbers)[len(numbers) // 2] if numbers else 1
