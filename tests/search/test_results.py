from __future__ import annotations

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repairlab.search.results import Hit, quote_path, render, show_line
from repairlab.search.snippets import best_window


def test_an_answer_has_a_golden_text():
    hits = [
        Hit("a/b.py", 1, 9, ("def f():", "    return needle"), (10,), {"exact": 1}),
        Hit("with\nnewline.py", 2, 1, ("needle",), (1,), {"exact": 2}),
    ]

    assert render(hits, summary="2 files match.") == (
        "2 files match.\n"
        "\n"
        "1. a/b.py (lines 9-10)\n"
        "   9 | def f():\n"
        "> 10 |     return needle\n"
        "\n"
        '2. "with\\nnewline.py" (lines 1-1)\n'
        "> 1 | needle"
    )
    assert render([], summary="No file matches.") == "No file matches."


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        (b"abcd", "abcd"),
        (b"abcde", "abcd [cut: 1 characters]"),
        ("éééé".encode(), "éééé"),
        ("ééééé".encode(), "éééé [cut: 1 characters]"),
        (b"a\xe9b", "a\ufffdb"),
        (b"ab\r", "ab\r"),
        (b"\xef\xbb\xbfx", "\ufeffx"),
    ],
)
def test_a_line_is_cut_by_characters_and_says_by_how_many(line, shown):
    assert show_line(line, 4) == shown


@pytest.mark.parametrize(
    "name", [b"a b.py", b'q"uote.py', b"back\\slash.py", b"n\n\t\r\x01.py", b"\xff.py", b"plain.py"]
)
def test_s08_a_path_is_quoted_as_git_quotes_it(git_tree, name):
    mirror, _ = git_tree({name: b"x"})
    command = [
        "git",
        "-c",
        "core.quotePath=false",
        "-C",
        str(mirror.path),
        "ls-tree",
        "-r",
        "--name-only",
        "main",
    ]
    shown = subprocess.run(command, capture_output=True, check=True).stdout.rstrip(b"\n")
    path = name.decode("utf-8", "surrogateescape")

    # Without quotePath git shows bytes beyond ASCII raw; they are escaped here where they are no text.
    expected = '"\\377.py"' if name == b"\xff.py" else shown.decode()
    assert quote_path(path) == expected
    quote_path(path).encode("utf-8")


def test_a_path_in_another_script_is_shown_as_it_is():
    assert quote_path("größe/日本.py") == "größe/日本.py"
    assert quote_path("a\u2028b.py") == '"a\\342\\200\\250b.py"'


@given(st.sets(st.integers(1, 80), min_size=1), st.integers(0, 30), st.integers(1, 30))
def test_a_window_holds_as_many_matching_lines_as_any_and_is_the_earliest(lines, extra, size):
    matching = sorted(lines)
    total = matching[-1] + extra
    window = best_window(matching, total, size)

    def held(start: int) -> int:
        return sum(start <= line < start + size for line in matching)

    most = max(held(start) for start in range(1, total + 1))
    assert held(window.start) == most
    assert window.end - window.start + 1 == min(size, total)
    assert 1 <= window.start <= window.end <= total
    first = next(line for line in matching if held(line) == most)
    shown = [line for line in matching if window.start <= line <= window.end]
    assert shown[0] == first


def test_a_lone_match_stands_in_the_middle():
    assert best_window([50], 100, 24) == (39, 62)
    assert best_window([2], 100, 24) == (1, 24)
    assert best_window([99], 100, 24) == (77, 100)
    assert best_window([2], 3, 24) == (1, 3)
