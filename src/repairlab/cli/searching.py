"""`repairlab search`: each search tool from a shell, over a commit of any repository."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from repairlab.cli.embedding import dense_search, embedder_named
from repairlab.cli.settings import settings_for
from repairlab.contract.controls import SharedControls
from repairlab.contract.errors import BadInput
from repairlab.contract.strict import load
from repairlab.contract.study import open_study
from repairlab.contract.task import Language
from repairlab.repositories.sources import UPSTREAM, Sources
from repairlab.runner.workplace import Workplace
from repairlab.search.dense_search import DenseSearch
from repairlab.search.exact import Mode
from repairlab.search.fusion_dense_first import DenseFirstSearch
from repairlab.search.graph_search import Seed
from repairlab.search.hybrid import HybridSearch
from repairlab.search.results import Hit, QueryError, render
from repairlab.search.toolset import SearchPlaces, Toolset, dense_component, open_toolset

AnswerT = TypeVar("AnswerT")
TOOLS = ("exact", "lexical", "symbols", "dense", "dense-first", "hybrid", "graph")
_EMBEDDING = frozenset({"dense", "dense-first"})
"""Tools that are nothing without an embedder; the fused ones do without, and say so."""


@dataclass(frozen=True, slots=True)
class Question:
    """What the command line was given."""

    study: Path
    place: str
    query: str
    tool: str
    mode: str
    language: str
    embedder: str
    host: str
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
    if question.tool in _EMBEDDING and not question.embedder:
        raise BadInput(
            f"--tool {question.tool} needs an embedder",
            repair="name one of contracts/models.toml, such as --embedder HASHING, which needs no model",
        )
    settings = settings_for(study, os.environ, question.sources, question.cache, question.host)
    workplace = Workplace(settings.cache, Sources(settings.sources or UPSTREAM))
    mirror = workplace.mirrors.ensure(repository, [commit])
    shared = load(SharedControls, study.contracts / "shared.toml")
    places = SearchPlaces(workplace.search)
    tools = open_toolset(mirror, commit, _language(question.language), shared, places)
    with ExitStack() as stack:
        dense = None
        if question.embedder:
            model = embedder_named(study, question.embedder)
            dense = stack.enter_context(dense_search(study, model, tools.corpus, shared, places, settings))
        summary, hits = _answer(tools, dense, shared, question)
    print(render(hits, summary=summary))
    if explain:
        _explain(hits)


def _language(name: str) -> Language:
    if name == "python":
        return "python"
    if name == "go":
        return "go"
    raise BadInput(f"--language {name}: there are python, go")


def _answer(
    tools: Toolset, dense: DenseSearch | None, shared: SharedControls, question: Question
) -> tuple[str, Sequence[Hit]]:
    tool, query = question.tool, question.query
    if tool == "exact":
        found = _taken(tools.exact.find(query, _mode(question.mode)))
        return f"{found.matching_lines} matching lines in {found.matching_files} files.", found.hits
    if tool in ("lexical", "symbols"):
        hits = _taken(tools.lexical.find(query) if tool == "lexical" else tools.symbols.find(query))
        return f"{len(hits)} files.", hits
    if dense is not None and tool in _EMBEDDING:
        return _dense_answer(tools, dense, shared, question)
    fused = _taken(_hybrid(tools, dense, shared).find(query))
    if tool == "hybrid":
        notes = dict(fused.notes) | ({} if dense else {"dense": "no --embedder was named"})
        told = "".join(f" ({name}: {reason})" for name, reason in sorted(notes.items()))
        return f"{len(fused.fused)} files in the fused order.{told}", fused.hits
    seeds = [Seed(hit.path, min(hit.matching_lines, default=hit.start_line)) for hit in fused.hits]
    ranking, hits = tools.graph.find(seeds)
    return tools.graph.summary(ranking), hits


def _dense_answer(
    tools: Toolset, dense: DenseSearch, shared: SharedControls, question: Question
) -> tuple[str, Sequence[Hit]]:
    if question.tool == "dense":
        hits = _taken(dense.find(question.query))
        return f"{len(hits)} files.", hits
    first = DenseFirstSearch(tools.exact, dense, shared.search)
    found = _taken(first.find(question.query, _mode(question.mode)))
    note = f" ({found.note})" if found.note else ""
    lines, files = found.matching_lines, found.matching_files
    return f"Dense first, then {lines} matching lines in {files} files.{note}", found.hits


def _hybrid(tools: Toolset, dense: DenseSearch | None, shared: SharedControls) -> HybridSearch:
    if dense is None:
        return tools.hybrid
    components = {**tools.components, "dense": dense_component(dense)}
    return HybridSearch(components, shared.search, shared.fusion)


def _mode(name: str) -> Mode:
    if name not in set(Mode):
        raise BadInput(f"--mode {name}: there are {', '.join(Mode)}")
    return Mode(name)


def _taken(answer: AnswerT | QueryError) -> AnswerT:
    if isinstance(answer, QueryError):
        raise BadInput(f"the query cannot be run: {answer.reason}")
    return answer


def _explain(hits: Sequence[Hit]) -> None:
    print()
    for hit in hits:
        ranks = ", ".join(f"{name} {rank}" for name, rank in sorted(hit.components.items()))
        print(f"{hit.rank}. {hit.path}: {ranks}")
