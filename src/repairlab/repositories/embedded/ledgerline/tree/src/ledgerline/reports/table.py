"""Plain-text tables."""

from __future__ import annotations

import enum
from collections.abc import Sequence


class Align(enum.Enum):
    """On which side of its column a cell stands."""

    LEFT = "<"
    RIGHT = ">"


def render(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    align: Sequence[Align] | None = None,
    footer: Sequence[str] | None = None,
) -> str:
    """A table with a rule under its header and, where there is a footer, one above it.

    Args:
        align: one for each column; without it the first column is left-aligned, the others right.

    Raises:
        ValueError: a row has another number of cells than the header.
    """
    sides = list(align) if align else [Align.LEFT] + [Align.RIGHT] * (len(header) - 1)
    body = [list(row) for row in rows]
    everything = [list(header), *body, *([list(footer)] if footer else [])]
    for row in everything:
        if len(row) != len(header):
            raise ValueError(f"a row has {len(row)} cells, the header {len(header)}")
    widths = [max(len(row[column]) for row in everything) for column in range(len(header))]
    rule = "  ".join("-" * width for width in widths)
    lines = [_line(header, widths, sides), rule]
    lines += [_line(row, widths, sides) for row in body]
    if footer:
        lines += [rule, _line(footer, widths, sides)]
    return "\n".join(lines) + "\n"


def _line(cells: Sequence[str], widths: Sequence[int], sides: Sequence[Align]) -> str:
    padded = [f"{cell:{side.value}{width}}" for cell, width, side in zip(cells, widths, sides, strict=True)]
    return "  ".join(padded).rstrip()
