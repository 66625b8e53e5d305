"""Records in files: CSV, JSON lines and TOML."""

from __future__ import annotations

import csv
import datetime as dt
import io
import json
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

from almanak.engine.evaluate import Record
from almanak.errors import SourceProblem
from almanak.sources.fields import flatten
from almanak.values import Value, from_text


def read(path: Path) -> list[Record]:
    """Records of a file, by the suffix of its name.

    Raises:
        SourceProblem: the suffix is unknown, or the file cannot be read.
    """
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        known = ", ".join(sorted(READERS))
        raise SourceProblem(f"{path.name}: {path.suffix or 'no suffix'} is not among {known}")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise SourceProblem(f"{path.name}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise SourceProblem(f"{path.name}: not UTF-8 at byte {error.start}") from error
    return list(reader(text, path.name))


def read_csv(text: str, label: str) -> Iterator[Record]:
    """One record for each line after the first, which holds the names."""
    rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = next(rows, None)
        if header is None:
            return
        names = [name.strip() for name in header]
        if len(set(names)) < len(names) or "" in names:
            raise SourceProblem(f"{label}: the names of the columns are not all different")
        for row in rows:
            if not row:
                continue
            if len(row) != len(names):
                raise SourceProblem(f"{label}:{rows.line_num}: {len(row)} cells under {len(names)} names")
            yield dict(zip(names, map(from_text, row)))
    except csv.Error as error:
        raise SourceProblem(f"{label}:{rows.line_num}: {error}") from error


def read_jsonl(text: str, label: str) -> Iterator[Record]:
    """One record for each line that is not empty."""
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            data = json.loads(line)
        except json.JSONDecodeError as error:
            raise SourceProblem(f"{label}:{number}: {error.msg}") from error
        if not isinstance(data, dict):
            raise SourceProblem(f"{label}:{number}: a record is an object")
        yield {name: _from_json(value) for name, value in flatten(data).items()}


def read_toml(text: str, label: str) -> Iterator[Record]:
    """One record for each table of the only array of tables in the file."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SourceProblem(f"{label}: {error}") from error
    arrays = [v for v in data.values() if isinstance(v, list) and all(isinstance(t, dict) for t in v)]
    if len(arrays) != 1:
        raise SourceProblem(f"{label}: {len(arrays)} arrays of tables, want one")
    for table in arrays[0]:
        yield {name: _from_toml(value, label) for name, value in flatten(table).items()}


def _from_json(value: Value) -> Value:
    """JSON has no dates: a text that looks like one is taken for one."""
    if isinstance(value, str):
        guess = from_text(value)
        return guess if isinstance(guess, dt.date) else value
    if isinstance(value, list):
        return [_from_json(item) for item in value]
    return value


def _from_toml(value: Value, label: str) -> Value:
    if isinstance(value, dt.datetime):
        return value.date()
    if isinstance(value, dt.time):
        raise SourceProblem(f"{label}: a record cannot hold the time {value}")
    if isinstance(value, list):
        return [_from_toml(item, label) for item in value]
    return value


READERS: dict[str, Callable[[str, str], Iterator[Record]]] = {
    ".csv": read_csv,
    ".jsonl": read_jsonl,
    ".toml": read_toml,
}
