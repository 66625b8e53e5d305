"""Formats for programs: CSV and JSON lines."""

from __future__ import annotations

import csv
import datetime as dt
import io
import json
from typing import Any

from almanak.engine.run import Result
from almanak.values import Value, to_text


def render_csv(result: Result, *, missing: str = "") -> str:
    """Comma-separated values with a header. Lists are joined by semicolons."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    if result.columns:
        writer.writerow(result.columns)
    for row in result.rows():
        writer.writerow([_cell(value, missing) for value in row])
    return out.getvalue()


def _cell(value: Value, missing: str) -> str:
    if isinstance(value, (list, tuple)):
        return ";".join(to_text(item, missing) for item in value)
    return to_text(value, missing)


def render_jsonl(result: Result, *, missing: str = "") -> str:
    """One object a line. Missing values are null, whatever `missing` says."""
    lines = []
    for row in result.rows():
        record = {column: _json(value) for column, value in zip(result.columns, row)}
        lines.append(json.dumps(record, ensure_ascii=False))
    return "".join(f"{line}\n" for line in lines)


def _json(value: Value) -> Any:
    if isinstance(value, dt.date):
        return value.isoformat()
    if isinstance(value, (list, tuple)):
        return [_json(item) for item in value]
    return value
