from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rapidfuzz import fuzz

from repairlab.search.container import open_container, write
from repairlab.search.fuzzy import FuzzyIndex, Similar, fuzzy_sections, fuzzy_table, read_table

NAMES = st.text(alphabet="abcdzAB01_\u00e9\u65e5\U0001f600", max_size=14)


def index_of(texts: list[str]) -> FuzzyIndex:
    return FuzzyIndex(texts, fuzzy_table(texts))


def scan(query: str, texts: list[str], cutoff: int, most: int) -> list[tuple[str, float]]:
    """Every text scored, without a bound: what the index must equal."""
    scored = [(text, fuzz.ratio(query, text)) for text in texts]
    kept = sorted((pair for pair in scored if pair[1] >= cutoff), key=lambda pair: (-pair[1], pair[0]))
    return kept[:most] if query else []


@given(st.lists(NAMES, unique=True, max_size=30), NAMES, st.integers(1, 100), st.integers(1, 5))
@example(["abab", "aabb", "ab"], "abba", 50, 5)
@example(["aaaaaaaa"], "aa", 40, 5)
def test_the_bound_rules_out_no_text_that_reaches_the_cutoff(texts, query, cutoff, most):
    found = index_of(texts).best(query, cutoff=cutoff, most=most)

    assert [(texts[match.number], match.ratio) for match in found] == scan(query, texts, cutoff, most)


def test_most_texts_are_ruled_out_before_they_are_compared():
    texts = [f"{first}{second}_name" for first in "abcdefgh" for second in "ijklmnop"]
    index = index_of(texts)

    assert len(index._candidates("ai_name", 95)) == 1
    assert len(index._candidates("ai_name", 80)) < len(texts) / 2


def test_s06_an_empty_query_matches_nothing_not_even_an_empty_text():
    assert index_of(["", "a"]).best("", cutoff=1, most=5) == ()
    assert index_of([]).best("a", cutoff=1, most=5) == ()


def test_ties_go_by_text_whatever_the_order_of_the_texts():
    for texts in (["nbme", "ncme", "name"], ["ncme", "nbme", "name"]):
        found = index_of(texts).best("nxme", cutoff=70, most=2)
        assert [texts[match.number] for match in found] == ["name", "nbme"]


def test_a_table_reads_as_it_was_written(tmp_path):
    texts = ["beta", "a", "größe", "", "alphabet"]
    path = tmp_path / "x"
    write(path, kind="test", digest="d", facts={}, sections=fuzzy_sections(texts, "names"))
    table = read_table(open_container(path, kind="test", digest="d"), "names")

    assert FuzzyIndex(texts, table).best("grösse", cutoff=60, most=1) == (
        Similar(2, pytest.approx(fuzz.ratio("grösse", "größe"))),
    )
    assert table.lengths.tolist() == [0, 1, 4, 5, 8]
    assert table.order.tolist() == [3, 1, 0, 2, 4]
