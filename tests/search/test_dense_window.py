from hypothesis import given
from hypothesis import strategies as st

from repairlab.search.dense_window import query_words, window_start

LINES = ["import os", "", "def read(path):", "    return open(path)", "", "def write(path):", "    pass", ""]


def test_words_have_three_letters_or_digits_and_no_case():
    assert query_words("Fix parse_Header in a URL v2 größe") == {"fix", "parse", "header", "url", "größe"}


def test_the_window_with_most_distinct_words_is_shown():
    assert window_start(LINES, "write a file", 3) == 3
    assert window_start(LINES, "read path, return open", 2) == 2


def test_more_distinct_words_beat_more_lines():
    lines = ["path", "path", "path", "", "path open", ""]
    assert window_start(lines, "open path", 2) == 3


def test_a_tie_goes_to_more_lines_and_then_to_the_earliest():
    assert window_start(["path", "", "path", "path", "path"], "path", 2) == 2


def test_a_word_counts_inside_a_longer_one():
    assert window_start(["", "", "def ParseHeaders():", ""], "header", 1) == 2


def test_without_any_word_the_first_lines_are_shown():
    assert window_start(LINES, "zzz", 3) == 0
    assert window_start(LINES, "?", 3) == 0
    assert window_start([], "path", 3) == 0


@given(
    lines=st.lists(st.lists(st.sampled_from(["one", "two", "three", ""])).map(" ".join), max_size=12),
    query=st.lists(st.sampled_from(["one", "two", "three", "four"])).map(" ".join),
    size=st.integers(1, 14),
)
def test_no_other_window_is_better(lines, query, size):
    def worth(start):
        shown = [line for line in lines[start : start + size] if any(word in line for word in query.split())]
        return len({word for word in query.split() if any(word in line for line in shown)}), len(shown)

    start = window_start(lines, query, size)
    windows = range(max(1, len(lines) - size + 1))
    assert start in windows
    best = max(worth(other) for other in windows)
    assert start == next(other for other in windows if worth(other) == best)
