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


METRICS = {
    "schema_version": 1, "resolved_at_1": 0, "status": "unresolved", "reason": "no-edit", "label": "",
    "end": "finished", "verdict": "required-tests-failed", "verdict_detail": "", "required_tests": 2,
    "required_tests_passed": 1, "model_calls": 1, "tool_calls": 0, "public_test_runs": 0, "prompt_tokens": 10,
    "completion_tokens": None, "calls_by_kind": {"finish": 1}, "patch_bytes": 0, "files_shown": [],
    "files_read": [], "files_edited": [],
}  # fmt: skip
TESTS = {
    "schema_version": 1, "end": "tests-failed", "problem": "", "exit_code": 1, "runs": 1,
    "required": {"tests/test_a.py::test_new": "failed", "tests/test_a.py::test_old": "passed"},
    "unreadable": {}, "failures": {"tests/test_a.py::test_new": "assert 0"},
}  # fmt: skip
TIMING = {
    "schema_version": 1, "attempt": 1, "process": 1, "machine": "here", "started_utc": "2026-01-01T00:00:00",
    "phases_seconds": {"total": 0.5}, "agent_seconds": 0.1,
    "agent_intervals": [{"kind": "model", "seconds": 0.1}],
    "test_runs": [{"kind": "hidden", "setup_seconds": 0.1, "run_seconds": 1.0, "teardown_seconds": 0.0}],
    "transition": {}, "exchanges": [],
}  # fmt: skip


@pytest.fixture
def timing() -> dict[str, object]:
    return dict(TIMING)


@pytest.fixture
def fill() -> Callable[[Attempt, Cell], None]:
    def write(attempt: Attempt, cell: Cell) -> None:
        record = {"schema_version": 1, "cell": cell.model_dump(mode="json"), "freeze": "f" * 64, "facts": {}}
        attempt.write_json("cell.json", record)
        attempt.write_json("metrics.json", METRICS)
        attempt.write_json("tests.json", TESTS)
        attempt.write("patch.diff", b"")
        attempt.record({"type": "end", "reason": "finished"})
        attempt.write_json("timing.json", TIMING | {"attempt": attempt.number})

    return write


@pytest.fixture
def seal(layout: Layout, fill: Callable[[Attempt, Cell], None]) -> Callable[[Cell], Path]:
    def run(cell: Cell) -> Path:
        with Attempt(layout, cell.name) as attempt:
            fill(attempt, cell)
            return attempt.seal()

    return run
