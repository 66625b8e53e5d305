"""What tables of all formats share: cells as text, and the side on which a column is set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from almanak.engine.run import Result
from almanak.values import MISSING, NUMBER, Value, kind, to_text

_CONTROLS = str.maketrans({"\n": "⏎", "\r": "⏎", "\t": " "})


@dataclass(frozen=True, slots=True)
class Grid:
    """A table of text.

    Attributes:
        header: names of the columns.
        rows: each with a cell for each column.
        right: for each column, whether it is set to the right.
    """

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    right: tuple[bool, ...]

    def column(self, index: int) -> list[str]:
        """Header and cells of one column."""
        return [self.header[index], *(row[index] for row in self.rows)]


def grid(result: Result, missing: str = "") -> Grid:
    """The result as text. Line breaks in a cell become a sign, so that a row stays a line."""
    rows = result.rows()
    return Grid(
        header=tuple(one_line(column) for column in result.columns),
        rows=tuple(tuple(one_line(to_text(value, missing)) for value in row) for row in rows),
        right=tuple(is_numeric([row[i] for row in rows]) for i in range(len(result.columns))),
    )


def is_numeric(column: Sequence[Value]) -> bool:
    """Whether a column holds numbers and nothing else that is not missing."""
    kinds = {kind(value) for value in column} - {MISSING}
    return kinds == {NUMBER}


def one_line(text: str) -> str:
    """`text` without line breaks and tabs."""
    return text.replace("\r\n", "\n").translate(_CONTROLS)
