import unittest

import pytest

from almanak.engine.run import Result
from almanak.formats.layout import grid, is_numeric, one_line
from almanak.formats.table import render


def result(*records, columns=None):
    names = columns or tuple(dict.fromkeys(name for record in records for name in record))
    return Result(tuple(names), tuple(records))


class RenderTest(unittest.TestCase):
    def test_columns_line_up(self):
        text = render(result({"title": "Opening", "seats": 80}, {"title": "On bread and salt", "seats": 7}))
        self.assertEqual(text, (
            "title              seats\n"
            "-----------------  -----\n"
            "Opening               80\n"
            "On bread and salt      7\n"
        ))  # fmt: skip

    def test_missing(self):
        text = render(result({"a": 1, "b": "x"}, {"a": None, "b": None}), missing="-")
        self.assertEqual(text, "a  b\n-  -\n1  x\n-  -\n")

    def test_no_spaces_at_the_end(self):
        text = render(result({"a": "x", "b": "long"}, {"a": "y", "b": "s"}))
        self.assertEqual(text.splitlines()[-1], "y  s")

    def test_no_columns(self):
        self.assertEqual(render(result()), "")

    def test_no_records(self):
        self.assertEqual(render(result(columns=["day", "n"])), "day  n\n---  -\n")


@pytest.mark.parametrize(
    ("cell", "limit", "shown"),
    [
        ("sheep", 5, "sheep"),
        ("sheepish", 5, "shee…"),
        ("sheepish", 0, "sheepish"),
        ("sheepish", 1, "…"),
        ("größer", 4, "grö…"),
    ],
)
def test_limit(cell, limit, shown):
    lines = render(result({"a": cell}), limit=limit).splitlines()
    assert lines[2] == shown
    assert lines[1] == "-" * len(shown)


def test_a_long_name_is_clipped_as_well():
    assert render(result({"a long name": 1}), limit=4) == "a l…\n----\n   1\n"


class LayoutTest(unittest.TestCase):
    def test_one_line(self):
        self.assertEqual(one_line("a\r\nb\tc\nd"), "a⏎b c⏎d")

    def test_is_numeric(self):
        self.assertTrue(is_numeric([1, None, 2.5]))
        self.assertFalse(is_numeric([1, "2"]))
        self.assertFalse(is_numeric([None]))
        self.assertFalse(is_numeric([True]))

    def test_grid(self):
        table = grid(result({"a": 1, "b": [1, 2]}), missing="?")
        self.assertEqual((table.header, table.rows, table.right), (("a", "b"), (("1", "1, 2"),), (True, False)))
        self.assertEqual(table.column(1), ["b", "1, 2"])
