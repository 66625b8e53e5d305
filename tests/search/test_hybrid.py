"""The fused search: ranks of every component, shown by the one that ranked the file best."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from repairlab.contract.controls import SharedControls
from repairlab.contract.strict import load
from repairlab.search.hybrid import Component, HybridResult, HybridSearch, component
from repairlab.search.results import Hit, QueryError

ROOT = Path(__file__).resolve().parent.parent.parent
SHARED = load(SharedControls, ROOT / "contracts" / "shared.toml")


class File:
    def __init__(self, path: str) -> None:
        self.path = path


def ranks(name: str, paths: Sequence[str]) -> Component:
    def show(_: Sequence[File], file: File, rank: int, components: dict[str, int]) -> Hit:
        return Hit(file.path, rank, 1, (f"shown by {name}",), (), components)

    return component(lambda _query, _files: [File(path) for path in paths], lambda found: found, show)


def refuses(reason: str) -> Component:
    return lambda _query, _files: QueryError(reason)


def find(**components: Component) -> HybridResult | QueryError:
    return HybridSearch(components, SHARED.search, SHARED.fusion).find("query")


def test_a_file_that_two_components_rank_beats_one_that_a_single_one_ranks_first() -> None:
    result = find(exact=ranks("exact", ["a", "b"]), lexical=ranks("lexical", ["c", "b"]))
    assert isinstance(result, HybridResult)
    assert [(hit.path, dict(hit.components)) for hit in result.hits] == [
        ("b", {"exact": 2, "lexical": 2}),
        ("a", {"exact": 1}),
        ("c", {"lexical": 1}),
    ]


def test_a_file_is_shown_by_the_component_that_ranked_it_best_and_ties_by_their_order() -> None:
    result = find(
        exact=ranks("exact", ["a", "b"]),
        lexical=ranks("lexical", ["b", "a"]),
        symbols=ranks("symbols", ["b"]),
    )
    assert isinstance(result, HybridResult)
    assert {hit.path: hit.lines for hit in result.hits} == {
        "b": ("shown by lexical",),
        "a": ("shown by exact",),
    }


def test_at_most_five_files_are_shown_and_the_whole_order_is_kept() -> None:
    result = find(exact=ranks("exact", [f"f{n}" for n in range(9)]))
    assert isinstance(result, HybridResult)
    assert len(result.hits) == 5
    assert len(result.fused) == 9


def test_a_component_that_cannot_take_the_query_contributes_nothing_and_says_why() -> None:
    result = find(exact=refuses("several lines"), lexical=ranks("lexical", ["a"]))
    assert isinstance(result, HybridResult)
    assert [hit.path for hit in result.hits] == ["a"]
    assert result.notes == {"exact": "several lines"}


def test_a_query_that_no_component_can_take_is_an_error_with_each_reason_once() -> None:
    assert find(exact=refuses("empty"), lexical=refuses("empty"), symbols=refuses("no name")) == QueryError(
        "empty; no name"
    )


@pytest.mark.parametrize("count", [50, 51, 80])
def test_a_component_contributes_its_best_fifty_files(count: int) -> None:
    result = find(exact=ranks("exact", [f"f{n:02d}" for n in range(count)]))
    assert isinstance(result, HybridResult)
    assert len(result.fused) == 50


def test_no_match_anywhere_is_an_empty_answer() -> None:
    result = find(exact=ranks("exact", []), lexical=ranks("lexical", []))
    assert isinstance(result, HybridResult)
    assert result.hits == ()
