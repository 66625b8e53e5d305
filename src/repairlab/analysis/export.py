"""Every table of an experiment as Parquet, with a data dictionary made from the same definition."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from repairlab.analysis.frames import Frames
from repairlab.analysis.gate import Gated, require_gated
from repairlab.analysis.schema import KEYS, TABLES, Column, Table
from repairlab.contract.canonical import Json, sha256_hex
from repairlab.contract.errors import BadInput

VERSION = 1
"""Of the tables' form; it moves whenever a column does."""


def write_export(gated: Gated, folder: Path) -> dict[str, str]:
    """Write one Parquet file for each table, ``data-dictionary.json`` and ``.md``, and ``export.json``.

    The same records give the same bytes under the same version of polars.

    Returns:
        SHA-256 of each file by its name.

    Raises:
        BadInput: the outcomes came as a table and not from a store.
    """
    require_gated(gated)
    if gated.frames is None:
        raise BadInput("only the tables of a store are exported")
    folder.mkdir(parents=True, exist_ok=True)
    facts = facts_of(gated)
    for table in TABLES:
        _write(gated.frames, table, facts, folder / f"{table.name}.parquet")
    (folder / "data-dictionary.json").write_text(_json(dictionary()), encoding="utf-8")
    (folder / "data-dictionary.md").write_text(_page(facts), encoding="utf-8")
    names = [f"{table.name}.parquet" for table in TABLES] + ["data-dictionary.json", "data-dictionary.md"]
    sums = {name: sha256_hex((folder / name).read_bytes()) for name in names}
    (folder / "export.json").write_text(_json({**facts, "files": sums}), encoding="utf-8")
    return sums


def facts_of(gated: Gated) -> dict[str, str]:
    """What stands in the footer of every Parquet file."""
    where = gated.provenance
    return {
        "repairlab.version": str(VERSION),
        "repairlab.experiment": where.experiment,
        "repairlab.kind": where.kind,
        "repairlab.manifest": where.manifest,
        "repairlab.data": where.data,
        "repairlab.stamp": gated.stamp,
    }


def _write(frames: Frames, table: Table, facts: Mapping[str, str], path: Path) -> None:
    rows = frames.labelled(table.name)
    rows.write_parquet(path, compression="zstd", compression_level=3, statistics=True, metadata=dict(facts))


def dictionary() -> Json:
    """Every table and column: type, unit, meaning, and what its null says."""
    return {
        table.name: {"row": table.row, "columns": [_column(column) for column in (*KEYS, *table.columns)]}
        for table in TABLES
    }


def _column(column: Column) -> Json:
    return {
        "name": column.name,
        "type": str(column.type),
        "unit": column.unit,
        "meaning": column.meaning,
        "null": column.null,
    }


def _page(facts: Mapping[str, str]) -> str:
    lines = ["# Data dictionary", "", *(f"- {name}: {value or '-'}" for name, value in facts.items())]
    for table in TABLES:
        lines += ["", f"## {table.name}", "", f"A row is {table.row}.", ""]
        lines += ["| column | type | unit | meaning | null |", "|---|---|---|---|---|"]
        lines += [
            f"| {column.name} | {column.type} | {column.unit} | {column.meaning} | {column.null} |"
            for column in (*KEYS, *table.columns)
        ]
    return "\n".join(lines) + "\n"


def _json(value: Json) -> str:
    return json.dumps(value, indent=1, sort_keys=True, allow_nan=False) + "\n"
