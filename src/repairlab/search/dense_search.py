"""The dense component: from a query to files, and to what is shown of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from repairlab.contract.controls import Dense, Search, View
from repairlab.search.dense import DenseIndex, ScoredChunk
from repairlab.search.dense_window import window_start
from repairlab.search.results import Hit, QueryError, show_line
from repairlab.search.tokens import query_fault
from repairlab.search.vectors import QueryVectors

COMPONENT = "dense"


@dataclass(frozen=True, slots=True)
class DenseRanking:
    """The best chunk of each file, best file first."""

    query: str
    files: tuple[ScoredChunk, ...]


class DenseSearch:
    """Searches one corpus for one cell.

    Args:
        index: the vectors of the corpus.
        queries: the cell's query vectors.
        search: how many files and lines are shown, how long a query may be.
        dense: how many chunks dense-first fusion takes.
        view: how long a shown line may be.
    """

    __slots__ = ("_dense", "_index", "_queries", "_search", "_view")

    def __init__(
        self, index: DenseIndex, queries: QueryVectors, search: Search, dense: Dense, view: View
    ) -> None:
        self._index = index
        self._queries = queries
        self._search = search
        self._dense = dense
        self._view = view

    def rank(self, query: str, files: int) -> DenseRanking | QueryError:
        """The best `files` files by their best chunk."""
        fault = query_fault(query, self._search.query_characters)
        if fault:
            return QueryError(fault)
        return DenseRanking(query, self._index.best_files(self._queries.of(query).vector, files))

    def rank_chunks(self, query: str) -> DenseRanking | QueryError:
        """The files of the best ``dense.chunks_shown`` chunks: as many or fewer, each with its best chunk."""
        fault = query_fault(query, self._search.query_characters)
        if fault:
            return QueryError(fault)
        best: dict[int, ScoredChunk] = {}
        vector = self._queries.of(query).vector
        for chunk in self._index.best_chunks(vector, self._dense.chunks_shown):
            best.setdefault(chunk.file, chunk)
        return DenseRanking(query, tuple(best.values()))

    def find(self, query: str) -> tuple[Hit, ...] | QueryError:
        """The best files as they are shown."""
        ranking = self.rank(query, self._search.files)
        if isinstance(ranking, QueryError):
            return ranking
        return tuple(
            self.hit(ranking, chunk, rank=rank, components={COMPONENT: rank})
            for rank, chunk in enumerate(ranking.files, start=1)
        )

    def hit(
        self, ranking: DenseRanking, chunk: ScoredChunk, *, rank: int, components: Mapping[str, int]
    ) -> Hit:
        """One file of `ranking` as it is shown at `rank`: the part of its best chunk nearest to the query.

        No line is marked as matching: see `repairlab.search.dense_window`.
        """
        lines = self._index.corpus.lines(chunk.file, chunk.start, chunk.end)
        texts = [line.decode("utf-8", "replace") for line in lines]
        size = self._search.snippet_lines
        first = window_start(texts, ranking.query, size)
        return Hit(
            path=chunk.path,
            rank=rank,
            start_line=chunk.start + first,
            lines=tuple(show_line(line, self._view.line_characters) for line in lines[first : first + size]),
            matching_lines=(),
            components=components,
        )
