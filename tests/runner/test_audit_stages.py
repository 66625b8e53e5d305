"""A staged cell is replayed without a sandbox from the test run in its record, and only from there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from repairlab.runner.audit import Difference, RecordedTests, Tape


def tape(path: Path, *records: dict[str, object]) -> Tape:
    path.write_text("".join(json.dumps({"n": n, **one}) + "\n" for n, one in enumerate(records)))
    return Tape(path)


def test_a_validation_is_read_from_its_record_and_held_against_it(tmp_path: Path) -> None:
    recorded = {"type": "validation", "test_run": {"end": "complete", "outcomes": {"a": "failed"}}}
    played = tape(tmp_path / "t.jsonl", recorded)
    _, result = RecordedTests(played).run()
    assert result == recorded["test_run"]
    played.record({"type": "validation", "test_run": result})
    played.finish()


def test_a_validation_that_was_not_recorded_is_a_difference(tmp_path: Path) -> None:
    played = tape(tmp_path / "t.jsonl", {"type": "end", "reason": "finished"})
    with pytest.raises(Difference):
        RecordedTests(played).run()
