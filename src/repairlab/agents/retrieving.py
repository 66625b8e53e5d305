"""The search tools of the treatments that combine or separate components: H003, H007 and H011."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from repairlab.agents.searching import Found, plural
from repairlab.search.exact import Mode
from repairlab.search.fusion_dense_first import DenseFirstSearch
from repairlab.search.graph_search import GraphSearch, Seed
from repairlab.search.hybrid import HybridResult, HybridSearch
from repairlab.search.results import Hit, QueryError, render

NOTHING = "No file matches."


def _refused(error: QueryError) -> Found:
    return Found(f"The query cannot be run: {error.reason}.", valid=False)


@dataclass(frozen=True, slots=True)
class DenseFirst:
    """``search`` of H003: dense retrieval first, exact matches behind it."""

    fused: DenseFirstSearch

    def search(self, query: str, mode: str) -> Found:
        """Answer one call. `mode` is one of the tool's choices, so it is one of `Mode`."""
        result = self.fused.find(query, Mode(mode))
        if isinstance(result, QueryError):
            return _refused(result)
        if not result.hits:
            return Found("No line matches.")
        lines, files = result.matching_lines, result.matching_files
        summary = f"{lines} matching {plural('line', lines)} in {files} {plural('file', files)}."
        if result.note:
            summary = f"No line was looked for: {result.note}."
        if any("dense" in hit.components for hit in result.hits):
            summary += " The files nearest in meaning come first."
        return Found(render(result.hits, summary=summary), result.hits)


@dataclass(frozen=True, slots=True)
class Hybrid:
    """``search`` of H007: every component on one query, fused by reciprocal rank."""

    fused: HybridSearch

    def search(self, query: str) -> Found:
        """Answer one call."""
        result = self.fused.find(query)
        if isinstance(result, QueryError):
            return _refused(result)
        if not result.hits:
            return Found("\n".join([NOTHING, *_notes(result)]))
        count = len(result.hits)
        summary = "\n".join([f"The best {count} {plural('file', count)}.", *_notes(result)])
        return Found(render(result.hits, summary=summary), result.hits)


@dataclass(frozen=True, slots=True)
class Ranked:
    """A tool of H011 that shows what one component ranks."""

    find: Callable[[str], tuple[Hit, ...] | QueryError]

    def search(self, query: str) -> Found:
        """Answer one call."""
        hits = self.find(query)
        if isinstance(hits, QueryError):
            return _refused(hits)
        if not hits:
            return Found(NOTHING)
        return Found(render(hits, summary=f"The best {len(hits)} {plural('file', len(hits))}."), hits)


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """``search_graph`` of H011: what lies one step from the best fused files of a query."""

    fused: HybridSearch
    graph: GraphSearch

    def search(self, query: str) -> Found:
        """Answer one call. A seed is the first matching line of what a file shows, or its first line."""
        result = self.fused.find(query)
        if isinstance(result, QueryError):
            return _refused(result)
        seeds = [Seed(hit.path, min(hit.matching_lines, default=hit.start_line)) for hit in result.hits]
        ranking, hits = self.graph.find(seeds)
        summary = "\n".join([self.graph.summary(ranking), *_notes(result)])
        return Found(render(hits, summary=summary), hits)


def _notes(result: HybridResult) -> list[str]:
    """Which components could not take the query."""
    return [f"note: {name}: {reason}" for name, reason in sorted(result.notes.items())]
