"""Showing part of a file as numbered lines. Only a line feed ends a line."""

from __future__ import annotations

from typing import NamedTuple

from repairlab.contract.controls import View
from repairlab.search.results import show_line


class Excerpt(NamedTuple):
    """Text for the model, and which lines it shows (both ends included); ``None`` where it shows none."""

    text: str
    lines: tuple[int, int] | None


def split_lines(data: bytes) -> list[bytes]:
    """Lines without their line feed; a file without a final line feed ends in its last line."""
    lines = data.split(b"\n")
    if lines and lines[-1] == b"":
        lines.pop()
    return lines


def numbered(path: str, data: bytes, start: int, end: int, view: View) -> Excerpt:
    """Lines `start` to `end` of `data`, counted from 1, at most as many as one call may show."""
    lines = split_lines(data)
    total = len(lines)
    if start < 1:
        return Excerpt(f"start_line is {start}; lines are counted from 1.", None)
    if end < start:
        return Excerpt(f"end_line {end} lies before start_line {start}.", None)
    if total == 0:
        return Excerpt(f"{path} is empty.", None)
    if start > total:
        return Excerpt(f"{path} has {total} lines; line {start} is past its end.", None)
    last = min(end, total, start + view.read_lines - 1)
    shown = [
        f"{number}\t{show_line(line, view.line_characters)}"
        for number, line in enumerate(lines[start - 1 : last], start=start)
    ]
    note = f" (one call shows at most {view.read_lines})" if last < min(end, total) else ""
    return Excerpt("\n".join([f"{path}, lines {start} to {last} of {total}{note}:", *shown]), (start, last))
