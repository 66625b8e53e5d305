import datetime as dt
import unittest

import pytest

from almanak.engine.evaluate import Evaluator
from almanak.engine.functions import builtin as functions
from almanak.errors import EvaluationProblem, SyntaxProblem
from almanak.templates.filters import builtin as filters
from almanak.templates.render import Renderer
from almanak.templates.scanner import PieceKind, scan

RECORDS = {"tasks": [{"title": "sow", "hours": 2}, {"title": "mend", "hours": None}], "none": []}
RENDERER = Renderer(Evaluator(functions(dt.date(2024, 6, 10))), filters())


def render(template, **values):
    return RENDERER.render(template, RECORDS, **values)


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("plain { text }", "plain { text }"),
        ("{{ 1 + 2 }}", "3"),
        ("{{ name | upper | pad(5) }}|", "ADA  |"),
        ("{{ missing }}", ""),
        ("{# nothing #}x", "x"),
        ("{% if name = 'ada' %}yes{% else %}no{% end %}", "yes"),
        ("{% if false %}a{% elif true %}b{% else %}c{% end %}", "b"),
        ("{% if not (hours < 3) %}long{% end %}", "long"),
        ("{% for t in tasks %}{{ t.title }},{% end %}", "sow,mend,"),
        ("{% for t in none %}x{% else %}empty{% end %}", "empty"),
        ("{% for x in [1, 2] %}{{ x }}{% if not loop.last %}-{% end %}{% end %}", "1-2"),
        ("{% for t in tasks %}{{ loop.number }}{% end %}", "12"),
        ("{% for t in gone %}x{% end %}", ""),
    ],
)
def test_render(template, text):
    assert render(template, name="ada") == text


def test_tags_alone_on_a_line_leave_no_line():
    template = "Tasks:\n{% for t in tasks %}\n- {{ t.title }}\n{% end %}\nEnd.\n"
    assert render(template) == "Tasks:\n- sow\n- mend\nEnd.\n"


class FilterTest(unittest.TestCase):
    def filtered(self, expression):
        return render(f"{{{{ {expression} }}}}", day=dt.date(2024, 6, 1))

    def test_pad(self):
        self.assertEqual(self.filtered("'ab' | pad(4, 'right')"), "  ab")
        self.assertEqual(self.filtered("'ab' | pad(4, 'centre')"), " ab ")

    def test_truncate(self):
        self.assertEqual(self.filtered("'sheepish' | truncate(6)"), "she...")
        self.assertEqual(self.filtered("'sheepish' | truncate(6, '~')"), "sheep~")
        self.assertEqual(self.filtered("'sheep' | truncate(5)"), "sheep")

    def test_date(self):
        self.assertEqual(self.filtered("day | date('D.M.YYYY')"), "1.6.2024")
        self.assertEqual(self.filtered("day | date('YYYY/MM/DD')"), "2024/06/01")

    def test_default(self):
        self.assertEqual(self.filtered("missing | default('?')"), "?")
        self.assertEqual(self.filtered("0 | default('?')"), "0")

    def test_join_and_plural(self):
        self.assertEqual(self.filtered("[1, 'b', missing] | join('/')"), "1/b")
        self.assertEqual(self.filtered("1 | plural('day', 'days')"), "day")
        self.assertEqual(self.filtered("2 | plural('day', 'days')"), "days")

    def test_indent_and_wrap(self):
        self.assertEqual(self.filtered(r"'a\nb' | indent(2)"), "a\n  b")
        self.assertEqual(self.filtered("'one two three' | wrap(8)"), "one two\nthree")


@pytest.mark.parametrize(
    ("template", "problem"),
    [
        ("{{ a", "not closed"),
        ("{% if a %}x", "not closed"),
        ("{% for x in a %}x", "not closed"),
        ("{% end %}", "closes nothing"),
        ("{% for x in a %}{% elif b %}{% end %}", "does not belong"),
        ("{{ a b }}", "not expected"),
        ("{{ a | 3 }}", "a filter cannot be"),
        ("{{ a ? }}", "begins nothing"),
    ],
)
def test_syntax(template, problem):
    with pytest.raises(SyntaxProblem, match=problem):
        render(template)


def test_a_problem_shows_its_place_in_the_template():
    with pytest.raises(SyntaxProblem) as caught:
        render("line one\n{{ 1 + }}\n")
    assert (caught.value.line, caught.value.column) == (2, 8)


@pytest.mark.parametrize(
    ("template", "problem"),
    [
        ("{{ 1 | nope }}", "no filter"),
        ("{{ 1 | pad }}", "filter 'pad'"),
        ("{{ 1 | pad(-1) }}", "no width"),
        ("{{ 'x' | date('YYYY') }}", "no date"),
        ("{% for x in 3 %}{% end %}", "cannot run over"),
    ],
)
def test_evaluation(template, problem):
    with pytest.raises(EvaluationProblem, match=problem):
        render(template)


def test_scan():
    pieces = scan("a{{ b }}{% c %}")
    assert [(piece.kind, piece.text, piece.offset) for piece in pieces] == [
        (PieceKind.TEXT, "a", 0),
        (PieceKind.OUTPUT, " b ", 3),
        (PieceKind.TAG, " c ", 10),
    ]
