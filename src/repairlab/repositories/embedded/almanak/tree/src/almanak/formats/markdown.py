"""Markdown tables, aligned so that their source can be read as well.

    | day        | title   | seats |
    | ---------- | ------- | ----: |
    | 2024-06-01 | Opening |    80 |
"""

from __future__ import annotations

from almanak.engine.run import Result
from almanak.formats.layout import grid

# Narrowest that a column may be: the rule under a header set to the right needs "--:".
NARROWEST = 3


def render(result: Result, *, missing: str = "") -> str:
    """The result as a Markdown table. Bars in cells are escaped."""
    table = grid(result, missing)
    if not table.header:
        return ""
    header = [escape(cell) for cell in table.header]
    rows = [[escape(cell) for cell in row] for row in table.rows]
    widths = [max(NARROWEST, *(len(row[i]) for row in [header, *rows])) for i in range(len(header))]
    lines = [
        _line(header, widths, table.right),
        _line([_rule(w, r) for w, r in zip(widths, table.right)], widths, table.right),
        *(_line(row, widths, table.right) for row in rows),
    ]
    return "".join(f"{line}\n" for line in lines)


def escape(cell: str) -> str:
    """`cell` as it may stand between bars."""
    return cell.replace("\\", "\\\\").replace("|", "\\|")


def _line(cells: list[str], widths: list[int], right: tuple[bool, ...]) -> str:
    return f"| {' | '.join(_pad(c, w, r) for c, w, r in zip(cells, widths, right))} |"


def _rule(width: int, right: bool) -> str:
    return "-" * (width - 1) + ":" if right else "-" * width


def _pad(text: str, width: int, right: bool) -> str:
    return text.rjust(width) if right else text.ljust(width)
