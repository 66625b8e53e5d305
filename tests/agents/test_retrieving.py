"""The search tools of H003, H007 and H011 over a real corpus, its indexes and the hashing embedder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from repairlab.agents.toolbox import Answer, Toolbox
from repairlab.contract.strict import load
from repairlab.contract.treatments import Treatments
from repairlab.hosts.emulator.engines.hashing import embed
from repairlab.repositories.mirrors import Mirror
from repairlab.runner.indexes import Indexes
from repairlab.runner.searching import search_tools
from repairlab.search.chunks import ChunkRules, CorpusChunks
from repairlab.search.dense import DenseIndex, embed_corpus
from repairlab.search.toolset import SearchPlaces, open_toolset
from repairlab.search.vectors import QueryVectors, VectorStore

CONTRACTS = Path(__file__).resolve().parent.parent.parent / "contracts"


class Hashing:
    """The emulated host's embedder without the host; counts the queries."""

    def __init__(self) -> None:
        self.queries: list[str] = []

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        return [embed(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        self.queries.append(text)
        return embed(text)


@pytest.fixture
def hashing() -> Hashing:
    return Hashing()


@pytest.fixture
def ask(
    bench: Any, mirror: Mirror, tmp_path: Path, hashing: Hashing, call_of: Callable[..., Any]
) -> Callable[..., Answer]:
    """Calls one tool of a treatment; all calls of a test share one cell's query vectors."""
    shared, places = bench.shared, SearchPlaces(tmp_path / "search")
    toolset = open_toolset(mirror, "HEAD", "python", shared, places)
    chunks = CorpusChunks(toolset.corpus, ChunkRules.of(shared.dense), places.blobs)
    store = VectorStore(places.blobs, {"key": "hashing"}, shared.dense.dimensions)
    embed_corpus(chunks, store, hashing)
    indexes = Indexes(toolset.corpus, toolset, DenseIndex(chunks, store))
    queries = QueryVectors(hashing, shared.dense.query_instruction, shared.dense.dimensions)
    arms = load(Treatments, CONTRACTS / "treatments.toml").root

    def answer(treatment: str, tool: str, **arguments: str) -> Answer:
        tools = search_tools(shared, arms[treatment], bench.wording, indexes, queries)
        return Toolbox(bench.workspace, shared.view, bench.tests, tools).execute(call_of(tool, **arguments))

    return answer


def ranks(answer: Answer) -> dict[str, dict[str, int]]:
    shown: Any = answer.facts["shown"]
    return {one["path"]: one["components"] for one in shown}


def test_h003_shows_dense_files_first_and_says_who_ranked_them(ask: Callable[..., Answer]) -> None:
    answer = ask("H003", "search", query="return a - b", mode="substring")
    assert ranks(answer) == {"pkg/calc.py": {"dense": 1, "exact": 1}, "tests/test_calc.py": {"dense": 2}}
    assert answer.text.startswith("2 matching lines in 1 file. The files nearest in meaning come first.\n")


def test_h003_sends_a_regular_expression_to_exact_search_alone(
    ask: Callable[..., Answer], hashing: Hashing
) -> None:
    answer = ask("H003", "search", query=r"def \w+", mode="regex")
    assert hashing.queries == []
    assert answer == ask("H000", "search", query=r"def \w+", mode="regex")
    assert not ask("H003", "search", query="(", mode="regex").accepted


def test_h007_fuses_all_components_on_one_query(ask: Callable[..., Answer]) -> None:
    answer = ask("H007", "search", query="add")
    assert ranks(answer)["pkg/calc.py"] == {"dense": 1, "exact": 1, "lexical": 1, "symbols": 1}
    assert answer.text.startswith("The best 2 files.\n")
    many = ask("H007", "search", query="add\nsub")
    assert "note: exact: a match never spans lines" in many.text
    assert "exact" not in ranks(many)["pkg/calc.py"]


@pytest.mark.parametrize(
    ("tool", "component"),
    [("search_lexical", "lexical"), ("search_syntax", "symbols"), ("search_dense", "dense")],
)
def test_h011_s_tools_show_one_component_each(ask: Callable[..., Answer], tool: str, component: str) -> None:
    assert ranks(ask("H011", tool, query="sub"))["pkg/calc.py"] == {component: 1}


def test_h011_s_exact_tool_is_h000_s_search(ask: Callable[..., Answer]) -> None:
    arguments = {"query": "sub", "mode": "literal"}
    assert ask("H011", "search_exact", **arguments) == ask("H000", "search", **arguments)


def test_h011_s_graph_starts_from_the_fused_files_so_it_embeds(
    ask: Callable[..., Answer], hashing: Hashing
) -> None:
    answer = ask("H011", "search_graph", query="add")
    assert len(hashing.queries) == 1
    assert answer.text.startswith("seed 1: ")
    assert all(components.keys() == {"graph"} for components in ranks(answer).values())


@pytest.mark.parametrize(
    ("treatment", "tool"),
    [("H007", "search"), *(("H011", f"search_{name}") for name in ("lexical", "syntax", "dense", "graph"))],
)
def test_an_empty_query_is_refused_in_words(ask: Callable[..., Answer], treatment: str, tool: str) -> None:
    answer = ask(treatment, tool, query=" ")
    assert (answer.accepted, answer.facts["shown"]) == (False, [])
    assert answer.text.startswith("The query cannot be run: ")


def test_a_query_is_embedded_once_a_cell_whatever_asks_for_it(
    ask: Callable[..., Answer], hashing: Hashing, bench: Any
) -> None:
    for tool in ("search_dense", "search_graph", "search_dense"):
        ask("H011", tool, query="add")
    assert hashing.queries == [f"Instruct: {bench.shared.dense.query_instruction}\nQuery:add"]


def test_a_word_that_stands_nowhere_is_an_empty_answer(ask: Callable[..., Answer]) -> None:
    answer = ask("H011", "search_syntax", query="zzzz_nowhere")
    assert (answer.text, answer.accepted) == ("No file matches.", True)
