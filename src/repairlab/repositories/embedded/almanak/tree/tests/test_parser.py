import unittest

import pytest

from almanak.errors import SyntaxProblem
from almanak.syntax.expressions import parse_expression
from almanak.syntax.nodes import (
    Binary, Call, Distinct, Group, Item, Key, Let, ListOf, Literal, Name, Query, Show, Skip, Sort, Take, Unary,
    Where,
)  # fmt: skip
from almanak.syntax.parser import parse_query

A, B, C = Name("a"), Name("b"), Name("c")


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a or b and c", Binary("or", A, Binary("and", B, C))),
        ("(a or b) and c", Binary("and", Binary("or", A, B), C)),
        ("a - b - c", Binary("-", Binary("-", A, B), C)),
        ("a + b * c", Binary("+", A, Binary("*", B, C))),
        ("not a = b", Unary("not", Binary("=", A, B))),
        ("not a and b", Binary("and", Unary("not", A), B)),
        ("-a * b", Binary("*", Unary("-", A), B)),
        ("a is missing", Binary("=", A, Literal(None))),
        ("a is not missing", Binary("!=", A, Literal(None))),
        ("a not in b", Unary("not", Binary("in", A, B))),
        ("a in [1, 'x']", Binary("in", A, ListOf((Literal(1), Literal("x"))))),
        ("f(a, -1)", Call("f", (A, Unary("-", Literal(1))))),
        ("today()", Call("today", ())),
        ("[]", ListOf(())),
        ("true", Literal(True)),
    ],
)
def test_expressions(text, tree):
    assert parse_expression(text) == tree


@pytest.mark.parametrize("text", ["", "a +", "(a", "f(a", "a b", "a is b", "[1,", "not", "a not b", "`f`(1)"])
def test_no_expressions(text):
    with pytest.raises(SyntaxProblem):
        parse_expression(text)


class QueryTest(unittest.TestCase):
    def stages(self, text):
        query = parse_query(f"src | {text}")
        self.assertEqual(query.source, "src")
        return query.stages

    def test_source_alone(self):
        self.assertEqual(parse_query("src"), Query("src"))

    def test_where_and_take(self):
        self.assertEqual(self.stages("where a | take 3 | skip 1"), (Where(A), Take(3), Skip(1)))

    def test_let(self):
        self.assertEqual(self.stages("let x = a, y = 2"), (Let((Item(A, "x"), Item(Literal(2), "y"))),))

    def test_show_names_columns(self):
        items = (Item(A, "a"), Item(Binary("+", A, B), "a + b"), Item(B, "x y"))
        self.assertEqual(self.stages("show a, a+b, b as `x y`"), (Show(items),))

    def test_sort(self):
        keys = (Key(A), Key(B, descending=True), Key(C))
        self.assertEqual(self.stages("sort by a asc, b desc, c"), (Sort(keys),))
        self.assertEqual(self.stages("sort a"), (Sort((Key(A),)),))

    def test_group(self):
        stage = Group((Item(A, "a"),), (Item(Call("count", ()), "n"),))
        self.assertEqual(self.stages("group by a into count() as n"), (stage,))

    def test_distinct(self):
        self.assertEqual(self.stages("distinct"), (Distinct(),))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "the source"),
        ("where a", "the source"),
        ("src where a", "not expected"),
        ("src | dance", "a stage cannot begin"),
        ("src |", "the end"),
        ("src | take a", "whole number"),
        ("src | take 1.5", "whole number"),
        ("src | let a", "'=' is missing"),
        ("src | show a, b as a", "two columns"),
        ("src | group by a into b", "no aggregate"),
        ("src | group by a into count() as a", "two columns"),
        ("src | show a as", "name of a column"),
    ],
)
def test_no_queries(text, problem):
    with pytest.raises(SyntaxProblem, match=problem):
        parse_query(text)
