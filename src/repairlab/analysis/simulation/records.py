"""Simulated records, sealed by the store's own code: like real ones in all but their labels."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from repairlab.analysis.checks import SIMULATED
from repairlab.analysis.simulation.drawing import Drawn
from repairlab.contract.canonical import Json
from repairlab.contract.errors import RefuseToStart
from repairlab.contract.study import Inputs
from repairlab.manifest.cell import Cell
from repairlab.manifest.freeze import Frozen
from repairlab.store.attempt import Attempt
from repairlab.store.layout import Layout, prepare_layout

_KINDS = ("host-connection-lost", "host-out-of-memory", "sandbox-failed")


def write_records(inputs: Inputs, frozen: Frozen, layout: Layout, drawn: Iterable[Drawn], seed: int) -> int:
    """Write and seal every drawn record; returns how many were sealed.

    Raises:
        RefuseToStart: the experiment is no simulation.
    """
    if inputs.experiment.kind != "simulation":
        raise RefuseToStart(
            f"{inputs.experiment.name} is an experiment of kind {inputs.experiment.kind}",
            repair="simulated records are written into experiments of kind 'simulation' alone",
        )
    prepare_layout(layout)
    labels = {name: treatment.label for name, treatment in inputs.treatments.items()}
    freeze, sealed = frozen.head, 0
    for cell, result in zip(frozen.manifest.cells, drawn, strict=True):
        own = random.Random(f"{seed}.{cell.sequence}")  # noqa: S311  # simulation, no secret
        for _ in range(result.failed_attempts):
            with Attempt(layout, cell.name, durable=False) as attempt:
                attempt.record({"type": "request", "body": {}})
                attempt.fail(own.choice(_KINDS), "simulated: the host went away")
        if result.resolved is not None:
            with Attempt(layout, cell.name, durable=False) as attempt:
                _fill(attempt, cell, freeze, labels, bool(result.resolved), own)
                attempt.seal()
            sealed += 1
    return sealed


def _fill(
    attempt: Attempt,
    cell: Cell,
    freeze: str,
    labels: Mapping[str, str],
    resolved: bool,
    own: random.Random,
) -> None:
    """A short, consistent episode: look, read, edit, finish."""
    suffix = "go" if "gamma" in cell.task else "py"
    gold, other = f"src/gold.{suffix}", f"src/other.{suffix}"
    lucky = own.random() < 0.4
    path = gold if resolved or lucky else other
    calls = 3 + own.randrange(6)
    tokens = [(1500 + 900 * n + own.randrange(400), 40 + own.randrange(300)) for n in range(calls)]
    for entry in _transcript(cell, path, other, tokens):
        attempt.record(entry)
    outcomes = {f"tests/hidden.{suffix}::{name}": "passed" for name in ("new", "old", "older")}
    if not resolved:
        outcomes[f"tests/hidden.{suffix}::new"] = "failed"
    facts: Json = {
        "software": {"repairlab": SIMULATED},
        "residency": {"level": SIMULATED, "verified": {}},
        "sandbox": {"name": SIMULATED, "materialisation": SIMULATED},
        "environment": {"key": f"{SIMULATED}-{cell.task}", "versions": {}},
    }
    attempt.write_json(
        "cell.json",
        {"schema_version": 1, "cell": cell.model_dump(mode="json"), "freeze": freeze, "facts": facts},
    )
    patch = f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-old\n+new\n".encode()
    attempt.write("patch.diff", patch)
    attempt.write_json(
        "tests.json",
        {
            "schema_version": 1,
            "end": "tests-passed" if resolved else "tests-failed",
            "problem": "",
            "exit_code": 0 if resolved else 1,
            "runs": 1,
            "required": outcomes,
            "unreadable": {},
            "failures": {name: "simulated" for name, outcome in outcomes.items() if outcome != "passed"},
        },
    )
    attempt.write_json(
        "metrics.json", _metrics(labels[cell.treatment], resolved, path, other, tokens, len(patch))
    )
    attempt.write_json("timing.json", _timing(attempt.number, cell.sequence, len(tokens), own))


def _transcript(
    cell: Cell, path: str, other: str, tokens: list[tuple[int, int]]
) -> Iterable[dict[str, Json]]:
    shown: list[Json] = [
        {"path": path, "start_line": 1, "end_line": 24, "components": {"exact": 1}},
        {"path": other, "start_line": 5, "end_line": 28, "components": {"exact": 2}},
    ]
    searches = cell.treatment != "H018"
    last = len(tokens) - 1
    for number, (prompt, completion) in enumerate(tokens):
        yield {"type": "request", "body": {"messages": []}}
        usage: Json = {"prompt_tokens": prompt, "completion_tokens": completion}
        yield {"type": "reply", "body": {"choices": [{"finish_reason": "tool_calls"}], "usage": usage}}
        call: dict[str, Json] = {
            "type": "call",
            "id": f"call{number + 1:05d}",
            "accepted": True,
            "text": "...",
        }
        if number == last:
            yield {**call, "tool": "finish", "kind": "finish"}
        elif number == last - 1:
            yield {**call, "tool": "apply_patch", "kind": "apply_patch", "patch": {"changed": [path]}}
        elif number == 0 and searches:
            yield {**call, "tool": "search", "kind": "search", "shown": shown}
        else:
            lines: Json = {"path": path, "start_line": 1, "end_line": 60}
            yield {**call, "tool": "read_file", "kind": "read_file", "read": lines}
    yield {"type": "end", "reason": "finished"}


def _metrics(
    label: str, resolved: bool, path: str, other: str, tokens: list[tuple[int, int]], patch_bytes: int
) -> Json:
    return {
        "schema_version": 1,
        "resolved_at_1": int(resolved),
        "status": "resolved" if resolved else "unresolved",
        "reason": "resolved" if resolved else "finished",
        "label": label,
        "end": "finished",
        "verdict": "all-required-passed" if resolved else "required-tests-failed",
        "verdict_detail": SIMULATED,
        "required_tests": 3,
        "required_tests_passed": 3 if resolved else 2,
        "model_calls": len(tokens),
        "tool_calls": len(tokens) - 1,
        "public_test_runs": 0,
        "prompt_tokens": sum(prompt for prompt, _ in tokens),
        "completion_tokens": sum(completion for _, completion in tokens),
        "calls_by_kind": {"apply_patch": 1, "finish": 1},
        "patch_bytes": patch_bytes,
        "files_shown": [path, other],
        "files_read": [path],
        "files_edited": [path],
    }


def _timing(number: int, sequence: int, calls: int, own: random.Random) -> Json:
    seconds = [round(own.uniform(2, 40), 3) for _ in range(calls)]
    intervals: list[Json] = [{"kind": "model", "seconds": value} for value in seconds]
    agent = sum(seconds)
    started = datetime.fromtimestamp(60 * sequence, UTC)
    return {
        "schema_version": 1,
        "attempt": number,
        "process": 1,
        "machine": SIMULATED,
        "started_utc": started.isoformat(timespec="seconds"),
        "phases_seconds": {"residency": 8.0, "agent": agent, "evaluation": 12.0, "total": agent + 20.0},
        "agent_seconds": agent,
        "agent_intervals": intervals,
        "test_runs": [],
        "transition": {},
        "exchanges": [],
    }
