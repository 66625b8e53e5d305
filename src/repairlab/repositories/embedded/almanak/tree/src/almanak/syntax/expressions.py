"""Expressions: a precedence climber over tokens."""

from __future__ import annotations

from typing import NoReturn

from almanak.errors import SyntaxProblem
from almanak.syntax.lexer import tokenize
from almanak.syntax.nodes import Binary, Call, Expression, ListOf, Literal, Name, Unary
from almanak.syntax.tokens import Kind, Token

# How strongly an operator binds; all of them group from the left.
PRECEDENCE = {
    "or": 1,
    "and": 2,
    "=": 4, "!=": 4, "<": 4, "<=": 4, ">": 4, ">=": 4, "in": 4, "has": 4, "matches": 4,
    "+": 5, "-": 5,
    "*": 6, "/": 6, "%": 6,
}  # fmt: skip
NOT_PRECEDENCE = 3
COMPARISON_PRECEDENCE = 4
MINUS_PRECEDENCE = 7

_CONSTANTS = {"true": True, "false": False, "missing": None}


class TokenStream:
    """Tokens with a position. The parsers of queries and of templates share it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._tokens = tokenize(text)
        self._position = 0

    @property
    def current(self) -> Token:
        """The token to be read next."""
        return self._tokens[self._position]

    def advance(self) -> Token:
        """Read one token. The END token is never passed."""
        token = self.current
        if token.kind is not Kind.END:
            self._position += 1
        return token

    def accept_symbol(self, symbol: str) -> bool:
        """Read `symbol` if it is next."""
        if self.current.is_symbol(symbol):
            self.advance()
            return True
        return False

    def accept_keyword(self, word: str) -> bool:
        """Read `word` if it is next."""
        if self.current.is_keyword(word):
            self.advance()
            return True
        return False

    def expect_symbol(self, symbol: str) -> None:
        """Read `symbol` or complain."""
        if not self.accept_symbol(symbol):
            self.fail(f"{symbol!r} is missing before {self.current.describe()}")

    def expect_keyword(self, word: str) -> None:
        """Read `word` or complain."""
        if not self.accept_keyword(word):
            self.fail(f"{word!r} is missing before {self.current.describe()}")

    def expect_name(self, what: str) -> str:
        """Read a name or complain."""
        if self.current.kind is not Kind.NAME:
            self.fail(f"{what} cannot be {self.current.describe()}")
        return str(self.advance().value)

    def expect_end(self) -> None:
        """Complain unless everything was read."""
        if self.current.kind is not Kind.END:
            self.fail(f"{self.current.describe()} was not expected")

    def fail(self, message: str) -> NoReturn:
        """Raise a SyntaxProblem at the current token."""
        raise SyntaxProblem(message, self.text, self.current.offset)


def parse_expression(text: str) -> Expression:
    """Read `text` as one expression.

    Raises:
        SyntaxProblem: where it is none.
    """
    stream = TokenStream(text)
    expression = expression_of(stream)
    stream.expect_end()
    return expression


def expression_of(stream: TokenStream, minimum: int = 1) -> Expression:
    """Read an expression whose operators bind at least as strongly as `minimum`."""
    left = _prefix(stream)
    while True:
        token = stream.current
        if token.is_keyword("is") and minimum <= COMPARISON_PRECEDENCE:
            left = _is_missing(stream, left)
            continue
        if token.is_keyword("not") and minimum <= COMPARISON_PRECEDENCE:
            left = _not_in(stream, left)
            continue
        operator = token.text
        known = token.kind is Kind.SYMBOL or token.kind is Kind.KEYWORD
        if not known or PRECEDENCE.get(operator, 0) < minimum:
            return left
        stream.advance()
        right = expression_of(stream, PRECEDENCE[operator] + 1)
        left = Binary(operator, left, right)


def _is_missing(stream: TokenStream, left: Expression) -> Expression:
    stream.expect_keyword("is")
    operator = "!=" if stream.accept_keyword("not") else "="
    stream.expect_keyword("missing")
    return Binary(operator, left, Literal(None))


def _not_in(stream: TokenStream, left: Expression) -> Expression:
    stream.expect_keyword("not")
    stream.expect_keyword("in")
    return Unary("not", Binary("in", left, expression_of(stream, COMPARISON_PRECEDENCE + 1)))


def _prefix(stream: TokenStream) -> Expression:
    if stream.accept_keyword("not"):
        return Unary("not", expression_of(stream, NOT_PRECEDENCE))
    if stream.accept_symbol("-"):
        return Unary("-", expression_of(stream, MINUS_PRECEDENCE))
    return _primary(stream)


def _primary(stream: TokenStream) -> Expression:
    token = stream.current
    if token.kind is Kind.LITERAL:
        stream.advance()
        return Literal(token.value)
    if token.is_keyword(*_CONSTANTS):
        stream.advance()
        return Literal(_CONSTANTS[token.text])
    if stream.accept_symbol("("):
        inner = expression_of(stream)
        stream.expect_symbol(")")
        return inner
    if stream.accept_symbol("["):
        return ListOf(_items(stream, "]"))
    name = stream.expect_name("the beginning of an expression")
    if not token.text.startswith("`") and stream.accept_symbol("("):
        return Call(name, _items(stream, ")"))
    return Name(name)


def _items(stream: TokenStream, close: str) -> tuple[Expression, ...]:
    items: list[Expression] = []
    if stream.accept_symbol(close):
        return ()
    while True:
        items.append(expression_of(stream))
        if not stream.accept_symbol(","):
            stream.expect_symbol(close)
            return tuple(items)
