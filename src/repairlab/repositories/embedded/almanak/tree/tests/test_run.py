import datetime as dt
import unittest

import pytest

from almanak import execute
from almanak.engine.functions import Function, Functions
from almanak.errors import EvaluationProblem, SyntaxProblem

TODAY = dt.date(2024, 6, 10)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("tasks", ["sow beans", "mend gate", "call aunt", "file taxes"]),
        ("tasks | where not done", ["mend gate", "call aunt", "file taxes"]),
        ("tasks | where due < today()", ["sow beans", "file taxes"]),
        ("tasks | where due is missing", ["call aunt"]),
        ("tasks | where not (due is missing)", ["sow beans", "mend gate", "file taxes"]),
        ("tasks | where due is not missing and not (due < today())", ["mend gate"]),
        ("tasks | where tags has 'garden' and hours > 2", ["mend gate"]),
        ("tasks | where not (tags has 'garden')", ["call aunt", "file taxes"]),
        ("tasks | where title matches '^[a-f]'", ["call aunt", "file taxes"]),
        ("tasks | sort by due desc", ["mend gate", "file taxes", "sow beans", "call aunt"]),
        ("tasks | sort by hours | take 2", ["sow beans", "file taxes"]),
        ("tasks | where false", []),
    ],
)
def test_records(titles, query, expected):
    assert titles(query) == expected


def test_a_report(run):
    rows = run("""
        tasks
        | let tag = if(length(tags) > 0, tags, ['none'])
        | where hours is not missing
        | group by month(due) as month into count() as n, sum(hours) as hours
        | sort by month
    """)
    assert rows == [[5, 1, 2], [6, 2, 8.5]]


class ColumnsTest(unittest.TestCase):
    def columns(self, query, records):
        return execute(query, lambda _: records, today=TODAY).columns

    def test_of_records(self):
        self.assertEqual(self.columns("s", [{"b": 1}, {"a": 1, "b": 2}]), ("b", "a"))

    def test_of_show_without_records(self):
        self.assertEqual(self.columns("s | show b, a", []), ("b", "a"))

    def test_of_group_and_let(self):
        query = "s | group by k into count() as n | let m = n"
        self.assertEqual(self.columns(query, [{"k": 1}]), ("k", "n", "m"))

    def test_rows_fill_gaps(self):
        result = execute("s", lambda _: [{"a": 1}, {"b": 2}], today=TODAY)
        self.assertEqual(result.rows(), [[1, None], [None, 2]])


class ProblemTest(unittest.TestCase):
    def test_syntax(self):
        with self.assertRaises(SyntaxProblem):
            execute("s | where", lambda _: [], today=TODAY)

    def test_evaluation(self):
        with self.assertRaises(EvaluationProblem):
            execute("s | where a + 'x'", lambda _: [{"a": 1}], today=TODAY)

    def test_own_functions_replace_the_builtin_ones(self):
        functions = Functions([Function("double", lambda v: v * 2, 1, 1)])
        result = execute("s | show double(a) as d", lambda _: [{"a": 4}], today=TODAY, functions=functions)
        self.assertEqual(result.rows(), [[8]])
