"""The search tools of the interactive treatments, over the search components they are made of."""

from __future__ import annotations

from dataclasses import dataclass

from repairlab.search.exact import ExactSearch, Mode
from repairlab.search.results import Hit, QueryError, render


@dataclass(frozen=True, slots=True)
class Found:
    """What a search shows: the text for the model, and its files with the rank each component gave them."""

    text: str
    hits: tuple[Hit, ...] = ()
    valid: bool = True
    """False when the query could not be run; the text then says why."""


@dataclass(frozen=True, slots=True)
class LexicalFloor:
    """The one search tool of H000: exact search alone."""

    exact: ExactSearch

    def search(self, query: str, mode: str) -> Found:
        """Answer one call. `mode` is one of the tool's choices, so it is one of `Mode`."""
        result = self.exact.find(query, Mode(mode))
        if isinstance(result, QueryError):
            return Found(f"The query cannot be run: {result.reason}.", valid=False)
        if not result.hits:
            return Found("No line matches.")
        lines, files = result.matching_lines, result.matching_files
        summary = f"{lines} matching {_plural('line', lines)} in {files} {_plural('file', files)}."
        if files > len(result.hits):
            summary += f" The first {len(result.hits)} files are shown."
        return Found(render(result.hits, summary=summary), result.hits)


def _plural(noun: str, count: int) -> str:
    return noun if count == 1 else f"{noun}s"
