"""`repairlab search` and `repairlab cache`, as a person uses them."""

from __future__ import annotations

from typing import Any

import pytest

LEDGERLINE = "embedded:ledgerline@0d7aa42313ba02b703ec2df77d48a889255dac09"
MILLRACE = "embedded:millrace@8ad0325e0ecc226e49c313e1a3333080cbb190be"


@pytest.mark.parametrize(
    ("tool", "first"),
    [
        ("exact", "tests/test_money_allocation.py"),
        ("lexical", "tests/test_money_allocation.py"),
        ("symbols", "src/ledgerline/money/allocate.py"),
        ("hybrid", "tests/test_money_allocation.py"),
    ],
)
def test_each_tool_ranks_by_its_own_kind_of_evidence(embedded: Any, tool: str, first: str) -> None:
    done = embedded.run("search", LEDGERLINE, "allocate", "--tool", tool, "--explain")
    ranked = [line for line in done.stdout.splitlines() if line.startswith("1. ")]
    assert ranked[0].startswith(f"1. {first} (lines ")
    assert ranked[-1].startswith(f"1. {first}: ")
    shown = [line for line in done.stdout.splitlines() if line[:1].isdigit() and "(lines " in line]
    assert 1 <= len(shown) <= 5


def test_the_graph_shows_neighbours_with_their_relation(embedded: Any) -> None:
    done = embedded.run("search", LEDGERLINE, "allocate", "--tool", "graph")
    assert "calls" in done.stdout
    assert "imports" in done.stdout


@pytest.mark.parametrize("tool", ["dense", "dense-first", "hybrid"])
def test_an_embedder_lets_dense_retrieval_take_part(embedded: Any, tool: str) -> None:
    asked = ("search", LEDGERLINE, "allocate", "--tool", tool, "--embedder", "HASHING", "--explain")
    done = embedded.run(*asked)
    explained = done.stdout.rpartition("\n\n")[2].splitlines()
    assert len(explained) == 5
    assert any("dense 1" in line for line in explained)
    assert ("exact" in done.stdout.rpartition("\n\n")[2]) == (tool != "dense")
    assert embedded.run(*asked).stdout == done.stdout


def test_without_an_embedder_the_hybrid_says_what_is_missing(embedded: Any) -> None:
    done = embedded.run("search", LEDGERLINE, "allocate", "--tool", "hybrid")
    assert "(dense: no --embedder was named)" in done.stdout


def test_go_sources_are_searched_too(embedded: Any) -> None:
    done = embedded.run("search", MILLRACE, "Bucket", "--tool", "symbols", "--language", "go")
    assert "1. limit/bucket.go (lines " in done.stdout


def test_the_same_query_gives_the_same_bytes(embedded: Any) -> None:
    asked = ("search", LEDGERLINE, "round half", "--tool", "hybrid", "--explain")
    assert embedded.run(*asked).stdout == embedded.run(*asked).stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("ledgerline", "x"), "is not REPOSITORY@COMMIT"),
        ((LEDGERLINE, "x", "--tool", "magic"), "there are exact, lexical"),
        ((LEDGERLINE, "x", "--tool", "dense"), "needs an embedder"),
        ((LEDGERLINE, "x", "--tool", "dense", "--embedder", "M002"), "there are EMB002, HASHING"),
        ((LEDGERLINE, "x", "--mode", "fuzzy"), "there are literal, substring, regex"),
        ((LEDGERLINE, "x", "--language", "cobol"), "there are python, go"),
        ((LEDGERLINE, "(", "--mode", "regex"), "the query cannot be run"),
        ((LEDGERLINE[:-40] + "0" * 40, "x"), "is not to be had"),
    ],
)
def test_a_question_that_cannot_be_asked_is_refused_with_the_reason(
    embedded: Any, arguments: tuple[str, ...], words: str
) -> None:
    assert words in embedded.run("search", *arguments, expect=2).stderr


def test_the_cache_is_shown_by_part_and_a_part_can_be_cleared(
    fresh: Any, tmp_path: Any, make_place: Any
) -> None:
    place = make_place(fresh.study, tmp_path / "cache")
    place.run("search", LEDGERLINE, "allocate", "--tool", "lexical")
    shown = place.run("cache").stdout
    assert "search material by content" in shown
    assert "mirrors" in shown
    assert "removed" in place.run("cache", "--clear", "search").stdout
    assert not (place.cache / "search").exists()
    assert (place.cache / "mirrors").is_dir()
    assert "there are mirrors" in place.run("cache", "--clear", "everything", expect=2).stderr
