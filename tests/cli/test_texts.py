"""Long and hostile texts on a terminal."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from repairlab.cli.texts import shortened, side_by_side

LINES = st.lists(
    st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z", "M"]) | st.just(" ")), max_size=6
)


@settings(max_examples=60)
@given(LINES, LINES, st.integers(80, 200))
def test_two_columns_never_pass_the_width_and_lose_no_character(
    left: list[str], right: list[str], width: int
) -> None:
    rows = list(side_by_side([left, right], width))
    assert all(cell_len(row) <= width for row in rows)
    said = "".join("".join(rows).split())
    for text in (*left, *right):
        assert all(said.count(character) for character in text if not character.isspace())


def test_the_right_column_begins_at_one_place_whatever_the_left_one_holds() -> None:
    rows = list(side_by_side([["plain", "日本語", ""], ["R", "R", "R"]], 80))
    assert {cell_len(row[: row.index("|")]) for row in rows} == {39}


def test_recorded_text_cannot_steer_the_terminal() -> None:
    assert list(shortened("a\x1b[2Jb\x07\u202e\tc", full=True)) == ["a\\x1b[2Jb\\x07\\u202e    c"]


def test_a_shortened_text_says_by_how_much() -> None:
    text = "\n".join(["x" * 1600, *map(str, range(30))])
    short = list(shortened(text, full=False, lines=3))
    assert short == ["x" * 1500 + " ... (100 more characters)", "0", "1", "... (28 more lines)"]
    assert list(shortened(text, full=True)) == text.split("\n")
