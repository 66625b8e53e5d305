"""The published schemas are those of the models, and sealed artifacts fit them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from repairlab.manifest.cell import Cell
from repairlab.store.schemas import schemas

ROOT = Path(__file__).resolve().parent.parent.parent
PUBLISHED = ROOT / "contracts" / "schemas"


def validator(name: str) -> Any:
    schema = json.loads((PUBLISHED / f"{name}.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def test_published_schemas_are_up_to_date() -> None:
    # `make schemas` writes them anew.
    assert {path.name: path.read_bytes() for path in PUBLISHED.iterdir()} == schemas()


@pytest.mark.parametrize("name", ["cell", "metrics", "tests", "timing"])
def test_a_sealed_artifact_fits_its_schema(seal: Any, cells: tuple[Cell, ...], name: str) -> None:
    folder = seal(cells[0])
    document = json.loads((folder / f"{name}.json").read_text())
    validator(name).validate(document)
    with pytest.raises(jsonschema.ValidationError):
        validator(name).validate(document | {"foreign": 1})


def test_a_transcript_fits_its_schema(seal: Any, cells: tuple[Cell, ...]) -> None:
    folder = seal(cells[0])
    for line in (folder / "transcript.jsonl").read_text().splitlines():
        validator("transcript-record").validate(json.loads(line))
