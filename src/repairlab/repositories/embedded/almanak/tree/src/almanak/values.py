"""The values that records hold: kinds, truth, equality and order.

A value is missing (None), a boolean, a number (int or float), a date, a text or a list of values. Two
values of different kinds are never equal and have no order; nor has anything an order with what is missing.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from typing import Any, Final, TypeAlias

Value: TypeAlias = Any

MISSING: Final = "missing"
BOOLEAN: Final = "boolean"
NUMBER: Final = "number"
DATE: Final = "date"
TEXT: Final = "text"
LIST: Final = "list"

_INTEGER = re.compile(r"[+-]?\d{1,18}")
_DECIMAL = re.compile(r"[+-]?\d+\.\d+(?:[eE][+-]?\d+)?")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


def kind(value: Value) -> str:
    """Name of the kind of `value`.

    Raises:
        TypeError: for an object that no record may hold.
    """
    if value is None:
        return MISSING
    if isinstance(value, bool):
        return BOOLEAN
    if isinstance(value, (int, float)):
        return NUMBER
    if isinstance(value, dt.date) and not isinstance(value, dt.datetime):
        return DATE
    if isinstance(value, str):
        return TEXT
    if isinstance(value, (list, tuple)):
        return LIST
    raise TypeError(f"a {type(value).__name__} is no value of a record")


def truth(value: Value) -> bool:
    """Whether `value` counts as true: false, 0, the empty text, the empty list and missing do not."""
    return bool(value)


def equal(left: Value, right: Value) -> bool:
    """Equality within a kind. Missing equals missing."""
    if kind(left) != kind(right):
        return False
    if isinstance(left, (list, tuple)):
        return len(left) == len(right) and all(map(equal, left, right))
    return bool(left == right)


def compare(left: Value, right: Value) -> int | None:
    """-1, 0 or 1 for the order of two values of one kind; None where there is no order."""
    kinds = {kind(left), kind(right)}
    if len(kinds) > 1 or kinds & {MISSING, BOOLEAN}:
        return None
    if kinds == {LIST}:
        return _compare_lists(left, right)
    return int(left > right) - int(left < right)


def _compare_lists(left: Sequence[Value], right: Sequence[Value]) -> int | None:
    for one, other in zip(left, right):
        order = compare(one, other)
        if order != 0:
            return order
    return (len(left) > len(right)) - (len(left) < len(right))


def from_text(text: str) -> Value:
    """Guess the value that a cell of a text file stands for. The empty text is missing."""
    stripped = text.strip()
    if not stripped:
        return None
    lowered = stripped.lower()
    if lowered in ("true", "false"):
        return lowered == "true"
    if _INTEGER.fullmatch(stripped):
        return int(stripped)
    if _DECIMAL.fullmatch(stripped):
        return float(stripped)
    if _DATE.fullmatch(stripped):
        try:
            return dt.date.fromisoformat(stripped)
        except ValueError:
            return text
    return text


def to_text(value: Value, missing: str = "") -> str:
    """How a value is shown to people."""
    if value is None:
        return missing
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:.12g}"
    if isinstance(value, (list, tuple)):
        return ", ".join(to_text(item, missing) for item in value)
    return str(value)
