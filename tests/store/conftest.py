"""Fixtures of the store's tests: real cells of the small study, sealed with plain artifacts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from repairlab.contract.study import Study, load_inputs
from repairlab.manifest.cell import Cell
from repairlab.manifest.expand import expand
from repairlab.store.attempt import Attempt
from repairlab.store.layout import Layout, prepare_layout


@pytest.fixture
def layout(study: Study) -> Layout:
    layout = Layout(study.raw / "small", study.incomplete / "small")
    prepare_layout(layout)
    return layout


@pytest.fixture
def cells(study: Study) -> tuple[Cell, ...]:
    return expand(load_inputs(study, "small"), "c" * 64).cells


@pytest.fixture
def fill() -> Callable[[Attempt, Cell], None]:
    def write(attempt: Attempt, cell: Cell) -> None:
        record = {"schema_version": 1, "cell": cell.model_dump(mode="json"), "freeze": "f" * 64, "facts": {}}
        attempt.write_json("cell.json", record)
        attempt.write_json("metrics.json", {"resolved_at_1": 0})
        attempt.write_json("tests.json", {})
        attempt.write("patch.diff", b"")
        attempt.record({"type": "end"})
        attempt.write_json("timing.json", {"attempt": attempt.number})

    return write


@pytest.fixture
def seal(layout: Layout, fill: Callable[[Attempt, Cell], None]) -> Callable[[Cell], Path]:
    def run(cell: Cell) -> Path:
        with Attempt(layout, cell.name) as attempt:
            fill(attempt, cell)
            return attempt.seal()

    return run
