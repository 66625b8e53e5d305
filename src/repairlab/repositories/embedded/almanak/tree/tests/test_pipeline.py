import datetime as dt
import unittest

import pytest

from almanak.engine.evaluate import Evaluator
from almanak.engine.functions import builtin
from almanak.engine.pipeline import apply_stage, compare_any, hashable
from almanak.errors import EvaluationProblem
from almanak.syntax.parser import parse_query

EVALUATOR = Evaluator(builtin(dt.date(2024, 6, 10)))


def apply(stage, *records):
    (parsed,) = parse_query(f"s | {stage}").stages
    return list(apply_stage(parsed, records, EVALUATOR))


class StageTest(unittest.TestCase):
    def test_where(self):
        self.assertEqual(apply("where a", {"a": 0}, {"a": 1}, {}), [{"a": 1}])

    def test_let_sees_earlier_fields(self):
        self.assertEqual(apply("let b = a + 1, a = b * 2", {"a": 1}), [{"a": 4, "b": 2}])

    def test_let_does_not_change_its_input(self):
        record = {"a": 1}
        apply("let a = 2", record)
        self.assertEqual(record, {"a": 1})

    def test_show(self):
        self.assertEqual(apply("show b, a + 1 as c", {"a": 1, "z": 0}), [{"b": None, "c": 2}])

    def test_take_and_skip(self):
        records = [{"a": n} for n in range(4)]
        self.assertEqual(apply("take 2", *records), records[:2])
        self.assertEqual(apply("skip 3", *records), records[3:])
        self.assertEqual(apply("take 0", *records), [])

    def test_distinct(self):
        self.assertEqual(apply("distinct", {"a": 1}, {"a": 1.0}, {"a": True}, {"a": [1]}, {"a": [1]}),
                         [{"a": 1}, {"a": True}, {"a": [1]}])  # fmt: skip


class GroupTest(unittest.TestCase):
    def test_groups_keep_the_order_of_their_first_record(self):
        out = apply("group by k into count() as n, sum(v)", {"k": "b", "v": 1}, {"k": "a", "v": 2}, {"k": "b", "v": 3})
        self.assertEqual(out, [{"k": "b", "n": 2, "sum(v)": 4}, {"k": "a", "n": 1, "sum(v)": 2}])

    def test_missing_is_a_group(self):
        out = apply("group by k into count() as n", {"k": None}, {}, {"k": 1})
        self.assertEqual([record["n"] for record in out], [2, 1])

    def test_without_aggregates(self):
        self.assertEqual(apply("group by k", {"k": 1, "v": 2}, {"k": 1}), [{"k": 1}])

    def test_no_aggregate(self):
        with self.assertRaisesRegex(EvaluationProblem, "no aggregate"):
            apply("group by k into upper(k) as x", {"k": "a"})


@pytest.mark.parametrize(
    ("stage", "values", "order"),
    [
        ("sort by a", [3, 1, 2], [1, 2, 3]),
        ("sort by a desc", [3, 1, 2], [3, 2, 1]),
        ("sort by a", [None, 2, 1], [1, 2, None]),
        ("sort by a desc", [None, 1, 2], [2, 1, None]),
        ("sort by a", ["b", 2, True, dt.date(2024, 1, 1), [0]], [True, 2, dt.date(2024, 1, 1), "b", [0]]),
        ("sort by -a", [1, 2], [2, 1]),
        ("sort by a", [True, False], [False, True]),
    ],
)
def test_sort(stage, values, order):
    assert [record["a"] for record in apply(stage, *({"a": value} for value in values))] == order


def test_sort_by_two_keys_is_stable():
    records = [{"a": 1, "b": 1, "n": 0}, {"a": 0, "b": 2, "n": 1}, {"a": 1, "b": 2, "n": 2}, {"a": 0, "b": 2, "n": 3}]
    assert [r["n"] for r in apply("sort by b desc, a", *records)] == [1, 3, 2, 0]


def test_compare_any_is_a_total_order():
    values = [False, True, 1, 2.5, dt.date(2024, 1, 1), "a", "b", [1]]
    for i, left in enumerate(values):
        for j, right in enumerate(values):
            assert (compare_any(left, right) > 0) == (i > j)
            assert (compare_any(left, right) < 0) == (i < j)


def test_hashable_tells_kinds_apart():
    marks = [hashable(value) for value in (None, True, 1, "1", [1], ["1"])]
    assert len(set(marks)) == len(marks)
    assert hashable(1) == hashable(1.0)
