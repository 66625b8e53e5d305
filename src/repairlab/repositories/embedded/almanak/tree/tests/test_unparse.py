import pytest

from almanak.syntax.expressions import parse_expression
from almanak.syntax.nodes import Literal, Query
from almanak.syntax.parser import parse_query
from almanak.syntax.unparse import unparse_expression, unparse_query


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a+b*c", "a + b * c"),
        ("(a+b)*c", "(a + b) * c"),
        ("a-(b-c)", "a - (b - c)"),
        ("((a))", "a"),
        ("not (a and b)", "not (a and b)"),
        ("not (a = b)", "not a = b"),
        ("(not a) = b", "(not a) = b"),
        ("-(a + b)", "-(a + b)"),
        ("a = (not b)", "a = (not b)"),
        ("a not in [1,2]", "not a in [1, 2]"),
        ("a is not missing", "a != missing"),
        ("'x'", '"x"'),
        ("`two words` + `where`", "`two words` + `where`"),
        ("2024-06-01", "2024-06-01"),
        ("f( )", "f()"),
    ],
)
def test_expressions(text, shown):
    tree = parse_expression(text)
    assert unparse_expression(tree) == shown
    assert parse_expression(shown) == tree


@pytest.mark.parametrize("value", ['quo"te', "it's", "back\\slash", "line\nbreak", "car\rriage", "tab\t", "", "日本"])
def test_texts_come_back(value):
    assert parse_expression(unparse_expression(Literal(value))) == Literal(value)


@pytest.mark.parametrize(
    "text",
    [
        "src",
        "src | where a = 1 | take 3 | skip 1 | distinct",
        "src | let x = a + 1, `y z` = b | sort by x desc, y",
        "src | group by a, b + 1 as c into count() as n, max(d)",
        "`my source` | show a, upper(b), c as d",
    ],
)
def test_queries_come_back(text):
    query = parse_query(text)
    shown = unparse_query(query)
    assert parse_query(shown) == query
    assert unparse_query(parse_query(shown)) == shown


def test_source_that_needs_quotes():
    assert unparse_query(Query("take")) == "`take`"
