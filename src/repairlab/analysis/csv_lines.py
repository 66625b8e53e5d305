"""Lines of a CSV table with known columns; nothing is trimmed, folded or taken for a number."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from repairlab.contract.errors import BadInput


def read_lines(path: Path, columns: Sequence[str]) -> list[list[str]]:
    """Every line behind the head. The first of them is line 2 of the file; their lengths are not checked.

    Raises:
        BadInput: unreadable, not UTF-8, or with other columns.
    """
    try:
        text = path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: cannot be read ({error})") from error
    lines = list(csv.reader(io.StringIO(text, newline="")))
    if not lines or lines[0] != list(columns):
        raise BadInput(f"{path}:1: the columns are not {', '.join(columns)}")
    return lines[1:]
