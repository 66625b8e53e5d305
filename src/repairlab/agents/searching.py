"""The search tools of the interactive treatments, over the search components they are made of.

A tool takes the arguments of a valid call, so each is of its type, and required ones are there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from repairlab.agents.calls import Value
from repairlab.search.exact import ExactSearch, Mode
from repairlab.search.results import Hit, QueryError, render


@dataclass(frozen=True, slots=True)
class Found:
    """What a search shows: the text for the model, and its files with the rank each component gave them."""

    text: str
    hits: tuple[Hit, ...] = ()
    valid: bool = True
    """False when the query could not be run; the text then says why."""


SearchTool: TypeAlias = Callable[[Mapping[str, Value]], Found]
"""Answers one call; a query that cannot be run is an answer too."""


@dataclass(frozen=True, slots=True)
class LexicalFloor:
    """Exact search alone: ``search`` of H000, ``search_text`` of A002."""

    exact: ExactSearch

    def search(self, query: str, mode: str) -> Found:
        """Answer one call. `mode` is one of the tool's choices, so it is one of `Mode`."""
        result = self.exact.find(query, Mode(mode))
        if isinstance(result, QueryError):
            return Found(f"The query cannot be run: {result.reason}.", valid=False)
        if not result.hits:
            return Found("No line matches.")
        lines, files = result.matching_lines, result.matching_files
        summary = f"{lines} matching {plural('line', lines)} in {files} {plural('file', files)}."
        if files > len(result.hits):
            summary += f" The first {len(result.hits)} files are shown."
        return Found(render(result.hits, summary=summary), result.hits)


def plural(noun: str, count: int) -> str:
    """`noun` as it stands behind `count`."""
    return noun if count == 1 else f"{noun}s"
