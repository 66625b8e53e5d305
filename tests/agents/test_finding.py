"""Finding files and searching text over real corpora: the tools of A002."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from repairlab.agents.finding import FileFinder
from repairlab.agents.toolbox import Toolbox
from repairlab.contract.controls import Paths
from repairlab.contract.strict import load
from repairlab.contract.treatments import Treatments
from repairlab.repositories.mirrors import Mirror
from repairlab.runner.indexes import Indexes
from repairlab.runner.searching import search_tools
from repairlab.search.corpus import Corpus, build_corpus

CONTRACTS = Path(__file__).resolve().parent.parent.parent / "contracts"


@pytest.fixture
def corpus(bench: Any, mirror: Mirror, tmp_path: Path) -> Corpus:
    return build_corpus(mirror, "HEAD", "python", bench.shared.corpus, cache=tmp_path / "corpora")


@pytest.fixture
def find(bench: Any, corpus: Corpus) -> Callable[..., str]:
    def ask(name: str, listed: int = 100) -> str:
        return FileFinder(corpus, bench.shared.search, Paths(listed_files=listed)).find(name).text

    return ask


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("calc", ["pkg/calc.py", "tests/test_calc.py"]),
        ("pkg/", ["pkg/calc.py"]),
        ("calc.py", ["pkg/calc.py", "tests/test_calc.py"]),
        ("calc*", ["pkg/calc.py"]),
        ("*.py", ["pkg/calc.py", "tests/test_calc.py"]),
        ("*/test_*", ["tests/test_calc.py"]),
        ("?alc.[pq]y", ["pkg/calc.py"]),
        ("pkg*", []),
        ("pkg/*", ["pkg/calc.py"]),
        ("CALC", []),
        ("(calc", []),
    ],
)
def test_a_name_lists_the_paths_that_it_fits(find: Callable[..., str], name: str, found: list[str]) -> None:
    counts = {0: "No file matches.", 1: "1 file matches.", 2: "2 files match."}
    assert find(name).split("\n") == [counts[len(found)], *found]


def test_a_listing_is_capped_and_says_so(find: Callable[..., str]) -> None:
    assert find("calc", 1) == "2 files match. The first 1 are listed.\npkg/calc.py"


@pytest.mark.parametrize("name", ["", "  ", "x" * 1001])
def test_a_name_that_cannot_be_looked_for_is_refused(bench: Any, corpus: Corpus, name: str) -> None:
    found = FileFinder(corpus, bench.shared.search, bench.shared.paths).find(name)
    assert not found.valid
    assert found.text.startswith("The name cannot be looked for: it ")


def test_a_glob_of_many_stars_ends_soon(find: Callable[..., str]) -> None:
    assert find("*a" * 400 + "z") == "No file matches."


def toolbox(bench: Any, corpus: Corpus, treatment: str) -> Toolbox:
    arm = load(Treatments, CONTRACTS / "treatments.toml").root[treatment]
    return Toolbox(
        bench.workspace,
        bench.shared.view,
        bench.tests,
        search_tools(bench.shared, arm, bench.wording, Indexes(corpus), None),
    )


def test_search_text_answers_as_search_of_h000_does(
    bench: Any, corpus: Corpus, call_of: Callable[..., Any]
) -> None:
    a002, h000 = (toolbox(bench, corpus, name) for name in ("A002", "H000"))
    for query, mode in (("add", "literal"), (r"def \w+\(", "regex"), ("(", "regex"), ("nowhere", "literal")):
        answer = a002.execute(call_of("search_text", query=query, mode=mode))
        assert answer == h000.execute(call_of("search", query=query, mode=mode))


def test_found_text_tells_its_component_and_a_listing_shows_no_file(
    bench: Any, corpus: Corpus, call_of: Callable[..., Any]
) -> None:
    a002 = toolbox(bench, corpus, "A002")
    shown = a002.execute(call_of("search_text", query="add", mode="literal")).facts["shown"]
    assert shown == [{"path": "pkg/calc.py", "start_line": 1, "end_line": 6, "components": {"exact": 1}}]
    listing = a002.execute(call_of("find_files", name="calc"))
    assert (listing.facts["shown"], listing.accepted) == ([], True)
    assert "pkg/calc.py" in listing.text


def test_searches_show_the_base_and_never_an_edit(
    bench: Any, corpus: Corpus, call_of: Callable[..., Any], fix: str
) -> None:
    a002 = toolbox(bench, corpus, "A002")
    before = a002.execute(call_of("search_text", query="return", mode="literal"))
    assert a002.execute(call_of("apply_patch", diff=fix)).accepted
    assert a002.execute(call_of("search_text", query="return", mode="literal")) == before


def test_a_treatment_has_its_own_tools_alone(bench: Any, corpus: Corpus) -> None:
    arms = load(Treatments, CONTRACTS / "treatments.toml").root

    def tools(name: str) -> Any:
        return search_tools(bench.shared, arms[name], bench.wording, Indexes(corpus), None)

    assert set(tools("A002")) == {"find_files", "search_text"}
    assert set(tools("H000")) == {"search"}
    assert not tools("H018")
    assert (arms["A002"].label, arms["H000"].label) == ("controlled adaptation", "")
