"""Pieces of a template to its tree."""

from __future__ import annotations

from typing import NoReturn

from almanak.errors import SyntaxProblem
from almanak.syntax.expressions import TokenStream, expression_of
from almanak.syntax.nodes import Expression
from almanak.syntax.tokens import Kind
from almanak.templates.nodes import Branch, Filtered, For, If, Node, Output, Text
from almanak.templates.scanner import Piece, PieceKind, scan


def parse(template: str) -> tuple[Node, ...]:
    """The tree of a template.

    Raises:
        SyntaxProblem: where it is none; the offset is that in the template.
    """
    return _Parser(template).parse()


class _Parser:
    def __init__(self, template: str) -> None:
        self._template = template
        self._pieces = scan(template)
        self._position = 0

    def parse(self) -> tuple[Node, ...]:
        nodes, stop = self._body()
        if stop is not None:
            self._fail(stop, f"{{% {stop.text.strip()} %}} closes nothing")
        return nodes

    def _body(self) -> tuple[tuple[Node, ...], Piece | None]:
        """Nodes up to a tag that ends or parts a block, and that tag."""
        nodes: list[Node] = []
        while self._position < len(self._pieces):
            piece = self._pieces[self._position]
            self._position += 1
            if piece.kind is PieceKind.TEXT:
                nodes.append(Text(piece.text))
            elif piece.kind is PieceKind.OUTPUT:
                nodes.append(self._output(piece))
            elif _word(piece) == "if":
                nodes.append(self._if(piece))
            elif _word(piece) == "for":
                nodes.append(self._for(piece))
            else:
                return tuple(nodes), piece
        return tuple(nodes), None

    def _output(self, piece: Piece) -> Output:
        stream = self._stream(piece, piece.text)
        expression = self._expression(stream, piece)
        filters: list[Filtered] = []
        while stream.accept_symbol("|"):
            filters.append(self._filter(stream, piece))
        self._end(stream, piece)
        return Output(expression, tuple(filters))

    def _filter(self, stream: TokenStream, piece: Piece) -> Filtered:
        if stream.current.kind is not Kind.NAME:
            self._fail(piece, f"a filter cannot be {stream.current.describe()}")
        name = str(stream.advance().value)
        arguments: list[Expression] = []
        if stream.accept_symbol("("):
            while not stream.accept_symbol(")"):
                arguments.append(self._expression(stream, piece))
                if not stream.accept_symbol(",") and not stream.current.is_symbol(")"):
                    self._fail(piece, f"')' is missing before {stream.current.describe()}")
        return Filtered(name, tuple(arguments))

    def _if(self, piece: Piece) -> If:
        branches: list[Branch] = []
        opening, condition = piece, self._condition(piece)
        while True:
            body, stop = self._body()
            branches.append(Branch(condition, body))
            if stop is None:
                self._fail(opening, "{% if %} is not closed")
            if _word(stop) == "elif":
                condition = self._condition(stop)
                continue
            otherwise = self._otherwise(stop, opening)
            return If(tuple(branches), otherwise)

    def _for(self, piece: Piece) -> For:
        stream = self._stream(piece, _rest(piece), skip=_skipped(piece))
        variable = stream.expect_name("the variable")
        stream.expect_keyword("in")
        over = self._expression(stream, piece)
        self._end(stream, piece)
        body, stop = self._body()
        if stop is None:
            self._fail(piece, "{% for %} is not closed")
        return For(variable, over, body, self._otherwise(stop, piece))

    def _otherwise(self, stop: Piece, opening: Piece) -> tuple[Node, ...]:
        """What follows an ``else`` up to the ``end``; nothing where `stop` is the ``end`` itself."""
        body: tuple[Node, ...] = ()
        if stop.text.strip() == "else":
            body, last = self._body()
            if last is None:
                self._fail(opening, f"{{% {_word(opening)} %}} is not closed")
            stop = last
        if stop.text.strip() != "end":
            self._fail(stop, f"{{% {stop.text.strip()} %}} does not belong here")
        return body

    def _condition(self, piece: Piece) -> Expression:
        stream = self._stream(piece, _rest(piece), skip=_skipped(piece))
        condition = self._expression(stream, piece)
        self._end(stream, piece)
        return condition

    def _stream(self, piece: Piece, text: str, skip: int = 0) -> TokenStream:
        try:
            return TokenStream(text)
        except SyntaxProblem as problem:
            offset = piece.offset + skip + problem.offset
            raise SyntaxProblem(problem.message, self._template, offset) from None

    def _expression(self, stream: TokenStream, piece: Piece) -> Expression:
        try:
            return expression_of(stream)
        except SyntaxProblem as problem:
            offset = piece.offset + piece.text.find(stream.text) + problem.offset
            raise SyntaxProblem(problem.message, self._template, offset) from None

    def _end(self, stream: TokenStream, piece: Piece) -> None:
        if stream.current.kind is not Kind.END:
            self._fail(piece, f"{stream.current.describe()} was not expected")

    def _fail(self, piece: Piece, message: str) -> NoReturn:
        raise SyntaxProblem(message, self._template, piece.offset)


def _word(piece: Piece) -> str:
    words = piece.text.split(None, 1)
    return words[0] if words else ""


def _rest(piece: Piece) -> str:
    return piece.text[_skipped(piece) :]


def _skipped(piece: Piece) -> int:
    return piece.text.find(_word(piece)) + len(_word(piece))
