"""Numbered excerpts: only a line feed ends a line, and nothing is shown that was not asked for."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repairlab.agents.viewing import numbered, split_lines
from repairlab.contract.controls import SharedControls, View
from repairlab.contract.strict import load

ROOT = Path(__file__).resolve().parent.parent.parent
VIEW = load(SharedControls, ROOT / "contracts" / "shared.toml").view


def test_lines_are_numbered_from_one() -> None:
    text = numbered("a.py", b"one\ntwo\nthree\n", 2, 3, VIEW).text
    assert text == "a.py, lines 2 to 3 of 3:\n2\ttwo\n3\tthree"


def test_one_call_shows_at_most_the_frozen_number_of_lines() -> None:
    excerpt = numbered("a.py", b"x\n" * 500, 11, 500, VIEW)
    assert excerpt.lines == (11, 210)
    assert excerpt.text.startswith("a.py, lines 11 to 210 of 500 (one call shows at most 200):")
    assert excerpt.text.count("\n") == 200


@pytest.mark.parametrize("data", [b"a\x0cb\n", "a\u2028b\n".encode(), b"a\rb\n", b"a\x0bb\n", b"a\x85b\n"])
def test_p05_only_a_line_feed_ends_a_line(data: bytes) -> None:
    assert numbered("a", data, 1, 9, VIEW).lines == (1, 1)


def test_s01_bytes_that_are_not_utf8_are_shown_replaced() -> None:
    assert "caf\ufffd" in numbered("a", b"caf\xe9\n", 1, 1, VIEW).text


def test_s04_a_very_long_line_is_cut_and_says_by_how_much() -> None:
    view = View(read_lines=200, line_characters=100, answer_characters=10_000)
    text = numbered("a", b"x" * 260, 1, 1, view).text
    assert text.endswith("x" * 100 + " [cut: 160 characters]")


@pytest.mark.parametrize(
    ("start", "end", "words"),
    [
        (0, 5, "counted from 1"),
        (-3, 5, "counted from 1"),
        (5, 4, "before start_line"),
        (4, 9, "past its end"),
    ],
)
def test_c11e_a_range_that_cannot_be_shown_says_why(start: int, end: int, words: str) -> None:
    excerpt = numbered("a", b"1\n2\n3\n", start, end, VIEW)
    assert excerpt.lines is None
    assert words in excerpt.text


def test_an_empty_file_is_called_empty() -> None:
    assert numbered("a", b"", 1, 1, VIEW).text == "a is empty."


@given(st.binary())
def test_lines_join_to_the_same_bytes(data: bytes) -> None:
    joined = b"\n".join(split_lines(data))
    assert data in (joined, joined + b"\n")
