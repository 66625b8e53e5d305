"""From a treatment's tools to what answers them."""

from __future__ import annotations

from collections.abc import Mapping

from repairlab.agents.finding import FileFinder
from repairlab.agents.searching import LexicalFloor, SearchTool
from repairlab.contract.controls import SharedControls
from repairlab.contract.treatments import Treatment
from repairlab.search.corpus import Corpus
from repairlab.search.exact import ExactSearch

SEARCH_TOOLS = frozenset({"search", "find_files", "search_text"})
BUILT_COMPONENTS = frozenset({"exact", "paths"})


def search_tools(
    shared: SharedControls, treatment: Treatment, corpus: Corpus | None
) -> Mapping[str, SearchTool]:
    """The search tools of `treatment` by name; none where it searches nothing."""
    if corpus is None or not treatment.searches:
        return {}
    floor = LexicalFloor(ExactSearch(corpus, shared.search, shared.view))
    finder = FileFinder(corpus, shared.search, shared.paths)
    known: dict[str, SearchTool] = {
        "search": lambda call: floor.search(str(call["query"]), str(call["mode"])),
        "search_text": lambda call: floor.search(str(call["query"]), str(call["mode"])),
        "find_files": lambda call: finder.find(str(call["name"])),
    }
    return {name: known[name] for name in treatment.tools if name in known}
