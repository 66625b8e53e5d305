"""Queries: a source and stages with bars between them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from almanak.errors import SyntaxProblem
from almanak.syntax.expressions import TokenStream, expression_of
from almanak.syntax.nodes import (
    Call, Distinct, Expression, Group, Item, Key, Let, Name, Query, Show, Skip, Sort, Stage, Take, Where,
)  # fmt: skip
from almanak.syntax.tokens import Kind
from almanak.syntax.unparse import unparse_expression

T = TypeVar("T")


def parse_query(text: str) -> Query:
    """Read a query.

    Raises:
        SyntaxProblem: where it is none.
    """
    stream = TokenStream(text)
    source = stream.expect_name("the source")
    stages: list[Stage] = []
    while stream.accept_symbol("|"):
        stages.append(_stage(stream))
    stream.expect_end()
    return Query(source, tuple(stages))


def _stage(stream: TokenStream) -> Stage:
    token = stream.current
    reader = _STAGES.get(token.text) if token.kind is Kind.KEYWORD else None
    if reader is None:
        stream.fail(f"a stage cannot begin with {token.describe()}")
    stream.advance()
    return reader(stream)


def _where(stream: TokenStream) -> Stage:
    return Where(expression_of(stream))


def _let(stream: TokenStream) -> Stage:
    return Let(_list(stream, _assignment))


def _show(stream: TokenStream) -> Stage:
    return Show(_unique(stream, _list(stream, _item)))


def _sort(stream: TokenStream) -> Stage:
    stream.accept_keyword("by")
    return Sort(_list(stream, _key))


def _group(stream: TokenStream) -> Stage:
    stream.accept_keyword("by")
    keys = _list(stream, _item)
    aggregates: tuple[Item, ...] = ()
    if stream.accept_keyword("into"):
        aggregates = _list(stream, _item)
        for item in aggregates:
            if not isinstance(item.expression, Call):
                stream.fail(f"{item.name} is no aggregate, such as count() or max(x)")
    _unique(stream, keys + aggregates)
    return Group(keys, aggregates)


def _take(stream: TokenStream) -> Stage:
    return Take(_count(stream))


def _skip(stream: TokenStream) -> Stage:
    return Skip(_count(stream))


def _distinct(_: TokenStream) -> Stage:
    return Distinct()


_STAGES: dict[str, Callable[[TokenStream], Stage]] = {
    "where": _where, "let": _let, "show": _show, "sort": _sort,
    "group": _group, "take": _take, "skip": _skip, "distinct": _distinct,
}  # fmt: skip


def _list(stream: TokenStream, read: Callable[[TokenStream], T]) -> tuple[T, ...]:
    items = [read(stream)]
    while stream.accept_symbol(","):
        items.append(read(stream))
    return tuple(items)


def _item(stream: TokenStream) -> Item:
    expression = expression_of(stream)
    if stream.accept_keyword("as"):
        return Item(expression, stream.expect_name("the name of a column"))
    return Item(expression, _default_name(expression))


def _default_name(expression: Expression) -> str:
    return expression.name if isinstance(expression, Name) else unparse_expression(expression)


def _assignment(stream: TokenStream) -> Item:
    name = stream.expect_name("the name of a field")
    stream.expect_symbol("=")
    return Item(expression_of(stream), name)


def _key(stream: TokenStream) -> Key:
    expression = expression_of(stream)
    if stream.accept_keyword("desc"):
        return Key(expression, descending=True)
    stream.accept_keyword("asc")
    return Key(expression)


def _count(stream: TokenStream) -> int:
    token = stream.current
    if token.kind is not Kind.LITERAL or not isinstance(token.value, int):
        stream.fail(f"a whole number belongs here, not {token.describe()}")
    stream.advance()
    return int(token.value)


def _unique(stream: TokenStream, items: tuple[Item, ...]) -> tuple[Item, ...]:
    seen: set[str] = set()
    for item in items:
        if item.name in seen:
            raise SyntaxProblem(f"two columns are called {item.name!r}", stream.text, stream.current.offset)
        seen.add(item.name)
    return items
