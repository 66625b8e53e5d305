"""Tables for the terminal.

    day         title             seats
    ----------  ----------------  -----
    2024-06-01  Opening              80
"""

from __future__ import annotations

from almanak.engine.run import Result
from almanak.formats.layout import Grid, grid

ELLIPSIS = "…"
GAP = "  "


def render(result: Result, *, missing: str = "", limit: int = 0) -> str:
    """The result as a table.

    Args:
        result: what to show.
        missing: what stands for a missing value.
        limit: widest that a column may be; 0 for no limit. Longer cells are clipped.
    """
    table = grid(result, missing)
    if not table.header:
        return ""
    widths = [_width(table, index, limit) for index in range(len(table.header))]
    lines = [
        _line(table.header, widths, table.right),
        GAP.join("-" * width for width in widths),
        *(_line(row, widths, table.right) for row in table.rows),
    ]
    return "".join(f"{line.rstrip()}\n" for line in lines)


def _width(table: Grid, index: int, limit: int) -> int:
    widest = max(len(cell) for cell in table.column(index))
    return min(widest, limit) if limit else widest


def _line(cells: tuple[str, ...], widths: list[int], right: tuple[bool, ...]) -> str:
    return GAP.join(_pad(_clip(c, w), w, r) for c, w, r in zip(cells, widths, right))


def _clip(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + ELLIPSIS


def _pad(text: str, width: int, right: bool) -> str:
    return text.rjust(width) if right else text.ljust(width)
