"""Exact search: a literal, a substring or a regular expression over every file of a corpus."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from repairlab.contract.controls import Exact, Search, View
from repairlab.search.corpus import Corpus
from repairlab.search.lines import Offsets
from repairlab.search.matchers import Matcher, TextMatcher, regex_matcher
from repairlab.search.needs import candidates
from repairlab.search.results import Hit, QueryError
from repairlab.search.shapes import Shape
from repairlab.search.snippets import Limits, make_hit
from repairlab.search.tokens import query_fault

COMPONENT = "exact"

_MANY_LINES = 100
"""So many matching lines are found sooner in all bytes of a file at once than one by one."""


class Mode(StrEnum):
    """How a query is read."""

    LITERAL = "literal"
    """The whole text, not inside a longer identifier."""
    SUBSTRING = "substring"
    """The text anywhere."""
    REGEX = "regex"
    """A regular expression in RE2's syntax."""


@dataclass(frozen=True, slots=True)
class RankedFile:
    """A file with a match: its id in the corpus and the number of its matching lines, at least 1."""

    file: int
    path: str
    matching_lines: int


class MatchingLines(NamedTuple):
    """Lines, in order: the file of each, and its number there."""

    files: Offsets
    numbers: Offsets


@dataclass(frozen=True, slots=True)
class ExactRanking:
    """Every file with a match, most matching lines first, ties by path bytes; generated files behind all.

    `lines` are all matching lines where they are already known.
    """

    matcher: Matcher
    files: tuple[RankedFile, ...]
    lines: MatchingLines | None = None


@dataclass(frozen=True, slots=True)
class ExactResult:
    """The best files of a query, and how many files and lines match in the whole corpus."""

    hits: tuple[Hit, ...]
    matching_files: int
    matching_lines: int


class ExactSearch:
    """Searches one corpus. Holds no state between queries.

    Args:
        corpus: what is searched.
        search: how many files and lines are shown, how long a query may be.
        view: how long a shown line may be.
        controls: how large a pattern may be, and how long it may take.
        filtered_bytes: files of so many bytes and more are not scanned whole where it can be told which
            lines may match. Changes no answer.
    """

    __slots__ = ("_controls", "_corpus", "_filtered_bytes", "_limits", "_search")

    def __init__(
        self, corpus: Corpus, search: Search, view: View, controls: Exact, *, filtered_bytes: int = 2**21
    ) -> None:
        self._filtered_bytes = filtered_bytes
        self._corpus = corpus
        self._controls = controls
        self._search = search
        self._limits = Limits(search.snippet_lines, view.line_characters)

    def find(self, query: str, mode: Mode) -> ExactResult | QueryError:
        """The answer to one query, or why it cannot be searched for."""
        ranking = self.rank(query, mode)
        if isinstance(ranking, QueryError):
            return ranking
        hits = tuple(
            self.hit(ranking, file, rank=rank, components={COMPONENT: rank})
            for rank, file in enumerate(ranking.files[: self._search.files], start=1)
        )
        return ExactResult(hits, len(ranking.files), sum(file.matching_lines for file in ranking.files))

    def rank(self, query: str, mode: Mode) -> ExactRanking | QueryError:
        """Every file with a match, in order: what a fusion takes its ranks from."""
        matcher = self._matcher(query, mode)
        if isinstance(matcher, QueryError):
            return matcher
        narrowed = candidates(matcher.need, self._corpus.words)
        files = range(len(self._corpus.files)) if narrowed is None else sorted(narrowed)
        size = sum(self._corpus.files[file].size for file in files)
        if matcher.instructions * size > self._controls.steps:
            return QueryError(
                "the regular expression takes too many steps: use smaller repetition counts, or name a word "
                "of three characters or more that must stand on the line"
            )
        lines = None
        if size < self._filtered_bytes:
            counts = self._count(matcher, files)
        elif matcher.shape:
            counts = self._count_shape(matcher, matcher.shape, files)
        else:
            lines = self._matching_lines(matcher, files)
            counts = self._count(matcher, files) if lines is None else _by_file(lines)
        generated = self._corpus.generated
        ranked = sorted(
            (RankedFile(file, self._corpus.files[file].path, n) for file, n in counts.items() if n),
            key=lambda file: (file.file in generated, -file.matching_lines, file.file),
        )
        return ExactRanking(matcher, tuple(ranked), lines)

    def _matcher(self, query: str, mode: Mode) -> Matcher | QueryError:
        fault = query_fault(query, self._search.query_characters)
        if fault:
            return QueryError(fault)
        if mode is Mode.REGEX:
            return regex_matcher(query, self._controls.instructions)
        if "\n" in query:
            return QueryError("a match never spans lines: search for a text that stands on one line")
        return TextMatcher(query, whole=mode is Mode.LITERAL)

    def _count_shape(self, matcher: Matcher, shape: Shape, files: Sequence[int]) -> dict[int, int]:
        """Matching lines of each of these files that has any; no other file has."""
        found = self._corpus.lines_by_file(shape)
        counts = {file: int(found[file]) for file in np.flatnonzero(found).tolist()}
        if shape.ascii_alone:
            beyond = self._corpus.beyond_ascii()
            counts = {file: count for file, count in counts.items() if file not in beyond}
            counts |= {file: matcher.count(self._corpus.data(file)) for file in beyond.intersection(files)}
        return counts

    def _count(self, matcher: Matcher, files: Sequence[int]) -> dict[int, int]:
        return {file: matcher.count(self._corpus.data(file)) for file in files}

    def _matching_lines(self, matcher: Matcher, files: Sequence[int]) -> MatchingLines | None:
        """The matching lines of these files (ascending): only those looked at that hold a text that all hold.

        None where that cannot be told: for other patterns, and where a line is no UTF-8, since then the
        parts of it that are must be looked at apart.
        """
        if matcher.by_line is None or not files:
            return None
        lines = self._corpus.lines_with(matcher.by_line.text, files)
        try:
            lines.text.decode()
        except UnicodeDecodeError:
            return None
        bounds = np.array([*matcher.by_line.runs(lines.text)], np.int64).reshape(-1)
        # The begins and ends of all runs in turn: a line lies in one behind a begin.
        inside = np.searchsorted(bounds, lines.begins, "right") % 2 == 1
        return MatchingLines(lines.files[inside], lines.numbers[inside])

    def lines(self, ranking: ExactRanking, file: RankedFile) -> tuple[int, ...]:
        """Numbers of the matching lines of `file`, ascending."""
        if ranking.lines is not None:
            return tuple(ranking.lines.numbers[ranking.lines.files == file.file].tolist())
        data, shape = self._corpus.data(file.file), ranking.matcher.shape
        if shape and file.matching_lines >= _MANY_LINES and not (shape.ascii_alone and not data.isascii()):
            return self._corpus.lines_of_shape(file.file, shape)
        starts = ranking.matcher.starts(data)
        return tuple(self._corpus.line_of(file.file, start) for start in starts)

    def hit(self, ranking: ExactRanking, file: RankedFile, *, rank: int, components: dict[str, int]) -> Hit:
        """One file of `ranking` as it is shown at `rank`."""
        return make_hit(
            self._corpus,
            file.file,
            rank=rank,
            matching=self.lines(ranking, file),
            components=components,
            limits=self._limits,
        )


def _by_file(lines: MatchingLines) -> dict[int, int]:
    """How many of these lines each file has, if any."""
    files, counts = np.unique(lines.files, return_counts=True)
    return dict(zip(files.tolist(), counts.tolist(), strict=True))
