"""Walks over the tree of an expression."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from almanak.syntax.nodes import Binary, Call, Expression, ListOf, Name, Unary


def children(expression: Expression) -> tuple[Expression, ...]:
    """The parts of an expression, from left to right."""
    match expression:
        case Call(_, arguments):
            return arguments
        case ListOf(items):
            return items
        case Unary(_, operand):
            return (operand,)
        case Binary(_, left, right):
            return (left, right)
    return ()


def rebuild(expression: Expression, parts: tuple[Expression, ...]) -> Expression:
    """`expression` with other parts, as many as `children` gave."""
    match expression:
        case Call(function, _):
            return Call(function, parts)
        case ListOf(_):
            return ListOf(parts)
        case Unary(operator, _):
            return Unary(operator, parts[0])
        case Binary(operator, _, _):
            return Binary(operator, parts[0], parts[1])
    return expression


def transform(expression: Expression, change: Callable[[Expression], Expression]) -> Expression:
    """Apply `change` to every part and then to the whole, the innermost first."""
    parts = tuple(transform(part, change) for part in children(expression))
    return change(rebuild(expression, parts))


def walk(expression: Expression) -> Iterator[Expression]:
    """The expression and everything in it, the outermost first."""
    yield expression
    for part in children(expression):
        yield from walk(part)


def names(expression: Expression) -> tuple[str, ...]:
    """Fields that the expression reads, sorted."""
    return tuple(sorted({node.name for node in walk(expression) if isinstance(node, Name)}))


def calls(expression: Expression) -> tuple[str, ...]:
    """Functions that the expression calls, sorted."""
    return tuple(sorted({node.function for node in walk(expression) if isinstance(node, Call)}))
