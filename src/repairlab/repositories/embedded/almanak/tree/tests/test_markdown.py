import pytest

from almanak.engine.run import Result
from almanak.formats.markdown import escape, render


def test_aligned():
    text = render(Result(("title", "n"), ({"title": "Opening", "n": 80}, {"title": "End", "n": 7})))
    assert text == (
        "| title   |   n |\n"
        "| ------- | --: |\n"
        "| Opening |  80 |\n"
        "| End     |   7 |\n"
    )  # fmt: skip


def test_no_columns():
    assert render(Result((), ())) == ""


def test_missing():
    assert render(Result(("a",), ({},)), missing="n/a").splitlines()[2] == "| n/a |"


@pytest.mark.parametrize(
    ("cell", "shown"), [("plain", "plain"), ("a|b", r"a\|b"), (r"a\b", r"a\\b"), (r"a\|b", r"a\\\|b")]
)
def test_escape(cell, shown):
    assert escape(cell) == shown


def test_escapes_count_for_the_width():
    text = render(Result(("a",), ({"a": "x|y|z"}, {"a": "wide enough"})))
    assert {len(line) for line in text.splitlines()} == {len("| wide enough |")}
