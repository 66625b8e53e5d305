"""Tables on a terminal and off it: the same cells, aligned, without a width that cuts anything off a pipe."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def print_table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table: drawn on a terminal, plain columns otherwise."""
    if sys.stdout.isatty():
        _drawn(title, header, rows)
        return
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    print(title)
    for row in [header, *rows]:
        print("  " + "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip())


def _drawn(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title, title_justify="left")
    for name in header:
        table.add_column(name)
    for row in rows:
        table.add_row(*(Text(text) for text in row))
    Console().print(table)
