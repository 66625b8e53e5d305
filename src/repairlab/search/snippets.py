"""Which lines of a file are shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from repairlab.search.corpus import Corpus
from repairlab.search.results import Hit, show_line


class Window(NamedTuple):
    """Lines `start` to `end` of a file, from 1, both included."""

    start: int
    end: int


class Limits(NamedTuple):
    """How much one hit may show (``search.snippet_lines``, ``view.line_characters``)."""

    lines: int
    line_characters: int


def best_window(matching: Sequence[int], total: int, size: int) -> Window:
    """At most `size` lines with the most matching ones; the earliest such window on ties.

    The matching lines stand in its middle (one line nearer the start where they cannot), as far as the ends
    of the file allow.

    Args:
        matching: numbers of the matching lines, ascending, at least one.
        total: lines of the file.
        size: lines that may be shown.
    """
    best, count = 0, 0
    end = 0
    for begin, line in enumerate(matching):
        while end < len(matching) and matching[end] < line + size:
            end += 1
        if end - begin > count:
            best, count = begin, end - begin
    first, last = matching[best], matching[best + count - 1]
    spare = size - (last - first + 1)
    start = max(1, min(first - spare // 2, total - size + 1))
    return Window(start, min(total, start + size - 1))


def make_hit(
    corpus: Corpus,
    file: int,
    *,
    rank: int,
    matching: Sequence[int],
    components: Mapping[str, int],
    limits: Limits,
) -> Hit:
    """The hit that shows the best window of `file` around its `matching` lines."""
    window = best_window(matching, corpus.files[file].lines, limits.lines)
    shown = corpus.lines(file, window.start, window.end)
    return Hit(
        path=corpus.files[file].path,
        rank=rank,
        start_line=window.start,
        lines=tuple(show_line(line, limits.line_characters) for line in shown),
        matching_lines=tuple(line for line in matching if window.start <= line <= window.end),
        components=components,
    )
