import datetime as dt
import unittest

import pytest

from almanak.errors import SyntaxProblem
from almanak.syntax.lexer import tokenize
from almanak.syntax.tokens import Kind


def texts(text):
    return [token.text for token in tokenize(text)][:-1]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", []),
        ("a<=b", ["a", "<=", "b"]),
        ("a < = b", ["a", "<", "=", "b"]),
        ("x|take 3 # the first", ["x", "|", "take", "3"]),
        ("a.b.c", ["a.b.c"]),
        ("f(1,2)", ["f", "(", "1", ",", "2", ")"]),
        ("größe", ["größe"]),
        ("# only\n# comments", []),
    ],
)
def test_tokens(text, tokens):
    assert texts(text) == tokens


class LiteralTest(unittest.TestCase):
    def value(self, text):
        token = tokenize(text)[0]
        self.assertIs(token.kind, Kind.LITERAL)
        return token.value

    def test_numbers(self):
        self.assertEqual(self.value("12"), 12)
        self.assertEqual(self.value("1.25"), 1.25)
        self.assertEqual(self.value("2e3"), 2000.0)

    def test_date(self):
        self.assertEqual(self.value("2024-06-01"), dt.date(2024, 6, 1))

    def test_subtraction_is_no_date(self):
        self.assertEqual(texts("2024-6-1"), ["2024", "-", "6", "-", "1"])

    def test_text_in_either_quote(self):
        self.assertEqual(self.value('"it\'s"'), "it's")
        self.assertEqual(self.value("'say \"hi\"'"), 'say "hi"')

    def test_escapes(self):
        self.assertEqual(self.value(r'"a\n\t\"\\b"'), 'a\n\t"\\b')


class NameTest(unittest.TestCase):
    def test_quoted(self):
        token = tokenize("`two words`")[0]
        self.assertEqual((token.kind, token.value), (Kind.NAME, "two words"))

    def test_quoted_keyword(self):
        self.assertIs(tokenize("`where`")[0].kind, Kind.NAME)
        self.assertIs(tokenize("where")[0].kind, Kind.KEYWORD)


@pytest.mark.parametrize(
    ("text", "offset", "problem"),
    [
        ("a ? b", 2, "begins nothing"),
        ('x = "abc', 4, "not closed"),
        (r'"\q"', 1, "backslash"),
        ("`abc", 0, "not closed"),
        ("``", 0, "at least one"),
        ("2024-02-30", 0, "no day"),
        ("1e999", 0, "too large"),
    ],
)
def test_problems(text, offset, problem):
    with pytest.raises(SyntaxProblem, match=problem) as caught:
        tokenize(text)
    assert caught.value.offset == offset


def test_a_problem_shows_its_place():
    with pytest.raises(SyntaxProblem) as caught:
        tokenize("a\n  b ?")
    assert str(caught.value).startswith("line 2, column 5:")
    assert caught.value.excerpt() == "  b ?\n    ^"
