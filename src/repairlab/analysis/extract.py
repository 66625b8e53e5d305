"""From one sealed cell to rows of every table. Reads one folder, checks its seal, keeps nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from repairlab.analysis.schema import CELLS
from repairlab.contract.canonical import digest_of
from repairlab.contract.errors import IntegrityViolation
from repairlab.contract.outcome import TestOutcome
from repairlab.contract.strict import load_json
from repairlab.store.artifacts import CellRecord, Failure, Metrics, TestResults, Timing
from repairlab.store.layout import FAILURE
from repairlab.store.sealed import Opened, open_sealed
from repairlab.store.transcript import CallRecord, Read, Record, Reply, Span, StageShown, StageTaken, answers

Value: TypeAlias = str | int | float | bool | None
Rows: TypeAlias = dict[str, list[tuple[Value, ...]]]
"""Rows of each table, by its name, without the sequence number."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What the plan says of one cell, as far as its rows need it."""

    sequence: int
    name: str
    digest: str
    code: str
    folder: Path
    """Where its sealed record is, if there is one."""
    attempts: tuple[Path, ...]
    """Folders of its attempts without an outcome."""
    gold: frozenset[str]
    fail_to_pass: frozenset[str]
    pass_to_pass: frozenset[str]
    label: str
    """Of the arm, as frozen."""
    carried: bool = False
    """The record was sealed under an earlier revision and proven equal under this one."""


def rows_of(expected: Expected) -> Rows:
    """Rows of one planned cell, sealed or not.

    Raises:
        IntegrityViolation: the seal does not hold, or the record is another cell's.
        BadInput: an artifact is not of its form.
    """
    if not expected.folder.is_dir():
        return unsealed_rows(expected)
    opened = open_sealed(expected.folder)
    if opened.record.cell.digest != expected.digest and not expected.carried:
        raise IntegrityViolation(f"{expected.folder}: cell.json: is not the planned cell")
    if opened.metrics.label != expected.label:
        raise IntegrityViolation(
            f"{expected.folder}: metrics.json: label {opened.metrics.label!r} is not the arm's"
        )
    _hold_verdict(opened, expected)
    attempts = [_attempt(folder) for folder in expected.attempts]
    records = list(answers(opened.files["transcript.jsonl"], str(expected.folder / "transcript.jsonl")))
    return {
        "cells": [_cell(expected, opened, len(attempts))],
        "attempts": [*attempts, (opened.timing.attempt, "sealed", None, None)],
        "calls": [_call(one) for one in records if isinstance(one, CallRecord | Reply)],
        "transitions": list(_transitions(opened.timing)),
        "files": list(_files(records, opened.metrics, expected.gold)),
        "tests": list(_tests(opened.tests, expected)),
    }


def _hold_verdict(opened: Opened, expected: Expected) -> None:
    """The verdict rests on the tests that the task requires, no others, and counts them rightly."""
    required, metrics = opened.tests.required, opened.metrics
    if required.keys() != expected.fail_to_pass | expected.pass_to_pass:
        raise IntegrityViolation(f"{expected.folder}: tests.json: other tests than the task requires")
    passed = sum(outcome is TestOutcome.PASSED for outcome in required.values())
    if (passed, len(required)) != (metrics.required_tests_passed, metrics.required_tests):
        raise IntegrityViolation(f"{expected.folder}: metrics.json: other counts of tests than tests.json")


def unsealed_rows(expected: Expected) -> Rows:
    """Rows of a planned cell without a record: its place, and its attempts that gave no outcome."""
    attempts = [_attempt(folder) for folder in expected.attempts]
    known: dict[str, Value] = {
        "sealed": False,
        "identity": expected.digest,
        "code": expected.code,
        "infrastructure_attempts": len(attempts),
    }
    return {"cells": [tuple(known.get(column.name) for column in CELLS.columns)], "attempts": attempts}


def _cell(expected: Expected, opened: Opened, failed: int) -> tuple[Value, ...]:
    metrics, timing, record = opened.metrics, opened.timing, opened.record
    phases, intervals = timing.phases_seconds, timing.agent_intervals
    refused = sum(metrics.calls_by_kind.get(kind, 0) for kind in ("over-budget", "too-many-calls"))
    return (
        True,
        expected.digest,
        expected.code,
        expected.folder.name,
        record.freeze,
        opened.seal.whole,
        opened.seal.outcome,
        metrics.resolved_at_1,
        metrics.status.value,
        metrics.reason,
        metrics.end.value,
        metrics.verdict,
        metrics.required_tests,
        metrics.required_tests_passed,
        metrics.model_calls,
        metrics.tool_calls,
        refused,
        metrics.public_test_runs,
        metrics.prompt_tokens,
        metrics.completion_tokens,
        metrics.patch_bytes,
        timing.agent_seconds,
        sum(interval.seconds for interval in intervals[:-1]),
        phases.get("residency"),
        phases.get("evaluation"),
        phases.get("total"),
        timing.started_utc,
        timing.attempt,
        failed,
        *_facts(record),
    )


