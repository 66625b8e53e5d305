"""A table as values, and the texts and JSON made from it. Nothing is rounded before it is shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

from repairlab.analysis.statistics import Interval, NotEstimable
from repairlab.contract.canonical import Json

Value: TypeAlias = str | int | float | Fraction | bool | Interval | NotEstimable | tuple[int, int] | None
NO_DATA = "no data"


class Column(NamedTuple):
    """Heading of a column, its name in JSON, and how a value of it is written."""

    heading: str
    name: str
    show: Callable[[Any], str] = str


@dataclass(frozen=True, slots=True)
class Table:
    """One table of a report."""

    name: str
    """Short and stable, such as ``T2``."""
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Value, ...], ...]
    notes: tuple[str, ...] = ()

    @property
    def header(self) -> tuple[str, ...]:
        return tuple(column.heading for column in self.columns)

    def texts(self) -> list[tuple[str, ...]]:
        """Every row as it is shown."""
        return [
            tuple(_text(column, value) for column, value in zip(self.columns, row, strict=True))
            for row in self.rows
        ]

    def json(self) -> Json:
        """The table with unrounded values."""
        return {
            "title": self.title,
            "rows": [
                {column.name: _json(value) for column, value in zip(self.columns, row, strict=True)}
                for row in self.rows
            ],
            "notes": list(self.notes),
        }


def _text(column: Column, value: Value) -> str:
    if value is None:
        return "-"
    return value.reason if isinstance(value, NotEstimable) else column.show(value)


def _json(value: Value) -> Json:
    match value:
        case Interval():
            return {"low": value.low, "high": value.high, "level": value.level}
        case NotEstimable():
            return {"not_estimable": value.reason}
        case Fraction():
            return {"exact": f"{value.numerator}/{value.denominator}", "value": float(value)}
        case tuple():
            return list(value)
    return value


def points(value: float | Fraction) -> str:
    """A difference of proportions in percentage points, with its sign."""
    return f"{100 * float(value):+.1f}"


def points_interval(value: Interval) -> str:
    """An interval of a difference in points."""
    return f"{points(value.low)} to {points(value.high)}"


def percent(value: float) -> str:
    """A proportion in percent."""
    return f"{100 * value:.0f} %"


def percent_interval(value: Interval) -> str:
    """An interval of a proportion in percent."""
    return f"{100 * value.low:.0f}-{100 * value.high:.0f} %"


def probability(value: float | Fraction) -> str:
    """A p-value, never as 0."""
    number = float(value)
    return f"{number:.4f}" if number >= 0.00005 else f"{number:.1e}"


def split(value: tuple[int, int]) -> str:
    """Tasks for and against the first arm."""
    return f"{value[0]} / {value[1]}"


def ratio(value: tuple[int, int]) -> str:
    """Solved of all."""
    return f"{value[0]}/{value[1]}"


def markdown(tables: Sequence[Table], head: Sequence[str]) -> str:
    """A page with every table, for people."""
    lines = list(head)
    for table in tables:
        lines += ["", f"## {table.name}: {table.title}", ""]
        rows = [table.header, tuple("---" for _ in table.columns), *table.texts()]
        lines += ["| " + " | ".join(text.replace("|", "\\|") for text in row) + " |" for row in rows]
        lines += ["", *(f"- {note}" for note in table.notes)] if table.notes else []
    return "\n".join(lines) + "\n"
