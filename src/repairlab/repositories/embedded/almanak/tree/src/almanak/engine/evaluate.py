"""Values of expressions.

A field that a record does not have is missing. Arithmetic with something missing is missing. ``=`` and ``!=``
take missing for a value like others; the comparisons of order are false where there is no order, so for
everything that is missing. ``and``, ``or`` and ``not`` give true or false.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from functools import lru_cache

from almanak.engine.functions import Functions
from almanak.errors import EvaluationProblem
from almanak.syntax.nodes import Binary, Call, Expression, ListOf, Literal, Name, Unary
from almanak.values import DATE, LIST, NUMBER, TEXT, Value, compare, equal, kind, to_text, truth

Record = Mapping[str, Value]

_ORDERS = {"<": (-1,), "<=": (-1, 0), ">": (1,), ">=": (0, 1)}


class Evaluator:
    """Evaluates expressions with a given set of functions."""

    def __init__(self, functions: Functions) -> None:
        self.functions = functions

    def value(self, expression: Expression, record: Record) -> Value:
        """Value of `expression` for one record.

        Raises:
            EvaluationProblem: it has none.
        """
        match expression:
            case Literal(value):
                return value
            case Name(name):
                return record.get(name)
            case ListOf(items):
                return [self.value(item, record) for item in items]
            case Call(function, arguments):
                return self.functions.get(function)(*(self.value(a, record) for a in arguments))
            case Unary("not", operand):
                return not truth(self.value(operand, record))
            case Unary("-", operand):
                return negate(self.value(operand, record))
            case Binary("and", left, right):
                return truth(self.value(left, record)) and truth(self.value(right, record))
            case Binary("or", left, right):
                return truth(self.value(left, record)) or truth(self.value(right, record))
            case Binary(operator, left, right):
                return binary(operator, self.value(left, record), self.value(right, record))
        raise TypeError(f"{expression!r} is no expression")


def binary(operator: str, left: Value, right: Value) -> Value:
    """Value of an operator that needs both operands."""
    if operator == "=":
        return equal(left, right)
    if operator == "!=":
        return not equal(left, right)
    if operator in _ORDERS:
        return compare(left, right) in _ORDERS[operator]
    if operator == "in":
        return contains(right, left)
    if operator == "has":
        return contains(left, right)
    if operator == "matches":
        return matches(left, right)
    return arithmetic(operator, left, right)


def contains(whole: Value, part: Value) -> bool:
    """Whether a list has an element, or a text has a part (in any case of letters)."""
    if whole is None or part is None:
        return False
    if kind(whole) == LIST:
        return any(equal(item, part) for item in whole)
    return to_text(part).casefold() in to_text(whole).casefold()


def matches(value: Value, pattern: Value) -> bool:
    """Whether a regular expression is found in a text."""
    if value is None or pattern is None:
        return False
    return _compiled(to_text(pattern)).search(to_text(value)) is not None


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise EvaluationProblem(f"{pattern!r} is no regular expression: {error}") from error


def negate(value: Value) -> Value:
    """``-value``; missing stays missing."""
    if value is None:
        return None
    if kind(value) != NUMBER:
        raise EvaluationProblem(f"-{to_text(value)} has no value")
    return -value


def arithmetic(operator: str, left: Value, right: Value) -> Value:
    """``+ - * / %`` on numbers; dates may be moved by days and subtracted; texts and lists may be joined."""
    if left is None or right is None:
        return None
    kinds = (kind(left), kind(right))
    if kinds == (NUMBER, NUMBER):
        return _numbers(operator, left, right)
    if kinds == (DATE, NUMBER) and operator in "+-":
        days = dt.timedelta(days=right)
        return left + days if operator == "+" else left - days
    if kinds == (DATE, DATE) and operator == "-":
        return (left - right).days
    if kinds in ((TEXT, TEXT), (LIST, LIST)) and operator == "+":
        return [*left, *right] if kinds[0] == LIST else left + right
    raise EvaluationProblem(f"a {kinds[0]} and a {kinds[1]} have no {operator!r}")


def _numbers(operator: str, left: float, right: float) -> float:
    if operator == "+":
        return left + right
    if operator == "-":
        return left - right
    if operator == "*":
        return left * right
    if right == 0:
        raise EvaluationProblem(f"{to_text(left)} {operator} 0 has no value")
    return left / right if operator == "/" else left % right
