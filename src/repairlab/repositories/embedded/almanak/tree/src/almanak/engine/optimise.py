"""Simpler expressions of equal value.

Conditions run once for each record, and those that views and templates put together hold much that need not
be worked out each time. The rewriting is done once, before the first record is read.
"""

from __future__ import annotations

from almanak.engine.evaluate import Evaluator
from almanak.errors import EvaluationProblem
from almanak.syntax.nodes import Binary, Call, Expression, ListOf, Literal, Query, Stage, Unary, Where
from almanak.syntax.walk import children, transform
from almanak.values import truth

# The comparison that is true where the other one is false.
_OPPOSITE = {"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}

# What gives true or false, and nothing else.
_TRUTHS = frozenset(["=", "!=", "<", "<=", ">", ">=", "in", "has", "matches", "and", "or"])


def optimise(expression: Expression, evaluator: Evaluator) -> Expression:
    """An expression with the same value for every record."""

    def change(node: Expression) -> Expression:
        return _logic(_fold(node, evaluator))

    return transform(expression, change)


def optimise_query(query: Query, evaluator: Evaluator) -> Query:
    """A query with the same result: simpler conditions, adjacent ones joined, useless ones gone."""
    stages: list[Stage] = []
    for stage in query.stages:
        if isinstance(stage, Where):
            condition = optimise(stage.condition, evaluator)
            if isinstance(condition, Literal) and truth(condition.value):
                continue
            previous = stages[-1] if stages else None
            if isinstance(previous, Where):
                stages[-1] = Where(Binary("and", previous.condition, condition))
                continue
            stage = Where(condition)
        stages.append(stage)
    return Query(query.source, tuple(stages))


def _fold(node: Expression, evaluator: Evaluator) -> Expression:
    """Replace what has only constant parts by its value. What has no value is left for the run to report."""
    if isinstance(node, Literal) or not children(node) and not isinstance(node, ListOf):
        return node
    if not all(isinstance(part, Literal) for part in children(node)):
        return node
    try:
        if isinstance(node, Call) and not evaluator.functions.get(node.function).pure:
            return node
        return Literal(evaluator.value(node, {}))
    except EvaluationProblem:
        return node


def _logic(node: Expression) -> Expression:
    match node:
        case Unary("not", operand):
            return negate(operand)
        case Binary("and", Literal(value), right):
            return as_truth(right) if truth(value) else Literal(False)
        case Binary("or", Literal(value), right):
            return Literal(True) if truth(value) else as_truth(right)
        case Binary("and", left, Literal(value)) if truth(value):
            return as_truth(left)
        case Binary("or", left, Literal(value)) if not truth(value):
            return as_truth(left)
    return node


def as_truth(node: Expression) -> Expression:
    """An expression that is true or false as `node` counts as true or not."""
    if is_truth(node):
        return node
    return Unary("not", Unary("not", node))


def is_truth(node: Expression) -> bool:
    """Whether the value of `node` is always true or false."""
    match node:
        case Literal(value):
            return isinstance(value, bool)
        case Unary("not", _):
            return True
        case Binary(operator, _, _):
            return operator in _TRUTHS
    return False


def negate(node: Expression) -> Expression:
    """``not node`` with the negation moved inwards, to where it can be dropped."""
    match node:
        case Literal(value):
            return Literal(not truth(value))
        case Unary("not", operand) if is_truth(operand):
            return operand
        case Binary("and", left, right):
            return Binary("or", negate(left), negate(right))
        case Binary("or", left, right):
            return Binary("and", negate(left), negate(right))
        case Binary(operator, left, right) if operator in _OPPOSITE:
            return Binary(_OPPOSITE[operator], left, right)
    return Unary("not", node)
