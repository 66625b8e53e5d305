"""`repairlab search`: each search tool from a shell, over a commit of any repository."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from repairlab.cli.settings import settings_for
from repairlab.contract.controls import SharedControls
from repairlab.contract.errors import BadInput
from repairlab.contract.strict import load
from repairlab.contract.study import open_study
from repairlab.contract.task import Language
from repairlab.repositories.sources import UPSTREAM, Sources
from repairlab.runner.workplace import Workplace
from repairlab.search.exact import Mode
from repairlab.search.graph_search import Seed
from repairlab.search.results import Hit, QueryError, render
from repairlab.search.toolset import SearchPlaces, Toolset, open_toolset

AnswerT = TypeVar("AnswerT")
TOOLS = ("exact", "lexical", "symbols", "hybrid", "graph")


@dataclass(frozen=True, slots=True)
class Question:
    """What the command line was given."""

    study: Path
    place: str
    query: str
    tool: str
    mode: str
    language: str
    sources: str
    cache: str


def search_command(question: Question, *, explain: bool) -> None:
    """Print what a tool answers.

    Raises:
        BadInput: an unknown tool, mode or language; a place that is not REPOSITORY@COMMIT; or a query that
            the tool cannot take.
    """
    study = open_study(question.study)
    if question.tool not in TOOLS:
        raise BadInput(f"--tool {question.tool}: there are {', '.join(TOOLS)}")
    repository, _, commit = question.place.rpartition("@")
    if not repository:
        raise BadInput(
            f"{question.place!r} is not REPOSITORY@COMMIT", repair="a commit is named by its 40 digits"
        )
    settings = settings_for(study, os.environ, question.sources, question.cache)
    workplace = Workplace(settings.cache, Sources(settings.sources or UPSTREAM))
    mirror = workplace.mirrors.ensure(repository, [commit])
    shared = load(SharedControls, study.contracts / "shared.toml")
    tools = open_toolset(mirror, commit, _language(question.language), shared, SearchPlaces(workplace.search))
    summary, hits = _answer(tools, question.tool, question.query, question.mode)
    print(render(hits, summary=summary))
    if explain:
        _explain(hits)


def _language(name: str) -> Language:
    if name == "python":
        return "python"
    if name == "go":
        return "go"
    raise BadInput(f"--language {name}: there are python, go")


def _answer(tools: Toolset, tool: str, query: str, mode: str) -> tuple[str, Sequence[Hit]]:
    if tool == "exact":
        if mode not in set(Mode):
            raise BadInput(f"--mode {mode}: there are {', '.join(Mode)}")
        found = _taken(tools.exact.find(query, Mode(mode)))
        return f"{found.matching_lines} matching lines in {found.matching_files} files.", found.hits
    if tool in ("lexical", "symbols"):
        hits = _taken(tools.lexical.find(query) if tool == "lexical" else tools.symbols.find(query))
        return f"{len(hits)} files.", hits
    fused = _taken(tools.hybrid.find(query))
    if tool == "hybrid":
        notes = "".join(f" ({name}: {reason})" for name, reason in sorted(fused.notes.items()))
        return f"{len(fused.fused)} files in the fused order.{notes}", fused.hits
    seeds = [Seed(hit.path, min(hit.matching_lines, default=hit.start_line)) for hit in fused.hits]
    ranking, hits = tools.graph.find(seeds)
    return tools.graph.summary(ranking), hits


def _taken(answer: AnswerT | QueryError) -> AnswerT:
    if isinstance(answer, QueryError):
        raise BadInput(f"the query cannot be run: {answer.reason}")
    return answer


def _explain(hits: Sequence[Hit]) -> None:
    print()
    for hit in hits:
        ranks = ", ".join(f"{name} {rank}" for name, rank in sorted(hit.components.items()))
        print(f"{hit.rank}. {hit.path}: {ranks}")
