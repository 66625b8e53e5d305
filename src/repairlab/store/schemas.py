"""JSON Schemas (draft 2020-12) of every artifact, generated from the models that validate on read and write.

``contracts/schemas/`` holds them for programs in other languages; a test keeps both equal.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import BaseModel, TypeAdapter

from repairlab.manifest.cell import Manifest
from repairlab.manifest.freeze import FreezeRecord
from repairlab.store.artifacts import CellRecord, Metrics, TestResults, Timing
from repairlab.store.transcript import record_adapter

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_MODELS: dict[str, type[BaseModel]] = {
    "manifest": Manifest,
    "freeze": FreezeRecord,
    "cell": CellRecord,
    "metrics": Metrics,
    "tests": TestResults,
    "timing": Timing,
}


def schemas() -> dict[str, bytes]:
    """File name to JSON text of each schema."""
    adapters: dict[str, TypeAdapter[Any]] = {name: TypeAdapter(model) for name, model in _MODELS.items()}
    adapters["transcript-record"] = record_adapter()
    return {f"{name}.schema.json": _text(adapter) for name, adapter in sorted(adapters.items())}


def write_schemas(folder: Path) -> None:
    """Write every schema into `folder`."""
    for name, text in schemas().items():
        (folder / name).write_bytes(text)


def _text(adapter: TypeAdapter[Any]) -> bytes:
    schema = {"$schema": _DIALECT, **adapter.json_schema(mode="validation")}
    return (json.dumps(schema, indent=1, sort_keys=True, ensure_ascii=True) + "\n").encode()
