import datetime as dt

import pytest

from almanak.engine.aggregates import aggregate, is_aggregate
from almanak.errors import EvaluationProblem

DAYS = [dt.date(2024, 6, 2), dt.date(2024, 6, 1)]


@pytest.mark.parametrize(
    ("name", "values", "result"),
    [
        ("count", [1, None, 2], 2),
        ("sum", [1, None, 2.5], 3.5),
        ("sum", [], 0),
        ("mean", [1, 2, None], 1.5),
        ("mean", [None], None),
        ("median", [5, 1, 3], 3),
        ("median", [4, 1, 3, 2], 2.5),
        ("min", DAYS, DAYS[1]),
        ("max", DAYS, DAYS[0]),
        ("max", [], None),
        ("first", [None, "a", "b"], "a"),
        ("last", ["a", "b", None], "b"),
        ("unique", [1, 1.0, "1", None], 2),
        ("any", [0, "x"], True),
        ("all", [0, "x"], False),
        ("all", [], True),
        ("list", [1, None, 2], [1, 2]),
        ("join", ["a", None, "b"], "a, b"),
    ],
)
def test_aggregates(name, values, result):
    assert aggregate(name, [values], len(values)) == result


def test_count_of_records():
    assert aggregate("count", [], 3) == 3


def test_join_with_a_separator():
    assert aggregate("join", [["a", "b"], ["/", "/"]], 2) == "a/b"


@pytest.mark.parametrize(
    ("name", "columns", "problem"),
    [
        ("total", [[1]], "no aggregate"),
        ("sum", [], "0 arguments"),
        ("count", [[1], [2]], "one argument"),
        ("sum", [["a"]], "summed"),
        ("sum", [[True]], "summed"),
        ("min", [[1, "a"]], "no order"),
    ],
)
def test_refusals(name, columns, problem):
    with pytest.raises(EvaluationProblem, match=problem):
        aggregate(name, columns, 1)


def test_is_aggregate():
    assert is_aggregate("count") and is_aggregate("join") and not is_aggregate("upper")
