"""Which lines hold a text, against a naive scan of the same files."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from repairlab.search.lines import lines_around
from repairlab.search.matchers import TextMatcher, regex_matcher
from repairlab.search.shape_places import text_places

PIECES = st.lists(st.sampled_from([b"a", b"ab", b"b", b" ", b"\n", b"\xe9"]), max_size=40).map(b"".join)
TEXTS = st.sampled_from([b"a", b"ab", b"ba", b"aab", b"abab", b"\xe9"])


def naive(files: list[bytes], text: bytes) -> list[tuple[int, bytes]]:
    return [(n, line) for n, data in enumerate(files) for line in data.split(b"\n") if text in line]


@given(st.lists(PIECES, max_size=5), TEXTS)
@example([b"ab", b"", b"ab\n", b"xab"], b"ab")
@example([b"a\n\na", b"a"], b"a")
def test_the_lines_are_those_of_a_naive_scan(files: list[bytes], text: bytes):
    joined = b"".join(data + b"\0" for data in files)
    buffer = np.frombuffer(joined, np.uint8)
    newlines = np.flatnonzero(buffer == 0x0A).astype(np.uint32)
    starts = np.cumsum([0, *(len(data) + 1 for data in files)]).astype(np.uint32)
    places = text_places(text, buffer)
    lines = lines_around(places, buffer, newlines, starts)

    assert places.tolist() == [n for n in range(len(joined)) if joined.startswith(text, n)]
    found = zip(lines.files.tolist(), lines.text.split(b"\n"), strict=False)
    assert list(found) == naive(files, text)
    assert lines.begins.tolist() == [0, *(n + 1 for n, byte in enumerate(lines.text) if byte == 10)][:-1]


def test_a_text_across_the_bytes_compared_at_once_is_found():
    buffer = np.zeros(2**18 * 2 + 1, np.uint8)
    for place in (0, 2**18 - 2, 2**18 - 1, 2**18, 2**19 - 2):
        buffer[:] = 1
        buffer[place : place + 3] = (7, 8, 9)

        assert text_places(bytes((7, 8, 9)), buffer).tolist() == [place]
        assert text_places(bytes((8,)), buffer).tolist() == [place + 1]


MANY = [b"x = 1", b"", b"return x", b"  x", b"xx", "größe x".encode(), b"\xe9 x", b"y"]


@given(
    st.lists(st.sampled_from(MANY), max_size=150),
    st.sampled_from(["x", ".", r"x\b", "^x", "x$", "x|y", r"\bx", "(?i)X", r"\Ax", r"x\z", r"[^x]", "é"]),
    st.booleans(),
)
@example([b"x"] * 100, "x", False)
@example([b"x"] * 100 + [b""] * 100, "x", True)
def test_a_count_is_the_number_of_starts(lines: list[bytes], pattern: str, newline: bool):
    data = b"\n".join(lines) + (b"\n" if newline else b"")
    matcher = regex_matcher(pattern, 4000)

    assert matcher.count(data) == len(list(matcher.starts(data)))


@given(st.lists(st.sampled_from(MANY), max_size=30), st.sampled_from(["x", "=", "x =", "é", "ö"]))
@pytest.mark.parametrize("whole", [False, True])
def test_a_count_of_a_text_is_the_number_of_its_starts(whole: bool, lines: list[bytes], text: str):
    data = b"\n".join(lines)
    matcher = TextMatcher(text, whole=whole)

    assert matcher.count(data) == len(list(matcher.starts(data)))
    assert matcher.count(data.replace(b"\xe9", b"")) == len(list(matcher.starts(data.replace(b"\xe9", b""))))


@given(
    st.lists(st.sampled_from([line for line in MANY if b"\xe9" not in line]), max_size=30),
    st.sampled_from(["x", r"x\b", "^x", "x$", r"\bx ", "x = .", "[^x]x", r"x\s"]),
)
def test_runs_hold_exactly_the_matching_lines(lines: list[bytes], pattern: str):
    data = b"".join(line + b"\n" for line in lines)
    matcher = regex_matcher(pattern, 4000)
    assert matcher.by_line is not None

    taken = [data[begin:end] for begin, end in matcher.by_line.runs(data)]
    assert b"".join(taken) == b"".join(line + b"\n" for line in lines if list(matcher.starts(line)))


@pytest.mark.parametrize("pattern", [r"\Ax", r"x\z", "(?-m)^x", "(?s-m:x$)", "(?i)x", "x|y", "."])
def test_a_pattern_that_says_more_or_less_than_lines_with_a_text_is_not_filtered(pattern: str):
    assert regex_matcher(pattern, 4000).by_line is None
