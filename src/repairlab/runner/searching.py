"""From a treatment's tools to what answers them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from repairlab.agents.finding import FileFinder
from repairlab.agents.retrieving import DenseFirst, Hybrid, Neighbourhood, Ranked
from repairlab.agents.searching import Found, LexicalFloor, SearchTool
from repairlab.contract.controls import SharedControls
from repairlab.contract.errors import IntegrityViolation
from repairlab.contract.treatments import Treatment
from repairlab.contract.wording import Wording
from repairlab.runner.indexes import Indexes
from repairlab.search.dense_search import DenseSearch
from repairlab.search.exact import ExactSearch
from repairlab.search.fusion_dense_first import DenseFirstSearch
from repairlab.search.hybrid import HybridSearch
from repairlab.search.toolset import Toolset, dense_component
from repairlab.search.vectors import QueryVectors

SEARCH_TOOLS = frozenset(
    {
        "search",
        "search_dense_first",
        "search_hybrid",
        "search_exact",
        "search_lexical",
        "search_syntax",
        "search_dense",
        "search_graph",
        "find_files",
        "search_text",
    }
)


def search_tools(
    shared: SharedControls,
    treatment: Treatment,
    wording: Wording,
    indexes: Indexes | None,
    queries: QueryVectors | None,
) -> Mapping[str, SearchTool]:
    """The search tools of `treatment` by the name that the model calls; none where it searches nothing.

    Args:
        shared: the frozen controls.
        treatment: the arm.
        wording: names and forms of the tools.
        indexes: of the task's base; ``None`` where no treatment searches.
        queries: the cell's query vectors; ``None`` where the arm embeds nothing.
    """
    if indexes is None or not treatment.searches:
        return {}
    makers = _Makers(shared, indexes, queries).table()
    return {wording.tools[name].exposed or name: makers[name]() for name in treatment.tools if name in makers}


class _Makers:
    """Makes the tools of one cell, each only when it is asked for."""

    def __init__(self, shared: SharedControls, indexes: Indexes, queries: QueryVectors | None) -> None:
        self._shared = shared
        self._indexes = indexes
        self._queries = queries

    def table(self) -> dict[str, Callable[[], SearchTool]]:
        """Tool, by the name of its file, to maker."""
        return {
            "search": self._exact,
            "search_exact": self._exact,
            "search_text": self._exact,
            "search_dense_first": self._dense_first,
            "search_hybrid": lambda: _one_query(Hybrid(self._fused()).search),
            "search_lexical": lambda: _one_query(Ranked(self._toolset().lexical.find).search),
            "search_syntax": lambda: _one_query(Ranked(self._toolset().symbols.find).search),
            "search_dense": lambda: _one_query(Ranked(self._dense().find).search),
            "search_graph": lambda: _one_query(Neighbourhood(self._fused(), self._toolset().graph).search),
            "find_files": self._finder,
        }

    def _exact(self) -> SearchTool:
        return _query_and_mode(LexicalFloor(self._exact_search()).search)

    def _exact_search(self) -> ExactSearch:
        return ExactSearch(self._indexes.corpus, self._shared.search, self._shared.view, self._shared.exact)

    def _dense_first(self) -> SearchTool:
        fused = DenseFirstSearch(self._exact_search(), self._dense(), self._shared.search)
        return _query_and_mode(DenseFirst(fused).search)

    def _finder(self) -> SearchTool:
        finder = FileFinder(self._indexes.corpus, self._shared.search, self._shared.paths)
        return lambda call: finder.find(str(call["name"]))

    def _fused(self) -> HybridSearch:
        """Reciprocal-rank fusion of all four components that rank files for a query."""
        components = {**self._toolset().components, "dense": dense_component(self._dense())}
        return HybridSearch(components, self._shared.search, self._shared.fusion)

    def _toolset(self) -> Toolset:
        if self._indexes.toolset is None:
            raise IntegrityViolation("a treatment's indexes were not prepared")
        return self._indexes.toolset

    def _dense(self) -> DenseSearch:
        if self._indexes.dense is None or self._queries is None:
            raise IntegrityViolation("a treatment's vectors were not prepared")
        shared = self._shared
        return DenseSearch(self._indexes.dense, self._queries, shared.search, shared.dense, shared.view)


def _query_and_mode(search: Callable[[str, str], Found]) -> SearchTool:
    return lambda call: search(str(call["query"]), str(call["mode"]))


def _one_query(search: Callable[[str], Found]) -> SearchTool:
    return lambda call: search(str(call["query"]))
