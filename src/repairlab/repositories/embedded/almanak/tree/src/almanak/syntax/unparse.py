"""The tree back to text. ``parse(unparse(tree)) == tree`` for every tree that a parser made."""

from __future__ import annotations

import datetime as dt
import re

from almanak.syntax.expressions import MINUS_PRECEDENCE, NOT_PRECEDENCE, PRECEDENCE
from almanak.syntax.nodes import (
    Binary, Call, Distinct, Expression, Group, Item, Key, Let, ListOf, Literal, Name, Query, Show, Skip, Sort,
    Stage, Take, Unary, Where,
)  # fmt: skip
from almanak.syntax.tokens import KEYWORDS
from almanak.values import Value

_PLAIN_NAME = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"})


def unparse_query(query: Query) -> str:
    """One line of text that reads as `query`."""
    return " | ".join([_name(query.source), *map(_stage, query.stages)])


def unparse_expression(expression: Expression, minimum: int = 1) -> str:
    """Text of `expression`, in parentheses where an operator around it binds as `minimum` says."""
    match expression:
        case Literal(value):
            return _literal(value)
        case Name(name):
            return _name(name)
        case Call(function, arguments):
            return f"{function}({', '.join(map(unparse_expression, arguments))})"
        case ListOf(items):
            return f"[{', '.join(map(unparse_expression, items))}]"
        case Unary("not", operand):
            return _wrap(f"not {unparse_expression(operand, NOT_PRECEDENCE)}", NOT_PRECEDENCE, minimum)
        case Unary(operator, operand):
            return _wrap(f"{operator}{unparse_expression(operand, MINUS_PRECEDENCE)}", MINUS_PRECEDENCE, minimum)
        case Binary(operator, left, right):
            strength = PRECEDENCE[operator]
            text = f"{unparse_expression(left, strength)} {operator} {unparse_expression(right, strength + 1)}"
            return _wrap(text, strength, minimum)
    raise TypeError(f"{expression!r} is no expression")


def _wrap(text: str, strength: int, minimum: int) -> str:
    return f"({text})" if strength < minimum else text


def _literal(value: Value) -> str:
    if value is None:
        return "missing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dt.date):
        return value.isoformat()
    if isinstance(value, str):
        return f'"{value.translate(_ESCAPES)}"'
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_literal, value))}]"
    return repr(value)


def _name(name: str) -> str:
    return name if _PLAIN_NAME.fullmatch(name) and name not in KEYWORDS else f"`{name}`"


def _stage(stage: Stage) -> str:
    match stage:
        case Where(condition):
            return f"where {unparse_expression(condition)}"
        case Let(items):
            return "let " + ", ".join(f"{_name(i.name)} = {unparse_expression(i.expression)}" for i in items)
        case Show(items):
            return f"show {_items(items)}"
        case Group(keys, aggregates):
            into = f" into {_items(aggregates)}" if aggregates else ""
            return f"group by {_items(keys)}{into}"
        case Sort(keys):
            return "sort by " + ", ".join(map(_key, keys))
        case Take(count):
            return f"take {count}"
        case Skip(count):
            return f"skip {count}"
        case Distinct():
            return "distinct"
    raise TypeError(f"{stage!r} is no stage")


def _items(items: tuple[Item, ...]) -> str:
    return ", ".join(map(_item, items))


def _item(item: Item) -> str:
    text = unparse_expression(item.expression)
    default = item.expression.name if isinstance(item.expression, Name) else text
    return text if item.name == default else f"{text} as {_name(item.name)}"


def _key(key: Key) -> str:
    return unparse_expression(key.expression) + (" desc" if key.descending else "")
