import datetime as dt
import unittest

import pytest

from almanak.values import compare, equal, from_text, kind, to_text, truth

DAY = dt.date(2024, 6, 1)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None), ("  ", None), ("12", 12), ("-3", -3), ("1.50", 1.5), ("true", True), ("False", False),
        ("2024-06-01", DAY), ("2024-13-01", "2024-13-01"), ("12 apples", "12 apples"), (" x ", " x "),
        ("1e5", "1e5"), ("2.5e3", 2500.0),
    ],
)  # fmt: skip
def test_from_text(text, value):
    assert from_text(text) == value
    assert type(from_text(text)) is type(value)


class KindTest(unittest.TestCase):
    def test_names(self):
        kinds = [kind(v) for v in (None, True, 1, 1.5, DAY, "x", [])]
        self.assertEqual(kinds, ["missing", "boolean", "number", "number", "date", "text", "list"])

    def test_refuses_other_objects(self):
        for value in (object(), {}, dt.datetime(2024, 6, 1)):
            with self.assertRaises(TypeError):
                kind(value)


class EqualTest(unittest.TestCase):
    def test_within_a_kind(self):
        self.assertTrue(equal(1, 1.0))
        self.assertTrue(equal("a", "a"))
        self.assertTrue(equal([1, "a"], [1.0, "a"]))
        self.assertFalse(equal([1], [1, 2]))

    def test_across_kinds(self):
        self.assertFalse(equal(1, True))
        self.assertFalse(equal("1", 1))
        self.assertFalse(equal(None, ""))

    def test_missing_equals_missing(self):
        self.assertTrue(equal(None, None))


class CompareTest(unittest.TestCase):
    def test_order(self):
        self.assertEqual(compare(1, 2.5), -1)
        self.assertEqual(compare("b", "a"), 1)
        self.assertEqual(compare(DAY, DAY), 0)
        self.assertEqual(compare([1, 2], [1, 3]), -1)
        self.assertEqual(compare([1], [1, 0]), -1)

    def test_no_order(self):
        self.assertIsNone(compare(None, 1))
        self.assertIsNone(compare(None, None))
        self.assertIsNone(compare("1", 1))
        self.assertIsNone(compare(True, False))
        self.assertIsNone(compare([None], [1]))


@pytest.mark.parametrize("value", [None, False, 0, 0.0, "", []])
def test_what_counts_as_false(value):
    assert truth(value) is False


@pytest.mark.parametrize("value", [True, 1, -0.5, "0", "false", [None], DAY])
def test_what_counts_as_true(value):
    assert truth(value) is True


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "?"), (True, "true"), (3, "3"), (0.1 + 0.2, "0.3"), (DAY, "2024-06-01"), (["a", None, 2], "a, ?, 2")],
)
def test_to_text(value, text):
    assert to_text(value, "?") == text