def _facts(record: CellRecord) -> tuple[Value, Value, Value, Value]:
    """Environment, sandbox, evaluator and host level, as far as they are recorded."""
    environment, sandbox = record.facts.get("environment"), record.facts.get("sandbox")
    software, residency = record.facts.get("software"), record.facts.get("residency")
    return (
        digest_of(environment) if isinstance(environment, dict) else None,
        _text(sandbox, "name"),
        _text(software, "repairlab"),
        _text(residency, "level"),
    )


def _text(value: object, key: str) -> str | None:
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, str) else None


def _attempt(folder: Path) -> tuple[Value, ...]:
    number = int(folder.name.removeprefix("attempt-"))
    failure = folder / FAILURE
    if not failure.is_file():
        return (number, "interrupted", None, None)
    said = load_json(Failure, failure)
    return (number, "infrastructure", said.kind, said.message)


def _call(record: Record) -> tuple[Value, ...]:
    if isinstance(record, CallRecord):
        changed = record.patch.changed if record.patch else ()
        files = len(record.shown) or len(changed) or int(record.read is not None)
        own = (record.tool, record.kind, record.accepted, len(record.text), files)
        return (record.n, "tool", *own, None, None, None)
    body = record.body if isinstance(record, Reply) and isinstance(record.body, dict) else {}
    usage, choices = body.get("usage"), body.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    prompt, completion = _count(usage, "prompt_tokens"), _count(usage, "completion_tokens")
    known = bool(prompt) and completion is not None
    tokens = (prompt, completion) if known else (None, None)
    return (record.n, "model", None, None, None, None, None, _text(first, "finish_reason"), *tokens)


def _count(value: object, key: str) -> int | None:
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, int) and not isinstance(found, bool) and found >= 0 else None


def _transitions(timing: Timing) -> Iterator[tuple[Value, ...]]:
    yield (0, "agent", *_change(timing.transition), None, None)
    for number, swap in enumerate(timing.swaps, start=1):
        facts = swap if isinstance(swap, dict) else {}
        yield (
            number,
            str(facts.get("to")),
            *_change(facts.get("transition")),
            _seconds(facts, "seconds"),
            _seconds(facts, "first_token_seconds"),
        )


def _seconds(facts: Mapping[str, object], key: str) -> float | None:
    value = facts.get(key)
    return float(value) if isinstance(value, int | float) else None


def _change(value: object) -> tuple[Value, Value, Value, Value]:
    facts: Mapping[str, object] = value if isinstance(value, dict) else {}
    verified, unloaded, loaded = facts.get("verified"), facts.get("unloaded"), facts.get("loaded")
    return (
        _text(verified, "key"),
        _text(facts, "level"),
        loaded if isinstance(loaded, bool) else None,
        len(unloaded) if isinstance(unloaded, list) else None,
    )


def _files(records: list[Record], metrics: Metrics, gold: frozenset[str]) -> Iterator[tuple[Value, ...]]:
    for record in records:
        match record:
            case CallRecord():
                yield from _returned(record, gold)
                if record.read:
                    yield _opened(record.n, record.read, gold)
            case StageShown():
                yield from (_opened(record.n, span, gold) for span in record.shown)
            case StageTaken():
                for rank, path in enumerate(record.selected, start=1):
                    yield ("selected", _readable(path), path in gold, record.n, rank, None, None, None, None)
            case _:
                continue
    for path in metrics.files_edited:
        yield ("edited", path, path in gold, None, None, None, None, None, None)


def _returned(record: CallRecord, gold: frozenset[str]) -> Iterator[tuple[Value, ...]]:
    for rank, shown in enumerate(record.shown, start=1):
        place = ("returned", _readable(shown.path), shown.path in gold, record.n, rank)
        ranked: list[tuple[str | None, int | None]] = [*sorted(shown.components.items())]
        for component, number in ranked or [(None, None)]:
            yield (*place, shown.start_line, shown.end_line, component, number)


def _opened(n: int, lines: Read | Span, gold: frozenset[str]) -> tuple[Value, ...]:
    where = (_readable(lines.path), lines.path in gold, n)
    return ("opened", *where, None, lines.start_line, lines.end_line, None, None)


def _readable(path: str) -> str:
    """Bytes of a name that are not UTF-8 as escapes, as `metrics.json` has them."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _tests(results: TestResults, expected: Expected) -> Iterator[tuple[Value, ...]]:
    for name, outcome in sorted(results.required.items()):
        required = "fail-to-pass" if name in expected.fail_to_pass else None
        if name in expected.pass_to_pass:
            required = "pass-to-pass"
        yield (name, required, outcome.value)
