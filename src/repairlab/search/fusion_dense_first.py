"""Exact and dense search behind one tool: the files of the best chunks first, exact matches behind them."""

from __future__ import annotations

from dataclasses import dataclass

from repairlab.contract.controls import Search
from repairlab.search.dense_search import DenseRanking, DenseSearch
from repairlab.search.exact import ExactRanking, ExactSearch, Mode
from repairlab.search.fusion import dense_first
from repairlab.search.results import Hit, QueryError


@dataclass(frozen=True, slots=True)
class DenseFirstResult:
    """The answer to one query.

    Attributes:
        hits: at most ``search.files``; a file of dense search is shown by its chunk, the others by their
            matching lines.
        matching_files: files with an exact match in the whole corpus.
        matching_lines: lines with one.
        note: why no exact match could be looked for; empty if it could.
    """

    hits: tuple[Hit, ...]
    matching_files: int
    matching_lines: int
    note: str = ""


class DenseFirstSearch:
    """Dense search with exact backfill over one corpus.

    Args:
        exact: exact search of the corpus.
        dense: dense search of the same corpus.
        search: how many files are shown.
    """

    __slots__ = ("_dense", "_exact", "_search")

    def __init__(self, exact: ExactSearch, dense: DenseSearch, search: Search) -> None:
        self._exact = exact
        self._dense = dense
        self._search = search

    def find(self, query: str, mode: Mode) -> DenseFirstResult | QueryError:
        """The answer to one query. A regular expression goes to exact search alone.

        A query that only exact search cannot take (one of several lines) is answered by dense search, with a
        note.
        """
        if mode is Mode.REGEX:
            found = self._exact.find(query, mode)
            if isinstance(found, QueryError):
                return found
            return DenseFirstResult(found.hits, found.matching_files, found.matching_lines)
        dense = self._dense.rank_chunks(query)
        if isinstance(dense, QueryError):
            return dense
        exact = self._exact.rank(query, mode)
        if isinstance(exact, QueryError):
            return DenseFirstResult(self._hits(dense, None), 0, 0, exact.reason)
        lines = sum(file.matching_lines for file in exact.files)
        return DenseFirstResult(self._hits(dense, exact), len(exact.files), lines)

    def _hits(self, dense: DenseRanking, exact: ExactRanking | None) -> tuple[Hit, ...]:
        chunks = {chunk.path: chunk for chunk in dense.files}
        matches = {file.path: file for file in exact.files} if exact else {}
        hits = []
        for path, rank, components in dense_first(tuple(chunks), tuple(matches), files=self._search.files):
            if path in chunks:
                hits.append(self._dense.hit(dense, chunks[path], rank=rank, components=components))
            elif exact:
                hits.append(self._exact.hit(exact, matches[path], rank=rank, components=components))
        return tuple(hits)
