import datetime as dt
import unittest

import pytest

from almanak.engine.functions import Function, Functions, builtin
from almanak.errors import EvaluationProblem, PluginProblem

TODAY = dt.date(2024, 6, 10)
CALL = builtin(TODAY)


@pytest.mark.parametrize(
    ("name", "arguments", "value"),
    [
        ("upper", ["añb"], "AÑB"),
        ("lower", [None], None),
        ("trim", ["  x "], "x"),
        ("length", ["four"], 4),
        ("length", [[1, 2]], 2),
        ("concat", ["a", 1, None], "a1"),
        ("replace", ["aXbX", "X", "-"], "a-b-"),
        ("split", ["a, b,c", ","], ["a", "b", "c"]),
        ("abs", [-2.5], 2.5),
        ("floor", [-1.5], -2),
        ("ceil", [1.2], 2),
        ("round", [2.567, 2], 2.57),
        ("round", [1234, -2], 1200),
        ("year", [TODAY], 2024),
        ("month", [TODAY], 6),
        ("week", [dt.date(2021, 1, 3)], 53),
        ("weekday", [TODAY], 1),
        ("days_between", [dt.date(2024, 6, 1), TODAY], 9),
        ("days_between", [None, TODAY], None),
        ("today", [], TODAY),
        ("coalesce", [None, 0, 1], 0),
        ("if", ["x", 1, 2], 1),
        ("if", [0, 1, 2], 2),
        ("least", [3, None, 1.5], 1.5),
        ("greatest", ["a", "b"], "b"),
        ("greatest", [None], None),
    ],
)
def test_builtin(name, arguments, value):
    assert CALL.get(name)(*arguments) == value


@pytest.mark.parametrize(
    ("name", "arguments", "problem"),
    [
        ("upper", [], "0 arguments"),
        ("round", [1, 2, 3], "3 arguments"),
        ("abs", ["x"], "no number"),
        ("abs", [True], "no number"),
        ("year", ["2024"], "no date"),
        ("replace", ["a", "", "b"], "look for"),
        ("split", ["a", ""], "separator"),
        ("round", [1.5, 0.5], "whole number"),
        ("least", [1, "a"], "no order"),
    ],
)
def test_refusals(name, arguments, problem):
    with pytest.raises(EvaluationProblem, match=problem):
        CALL.get(name)(*arguments)


class RegistryTest(unittest.TestCase):
    def test_unknown(self):
        with self.assertRaisesRegex(EvaluationProblem, "no function nope"):
            CALL.get("nope")

    def test_taken(self):
        functions = Functions([Function("f", lambda: 1, 0, 0)])
        with self.assertRaisesRegex(PluginProblem, "already"):
            functions.add(Function("f", lambda: 2, 0, 0))

    def test_names_are_sorted(self):
        self.assertEqual(CALL.names(), sorted(CALL.names()))
