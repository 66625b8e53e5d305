"""Filters: what may follow a bar inside ``{{ }}``."""

from __future__ import annotations

import datetime as dt
import textwrap
from collections.abc import Callable

from almanak.errors import EvaluationProblem
from almanak.values import Value, to_text

Filter = Callable[..., Value]


def pad(value: Value, width: Value, side: Value = "left") -> str:
    """At least `width` characters; the text is set to the left, the right or the centre.

    It counts characters, as fixed-length records for other programs need it.
    """
    text, count = to_text(value), _whole(width)
    if side == "right":
        return text.rjust(count)
    return text.center(count) if side == "centre" else text.ljust(count)


def truncate(value: Value, width: Value, mark: Value = "...") -> str:
    """At most `width` characters; what was cut off is replaced by the mark."""
    text, count, sign = to_text(value), _whole(width), to_text(mark)
    if len(text) <= count:
        return text
    return text[: max(count - len(sign), 0)] + sign[:count]


def default(value: Value, fallback: Value) -> Value:
    """`fallback` for what is missing or the empty text."""
    return fallback if value is None or value == "" else value


def date(value: Value, pattern: Value) -> Value:
    """A date in a form of its own; YYYY, MM, DD, M and D stand for its parts."""
    if value is None:
        return None
    if not isinstance(value, dt.date):
        raise EvaluationProblem(f"date: {to_text(value)!r} is no date")
    parts = {
        "YYYY": f"{value.year:04}", "MM": f"{value.month:02}", "DD": f"{value.day:02}",
        "M": str(value.month), "D": str(value.day),
    }  # fmt: skip
    text, out, i = to_text(pattern), [], 0
    while i < len(text):
        part = next((p for p in parts if text.startswith(p, i)), None)
        out.append(parts[part] if part else text[i])
        i += len(part) if part else 1
    return "".join(out)


def indent(value: Value, width: Value) -> str:
    """Every line but the first moved to the right."""
    return to_text(value).replace("\n", "\n" + " " * _whole(width))


def wrap(value: Value, width: Value) -> str:
    """Lines of at most `width` characters, broken between words."""
    return textwrap.fill(to_text(value), max(_whole(width), 1), break_long_words=False)


def join(value: Value, separator: Value = ", ") -> str:
    """Elements of a list with something between them."""
    items = value if isinstance(value, (list, tuple)) else [value]
    return to_text(separator).join(to_text(item) for item in items if item is not None)


def plural(value: Value, one: Value, many: Value) -> Value:
    """`one` for the number 1, otherwise `many`."""
    return one if value == 1 else many


def _whole(value: Value) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise EvaluationProblem(f"{to_text(value)!r} is no width")
    return value


def builtin() -> dict[str, Filter]:
    """The filters that are always there."""
    return {
        "upper": lambda value: to_text(value).upper(),
        "lower": lambda value: to_text(value).lower(),
        "trim": lambda value: to_text(value).strip(),
        "pad": pad,
        "truncate": truncate,
        "default": default,
        "date": date,
        "indent": indent,
        "wrap": wrap,
        "join": join,
        "plural": plural,
    }
