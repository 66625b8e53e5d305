"""Functions of one record: what a query can call in an expression."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from almanak.errors import EvaluationProblem, PluginProblem
from almanak.values import LIST, Value, compare, kind, to_text


@dataclass(frozen=True, slots=True)
class Function:
    """A function that queries may call.

    Attributes:
        name: as it is called.
        call: takes values, gives a value.
        least: fewest arguments.
        most: most arguments; None for any number.
        pure: whether equal arguments always give an equal value.
    """

    name: str
    call: Callable[..., Value]
    least: int
    most: int | None
    pure: bool = True

    def __call__(self, *arguments: Value) -> Value:
        if len(arguments) < self.least or (self.most is not None and len(arguments) > self.most):
            raise EvaluationProblem(f"{self.name}() does not take {len(arguments)} arguments")
        return self.call(*arguments)


class Functions:
    """The functions that one run knows."""

    def __init__(self, functions: Iterable[Function] = ()) -> None:
        self._by_name: dict[str, Function] = {}
        for function in functions:
            self.add(function)

    def add(self, function: Function) -> None:
        """Make a function known.

        Raises:
            PluginProblem: when its name is taken.
        """
        if function.name in self._by_name:
            raise PluginProblem(f"there is a function {function.name}() already")
        self._by_name[function.name] = function

    def get(self, name: str) -> Function:
        """The function of that name.

        Raises:
            EvaluationProblem: when there is none.
        """
        try:
            return self._by_name[name]
        except KeyError:
            raise EvaluationProblem(f"there is no function {name}()") from None

    def names(self) -> list[str]:
        """All names, sorted."""
        return sorted(self._by_name)


def builtin(today: dt.date) -> Functions:
    """The functions that are always there."""
    return Functions(
        [
            Function("lower", _text(str.lower), 1, 1),
            Function("upper", _text(str.upper), 1, 1),
            Function("trim", _text(str.strip), 1, 1),
            Function("length", _length, 1, 1),
            Function("concat", lambda *parts: "".join(to_text(part) for part in parts), 1, None),
            Function("replace", _replace, 3, 3),
            Function("split", _split, 2, 2),
            Function("abs", _number(abs), 1, 1),
            Function("floor", _number(math.floor), 1, 1),
            Function("ceil", _number(math.ceil), 1, 1),
            Function("round", _round, 1, 2),
            Function("year", _date(lambda day: day.year), 1, 1),
            Function("month", _date(lambda day: day.month), 1, 1),
            Function("week", _date(lambda day: day.isocalendar().week), 1, 1),
            Function("weekday", _date(lambda day: day.isoweekday()), 1, 1),
            Function("days_between", _days_between, 2, 2),
            Function("today", lambda: today, 0, 0, pure=False),
            Function("coalesce", _coalesce, 1, None),
            Function("if", lambda test, yes, no: yes if test else no, 3, 3),
            Function("least", lambda *values: _extreme(values, -1), 1, None),
            Function("greatest", lambda *values: _extreme(values, 1), 1, None),
        ]
    )


def _text(change: Callable[[str], str]) -> Callable[[Value], Value]:
    return lambda value: None if value is None else change(to_text(value))


def _number(change: Callable[[float], float]) -> Callable[[Value], Value]:
    def call(value: Value) -> Value:
        return None if value is None else change(_as_number(value))

    return call


def _date(part: Callable[[dt.date], int]) -> Callable[[Value], Value]:
    def call(value: Value) -> Value:
        return None if value is None else part(_as_date(value))

    return call


def _as_number(value: Value) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise EvaluationProblem(f"{to_text(value)!r} is no number")
    return value


def _as_date(value: Value) -> dt.date:
    if not isinstance(value, dt.date):
        raise EvaluationProblem(f"{to_text(value)!r} is no date")
    return value


def _length(value: Value) -> Value:
    if value is None:
        return None
    return len(value) if kind(value) == LIST else len(to_text(value))


def _replace(value: Value, old: Value, new: Value) -> Value:
    if value is None:
        return None
    if not to_text(old):
        raise EvaluationProblem("replace() needs a text to look for")
    return to_text(value).replace(to_text(old), to_text(new))


def _split(value: Value, separator: Value) -> Value:
    if value is None:
        return None
    if not to_text(separator):
        raise EvaluationProblem("split() needs a separator")
    return [part.strip() for part in to_text(value).split(to_text(separator))]


def _round(value: Value, digits: Value = 0) -> Value:
    if value is None:
        return None
    places = _as_number(digits)
    if places != int(places):
        raise EvaluationProblem("round() takes a whole number of digits")
    rounded = round(_as_number(value), int(places))
    return int(rounded) if places <= 0 else rounded


def _days_between(start: Value, end: Value) -> Value:
    if start is None or end is None:
        return None
    return (_as_date(end) - _as_date(start)).days


def _coalesce(*values: Value) -> Value:
    return next((value for value in values if value is not None), None)


def _extreme(values: tuple[Value, ...], sign: int) -> Value:
    best: Value = None
    for value in values:
        if value is None:
            continue
        order = None if best is None else compare(value, best)
        if best is None or order == sign:
            best = value
        elif order is None:
            raise EvaluationProblem(f"{to_text(value)!r} and {to_text(best)!r} have no order")
    return best
