"""Source for a stage: numbered lines of several files, never more than a cap.

What does not fit whole is shown by its heads: a file is cut into segments, each from the start of a function,
type or method to the start of the next, and every segment shows its first h lines, with the largest h that
fits. So a file that is too large still shows every definition, wherever it stands. A gap of a single line is
filled, so that the mark of a gap never costs more than what it stands for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

from repairlab.agents.staged.measure import TokenRule, largest
from repairlab.search.results import quote_path, show_line

_GAP = "..."


class Span(NamedTuple):
    """Lines of a file, counted from 1, both ends included."""

    path: str
    start_line: int
    end_line: int


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file to show: its lines without line feeds, and the lines at which something is defined."""

    path: str
    lines: tuple[bytes, ...]
    starts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Packed:
    """Source as a stage is shown it.

    Attributes:
        text: the numbered lines.
        tokens: its size by the token rule.
        shown: the spans in it, in its order.
        left_out: paths of the files, or of the files of those places, of which something is not shown.
    """

    text: str
    tokens: int
    shown: tuple[Span, ...]
    left_out: tuple[str, ...]


class Packer:
    """Packs lines of one set of files.

    Args:
        files: in the order in which they are shown.
        rule: the token rule.
        line_characters: longer lines are cut.
    """

    def __init__(self, files: Sequence[SourceFile], rule: TokenRule, line_characters: int) -> None:
        self._files = {file.path: file for file in files}
        self._rule = rule
        self._rows = {
            file.path: [
                f"{number}\t{show_line(line, line_characters)}"
                for number, line in enumerate(file.lines, start=1)
            ]
            for file in files
        }
        self._sums = {
            path: list(accumulate((rule.size(f"{row}\n") for row in rows), initial=0))
            for path, rows in self._rows.items()
        }
        self._gap = rule.size(f"{_GAP}\n")

    def whole_files(self, cap_tokens: int) -> Packed:
        """Every file, whole if all fit.

        Otherwise the cap is shared evenly, and what a small file leaves goes to the larger ones. A file that
        is larger than its share shows its heads.
        """
        left = cap_tokens * self._rule.parts
        full = {path: list(range(1, len(rows) + 1)) for path, rows in self._rows.items()}
        sizes = {path: self._size(path, lines) for path, lines in full.items()}
        chosen: dict[str, list[int]] = {}
        ascending = sorted(sizes, key=lambda path: sizes[path])
        for number, path in enumerate(ascending):
            chosen[path] = self._more(path, [], full[path], left // (len(ascending) - number))
            left -= self._size(path, chosen[path])
        return self._packed(chosen, full)

    def places(self, spans: Sequence[Span], cap_tokens: int) -> Packed:
        """The spans in their order: each whole if it fits beside those before it, else by its heads."""
        chosen: dict[str, list[int]] = {}
        wanted: dict[str, list[int]] = {}
        for path, first, last in spans:
            lines = list(range(first, last + 1))
            wanted[path] = _union(wanted.get(path, ()), lines)
            beside = sum(self._size(other, chosen[other]) for other in chosen if other != path)
            room = cap_tokens * self._rule.parts - beside
            chosen[path] = self._more(path, chosen.get(path, []), lines, room)
        return self._packed(chosen, wanted)

    def _more(self, path: str, shown: list[int], lines: list[int], room: int) -> list[int]:
        """`shown` of a file, with as much of `lines` as fits into `room`."""
        heads = self._heads(path, lines, lambda some: self._size(path, _union(shown, some)) <= room)
        return _union(shown, heads)

    def _heads(self, path: str, lines: list[int], fits: Callable[[Sequence[int]], bool]) -> list[int]:
        """All of `lines` if they fit, else the first h of each segment, with the largest h that fits.

        If not even one line of each segment fits, the first line of as many of the first segments as do.
        """
        if fits(lines):
            return lines
        segments = _segments(lines, self._files[path].starts)
        longest = max(map(len, segments), default=0)
        h = largest(longest, lambda count: fits([n for one in segments for n in one[:count]]))
        if h:
            return [n for one in segments for n in one[:h]]
        firsts = [one[0] for one in segments]
        return firsts[: largest(len(firsts), lambda count: fits(firsts[:count]))]

    def _size(self, path: str, lines: Sequence[int]) -> int:
        """Of a file's block, its separator included; nothing for no lines."""
        sums = self._sums[path]
        runs = _runs(lines, len(sums) - 1)
        if not runs:
            return 0
        rows = sum(sums[last] - sums[first - 1] for first, last in runs)
        gaps = (len(runs) - 1) + (runs[0][0] > 1) + (runs[-1][1] < len(sums) - 1)
        return self._rule.size(f"{self._head(path, runs)}\n\n") + rows + gaps * self._gap

    def _head(self, path: str, runs: Sequence[tuple[int, int]]) -> str:
        total = len(self._rows[path])
        part = "" if runs == [(1, total)] else ", in part"
        return f"{quote_path(path)}, lines {runs[0][0]} to {runs[-1][1]} of {total}{part}:"

    def _block(self, path: str, lines: Sequence[int]) -> str:
        rows = self._rows[path]
        runs = _runs(lines, len(rows))
        block = [self._head(path, runs)]
        for number, (first, last) in enumerate(runs):
            block += [_GAP] if number or first > 1 else []
            block += rows[first - 1 : last]
        block += [_GAP] if runs[-1][1] < len(rows) else []
        return "\n".join(block)

    def _packed(self, chosen: Mapping[str, list[int]], wanted: Mapping[str, list[int]]) -> Packed:
        order = [path for path in self._files if chosen.get(path)]
        text = "\n\n".join(self._block(path, chosen[path]) for path in order)
        runs = {path: _runs(lines, len(self._rows[path])) for path, lines in chosen.items()}
        shown = {path: {n for first, last in runs[path] for n in range(first, last + 1)} for path in runs}
        return Packed(
            text,
            self._rule.tokens(self._rule.size(text)),
            tuple(Span(path, *run) for path in order for run in runs[path]),
            tuple(path for path, lines in wanted.items() if not shown[path].issuperset(lines)),
        )


def _segments(lines: Sequence[int], starts: Iterable[int]) -> list[list[int]]:
    """`lines`, cut before each of `starts`."""
    cuts = set(starts)
    segments: list[list[int]] = []
    for number in lines:
        if not segments or number in cuts:
            segments.append([])
        segments[-1].append(number)
    return segments


def _runs(lines: Sequence[int], total: int) -> list[tuple[int, int]]:
    """First and last line of each run of ascending `lines` of `total`; a gap of one line is filled."""
    runs: list[tuple[int, int]] = []
    for number in lines:
        if runs and number <= runs[-1][1] + 2:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((1 if number == 2 else number, number))
    if runs and runs[-1][1] == total - 1:
        runs[-1] = (runs[-1][0], total)
    return runs


def _union(some: Iterable[int], more: Iterable[int]) -> list[int]:
    return sorted({*some, *more})
