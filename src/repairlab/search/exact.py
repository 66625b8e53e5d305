"""Exact search: a literal, a substring or a regular expression over every file of a corpus."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from repairlab.contract.controls import Search, View
from repairlab.search.corpus import Corpus
from repairlab.search.matchers import MOST_STEPS, Matcher, TextMatcher, regex_matcher
from repairlab.search.needs import candidates
from repairlab.search.results import Hit, QueryError
from repairlab.search.snippets import Limits, make_hit

COMPONENT = "exact"


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


@dataclass(frozen=True, slots=True)
class ExactRanking:
    """Every file with a match, most matching lines first, ties by path bytes."""

    matcher: Matcher
    files: tuple[RankedFile, ...]


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
    """

    __slots__ = ("_corpus", "_limits", "_search")

    def __init__(self, corpus: Corpus, search: Search, view: View) -> None:
        self._corpus = corpus
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
        matcher = _matcher(query, mode, self._search.query_characters)
        if isinstance(matcher, QueryError):
            return matcher
        narrowed = candidates(matcher.need, self._corpus.words)
        files = range(len(self._corpus.files)) if narrowed is None else sorted(narrowed)
        steps = matcher.instructions * sum(self._corpus.files[file].size for file in files)
        if steps > MOST_STEPS:
            return QueryError(
                "the regular expression takes too many steps: use smaller repetition counts, or name a word "
                "of three characters or more that must stand on the line"
            )
        ranked = list(self._count(matcher, files))
        ranked.sort(key=lambda file: -file.matching_lines)  # stable: ids ascend by path bytes
        return ExactRanking(matcher, tuple(ranked))

    def _count(self, matcher: Matcher, files: Iterable[int]) -> Iterable[RankedFile]:
        for file in files:
            count = sum(1 for _ in matcher.starts(self._corpus.data(file)))
            if count:
                yield RankedFile(file, self._corpus.files[file].path, count)

    def lines(self, ranking: ExactRanking, file: RankedFile) -> tuple[int, ...]:
        """Numbers of the matching lines of `file`, ascending."""
        starts = ranking.matcher.starts(self._corpus.data(file.file))
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


def _matcher(query: str, mode: Mode, most_characters: int) -> Matcher | QueryError:
    fault = _fault(query, most_characters)
    if fault:
        return QueryError(fault)
    if mode is Mode.REGEX:
        return regex_matcher(query)
    if "\n" in query:
        return QueryError("a match never spans lines: search for a text that stands on one line")
    return TextMatcher(query, whole=mode is Mode.LITERAL)


def _fault(query: str, most_characters: int) -> str:
    if not query or query.isspace():
        return "the query is empty: it needs at least one visible character"
    if len(query) > most_characters:
        return f"the query has {len(query)} characters; at most {most_characters} are searched for"
    if "\0" in query:
        return "the query holds a NUL character; files that hold one are not searched"
    if any(0xD800 <= ord(character) <= 0xDFFF for character in query):
        return "the query holds a lone surrogate, which no text can hold"
    return ""
