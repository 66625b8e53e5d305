import datetime as dt
import unittest

import pytest

from almanak.engine.evaluate import Evaluator
from almanak.engine.functions import builtin
from almanak.errors import EvaluationProblem
from almanak.syntax.expressions import parse_expression

RECORD = {"n": 3, "text": "Straße", "day": dt.date(2024, 6, 1), "list": [1, "b"], "gone": None, "yes": True}
EVALUATOR = Evaluator(builtin(dt.date(2024, 6, 10)))


def value(text):
    return EVALUATOR.value(parse_expression(text), RECORD)


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("n + 1.5", 4.5),
        ("7 % n", 1),
        ("-n", -3),
        ("n / 2", 1.5),
        ("day + 30", dt.date(2024, 7, 1)),
        ("day - 2024-05-01", 31),
        ("text + '!'", "Straße!"),
        ("list + [n]", [1, "b", 3]),
        ("gone + 1", None),
        ("-gone", None),
        ("unknown", None),
        ("upper(text)", "STRASSE"),
        ("if(n > 2, 'many', 'few')", "many"),
    ],
)
def test_values(text, result):
    assert value(text) == result


@pytest.mark.parametrize(
    "text",
    [
        "n = 3", "n != 4", "n < 4 and n <= 3", "day > 2024-05-31", "gone = missing", "gone is missing", "n is not missing",
        "n != 'three'", "text has 'STRASSE'", "list has 'b'", "1 in list", "'tra' in text", "2 not in list",
        "text matches '^S.*e$'", "not gone", "not (gone < 1)", "not (gone >= 1)", "not (n < 'a')", "yes or 1 / 0",
        "not (gone and 1 / 0)",
    ],
)  # fmt: skip
def test_true(text):
    assert value(text) is True


@pytest.mark.parametrize(
    "text",
    [
        "gone < 1", "gone >= 1", "gone < missing", "n < 'a'", "n >= 'a'", "yes > false", "text has gone",
        "gone in list", "gone matches '.'", "n = '3'", "n and gone",
    ],
)  # fmt: skip
def test_false(text):
    assert value(text) is False


class RefusalTest(unittest.TestCase):
    def refuse(self, text, problem):
        with self.assertRaisesRegex(EvaluationProblem, problem):
            value(text)

    def test_division_by_zero(self):
        self.refuse("n / 0", "has no value")
        self.refuse("n % 0", "has no value")

    def test_kinds_that_do_not_fit(self):
        self.refuse("n + text", "a number and a text")
        self.refuse("day + day", "a date and a date")
        self.refuse("-text", "has no value")

    def test_bad_pattern(self):
        self.refuse("text matches '('", "no regular expression")

    def test_unknown_function(self):
        self.refuse("nope(n)", "no function")
