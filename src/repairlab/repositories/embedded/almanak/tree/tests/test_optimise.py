import datetime as dt
import unittest

import pytest

from almanak.engine.evaluate import Evaluator
from almanak.engine.functions import builtin
from almanak.engine.optimise import optimise, optimise_query
from almanak.syntax.expressions import parse_expression
from almanak.syntax.parser import parse_query
from almanak.syntax.unparse import unparse_expression, unparse_query

EVALUATOR = Evaluator(builtin(dt.date(2024, 6, 10)))

RECORDS = [
    {"a": 1, "b": 2, "text": "abc", "list": [1]},
    {"a": 2, "b": 1, "text": "", "list": []},
    {"a": 2, "b": 2, "text": "b", "list": [2, "a"]},
]


def optimised(text):
    return unparse_expression(optimise(parse_expression(text), EVALUATOR))


class FoldTest(unittest.TestCase):
    def test_arithmetic(self):
        self.assertEqual(optimised("a + 2 * 3"), "a + 6")

    def test_functions(self):
        self.assertEqual(optimised("text = upper('x')"), 'text = "X"')

    def test_lists(self):
        self.assertEqual(optimised("a in [1, 1 + 1]"), "a in [1, 2]")

    def test_what_is_not_pure_stays(self):
        self.assertEqual(optimised("today() > 2024-01-01"), "today() > 2024-01-01")

    def test_what_has_no_value_stays(self):
        self.assertEqual(optimised("a = 1 / 0"), "a = 1 / 0")
        self.assertEqual(optimised("nope(1)"), "nope(1)")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a = 1 and true", "a = 1"),
        ("1 and a = 1", "a = 1"),
        ("a = 1 and (false and b)", "a = 1 and false"),
        ("false and a", "false"),
        ("true or a", "true"),
        ("a or false", "not not a"),
        ("not (a = b)", "a != b"),
        ("not a != b", "a = b"),
        ("not not (a = b)", "a = b"),
        ("not not a", "not not a"),
        ("not (a = 1 and b)", "a != 1 or not b"),
        ("not (a or b = 2)", "not a and b != 2"),
        ("not a in list", "not a in list"),
    ],
)
def test_logic(text, shown):
    assert optimised(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "a < b and not (a = 1)",
        "not (a < b or text)",
        "not (a <= b and b <= a)",
        "not not text or a = b",
        "not (text has 'b' or 2 in list)",
        "(a > 1 or false) and not (b > 1)",
        "not (not (a >= b) and text)",
    ],
)
def test_the_value_stays(text):
    expression = parse_expression(text)
    changed = optimise(expression, EVALUATOR)
    for record in RECORDS:
        assert EVALUATOR.value(changed, record) == EVALUATOR.value(expression, record), record


class QueryTest(unittest.TestCase):
    def shown(self, text):
        return unparse_query(optimise_query(parse_query(text), EVALUATOR))

    def test_adjacent_conditions_are_joined(self):
        self.assertEqual(self.shown("s | where a = 1 | where b = 2 | take 1"), "s | where a = 1 and b = 2 | take 1")

    def test_other_stages_keep_conditions_apart(self):
        text = "s | where a = 1 | take 1 | where b = 2"
        self.assertEqual(self.shown(text), text)

    def test_what_is_always_true_goes(self):
        self.assertEqual(self.shown("s | where 1 < 2 | show a"), "s | show a")

    def test_what_is_never_true_stays(self):
        self.assertEqual(self.shown("s | where 2 < 1"), "s | where false")
