"""Audit: run a sealed cell again from its recorded replies, without a host, and hold everything against it.

Requests, tool results, the reconstructed patch, the metrics and the verdict must come out equal, byte for
byte. What differs first is named. A verdict that differs while the patch is the same is a flake of the
evaluation, and is called that.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from repairlab.agents.clocks import RecordedClock
from repairlab.agents.loop import CONTEXT_OVERFLOW
from repairlab.contract.canonical import Json
from repairlab.contract.controls import Dense
from repairlab.contract.errors import BadInput, InfrastructureFailure, IntegrityViolation
from repairlab.contract.study import Inputs
from repairlab.evaluation.sandbox.model import Sandbox
from repairlab.evaluation.sandbox.scratch import remove_tree
from repairlab.hosts.chat import ChatOutcome, DeadlineReached, UnparsableCall
from repairlab.hosts.completion import read_completion
from repairlab.manifest.cell import Cell
from repairlab.repositories.workspace import Workspace
from repairlab.runner.audited import Audited
from repairlab.runner.cell import computed_facts, score
from repairlab.runner.embedding import vector_record
from repairlab.runner.episode import SandboxedPublicTests, converse, new_workspace, sampling
from repairlab.runner.metrics import Scored, metrics, test_results
from repairlab.runner.model import Sampling, chat_request
from repairlab.runner.preparing import Ready
from repairlab.search.vectors import QueryVector, QueryVectors, decode_vector, query_form
from repairlab.store.attempt import json_text
from repairlab.store.sealed import read_sealed
from repairlab.store.transcript import read_transcript


class Difference(Exception):
    """The first difference between a sealed cell and its replay: a result of the audit, no failure of it."""

    def __init__(self, where: str, recorded: str, replayed: str) -> None:
        super().__init__(f"{where}: recorded {_short(recorded)}, replayed {_short(replayed)}")


class Tape:
    """The transcript of a sealed cell, read forward; each record of the replay is held against the next."""

    def __init__(self, path: Path) -> None:
        with path.open(encoding="utf-8") as lines:
            self._records: list[dict[str, Any]] = [json.loads(line) for line in lines]
        self._next = 0

    def record(self, entry: dict[str, Json]) -> None:
        """Hold what the replay writes against what was written.

        Raises:
            Difference: it is another record.
        """
        found = {"n": self._next, **entry}
        expected = self._records[self._next] if self._next < len(self._records) else {}
        if _text(found) != _text(expected):
            raise Difference(f"transcript record {self._next}", *_first_difference(expected, found))
        self._next += 1

    def upcoming(self) -> dict[str, Any]:
        """The next record, without taking it."""
        return self._records[self._next] if self._next < len(self._records) else {}

    def skip_retries(self) -> dict[str, Any]:
        """The next record after replies that were set aside: the same request was sent again after each."""
        while self.upcoming().get("type") == "retry":
            self._next += 1
        return self.upcoming()

    def finish(self) -> None:
        """Hold the end of the replay against the end of the record."""
        if self._next != len(self._records):
            raise Difference("transcript", f"{len(self._records)} records", f"{self._next} records")


@dataclass(slots=True)
class RecordedResidence:
    """Who was resident, from the record: each change must stand where the replay needs it."""

    tape: Tape
    keys: Mapping[str, str]
    """Role to the pinned key of its model."""
    instance: str
    """Of the agent, as the host called it last."""
    role: str = "agent"

    def become(self, role: str) -> None:
        """The change to `role`, unless it is resident already.

        Raises:
            Difference: no such change is recorded here, or another model was loaded.
        """
        if self.role == role:
            return
        entry = self.tape.upcoming()
        verified = entry.get("verified", {})
        if verified.get("key") != self.keys[role]:
            raise Difference("transcript", str(verified.get("key")), self.keys[role])
        self.tape.record(
            {"type": "transition", "to": role, "level": entry.get("level"), "verified": verified}
        )
        self.role = role
        if role == "agent":
            self.instance = str(verified.get("instance_id"))


class RecordedQueries(QueryVectors):
    """Query vectors from the record, each used once where it was embedded."""

    __slots__ = ("_dense", "_residence", "_tape", "_vectors")

    def __init__(self, tape: Tape, residence: RecordedResidence, dense: Dense) -> None:
        self._tape = tape
        self._residence = residence
        self._dense = dense
        self._vectors: dict[str, QueryVector] = {}

    def of(self, query: str) -> QueryVector:
        """The recorded vector of `query`.

        Raises:
            Difference: another query, or none, was embedded here.
        """
        if query not in self._vectors:
            self._residence.become("embedder")
            entry = self._tape.skip_retries()
            if entry.get("type") != "query-vector":
                raise Difference("transcript", str(entry.get("type")), "query-vector")
            text = query_form(self._dense.query_instruction, query)
            found = QueryVector(query, text, decode_vector(entry["vector"]))
            self._tape.record(vector_record(found))
            self._vectors[query] = found
        return self._vectors[query]


@dataclass(frozen=True, slots=True)
class RecordedModel:
    """Answers each request with the reply that was recorded for it; the request must be the same too."""

    tape: Tape
    residence: RecordedResidence
    sampling: Sampling

    def ask(self, messages: list[Json], tools: list[Json], seconds_left: float) -> ChatOutcome:
        """The recorded outcome of the same request."""
        del seconds_left  # what the clock did to a reply is part of the record
        self.residence.become("agent")
        request = chat_request(self.residence.instance, messages, tools, self.sampling)
        self.tape.record({"type": "request", "body": request.body()})
        entry = self.tape.skip_retries()
        kind = entry.get("type")
        if kind == "overflow":
            self.tape.record({"type": "overflow", "message": entry["message"]})
            raise InfrastructureFailure(str(entry["message"]), kind=CONTEXT_OVERFLOW)
        if kind == "reply":
            self.tape.record({"type": "reply", "body": entry["body"]})
            return read_completion(entry["body"])
        if kind == "deadline":
            self.tape.record({"type": "deadline", "partial": entry["partial"]})
            return DeadlineReached(entry["partial"])
        if kind == "unparsable-call":
            self.tape.record({"type": kind, "message": entry["message"], "body": entry["body"]})
            return UnparsableCall(entry["message"], entry["body"])
        raise Difference("transcript", str(kind), "a request")


@dataclass(frozen=True, slots=True)
class RecordedTests:
    """Public test runs from the record: for a replay without a sandbox."""

    tape: Tape

    def run(self) -> tuple[str, Json]:
        """Text and outcomes of the recorded run."""
        entry = self.tape.upcoming()
        if entry.get("type") == "validation":
            return "", entry["test_run"]
        if entry.get("tool") != "run_tests" or "test_run" not in entry:
            raise Difference("transcript", str(entry.get("tool")), "run_tests")
        return entry["text"], entry["test_run"]


@dataclass(frozen=True, slots=True)
class Auditor:
    """Replays sealed cells of one experiment."""

    inputs: Inputs
    ready: Mapping[str, Ready]
    sandbox: Sandbox
    scratch: Path
    run_tests: bool
    """False takes test results and verdict from the record."""

    def audit(self, folder: Path, planned: Cell) -> Audited:
        """Replay one sealed cell. A seal or a record that does not hold is a difference too."""
        scratch = self.scratch / f"audit-{os.getpid()}-{planned.digest[:16]}"
        difference = trouble = ""
        try:
            self._replay(folder, planned, scratch)
        except (Difference, IntegrityViolation, BadInput) as found:
            difference = str(found)
        except InfrastructureFailure as failure:
            trouble = f"{failure.kind}: {failure.message}"
        finally:
            if scratch.exists():
                remove_tree(scratch)
        return Audited(folder.name, difference, self.run_tests, trouble)

    def _replay(self, folder: Path, cell: Cell, scratch: Path) -> None:
        sealed, ready = read_sealed(folder), self.ready[cell.task]
        if sealed.record.cell != cell:
            raise Difference("cell.json", sealed.record.cell.digest, cell.digest)
        tape = Tape(folder / "transcript.jsonl")
        workspace = new_workspace(self.inputs, ready, scratch / "agent")
        for name, found in computed_facts(self.inputs, cell, ready).items():
            recorded = sealed.record.facts.get(name)
            if _text(recorded) != _text(found):
                raise Difference(f"cell.json {name}", *_first_difference(recorded, found))
        residence = self._residence(cell, tape, sealed.record.facts)
        model = RecordedModel(tape, residence, sampling(self.inputs, cell))
        embeds = self.inputs.treatments[cell.treatment].embeds
        queries = RecordedQueries(tape, residence, self.inputs.shared.dense) if embeds else None
        clock = RecordedClock([(one.kind, one.seconds) for one in sealed.timing.agent_intervals])
        tests = self._tests(ready, workspace, tape)
        episode = converse(self.inputs, ready, cell, workspace, model, tests, clock, tape.record, queries)
        tape.finish()
        patch = workspace.final_patch()
        _equal("patch.diff", folder, patch)
        if self.run_tests:
            evaluation = score(self.inputs, ready, patch, scratch / "final", self.sandbox)
            _equal("tests.json", folder, json_text(test_results(evaluation)), note=" (the evaluation flakes)")
            scored = Scored.of(evaluation)
        else:
            scored = Scored.recorded(sealed)
        label = self.inputs.treatments[cell.treatment].label
        records = read_transcript(folder / "transcript.jsonl")
        _equal("metrics.json", folder, json_text(metrics(episode, scored, patch, records, label)))

    def _residence(self, cell: Cell, tape: Tape, facts: Mapping[str, Any]) -> RecordedResidence:
        keys = {"agent": self.inputs.models[cell.model].facts.key}
        if self.inputs.embedder is not None:
            keys["embedder"] = self.inputs.embedder.facts.key
        return RecordedResidence(tape, keys, str(_at(facts, "residency", "verified", "instance_id")))

    def _tests(self, ready: Ready, workspace: Workspace, tape: Tape) -> SandboxedPublicTests | RecordedTests:
        if self.run_tests:
            return SandboxedPublicTests(self.inputs, ready, workspace, self.sandbox, lambda _kind, _run: None)
        return RecordedTests(tape)


def _equal(name: str, folder: Path, replayed: bytes, note: str = "") -> None:
    recorded = (folder / name).read_bytes()
    if recorded == replayed:
        return
    before, after = recorded.split(b"\n"), replayed.split(b"\n")
    common = next((i for i, (was, now) in enumerate(zip(before, after, strict=False)) if was != now), -1)
    line = common if common >= 0 else min(len(before), len(after))
    was, now = (lines[line] if line < len(lines) else b"(end)" for lines in (before, after))
    where = f"{name}:{line + 1}{note}"
    raise Difference(where, was.decode("utf-8", "replace"), now.decode("utf-8", "replace"))


def _first_difference(expected: object, found: object, where: str = "") -> tuple[str, str]:
    if isinstance(expected, dict) and isinstance(found, dict):
        for key in sorted(expected.keys() | found.keys()):
            if _text(expected.get(key)) != _text(found.get(key)):
                return _first_difference(expected.get(key), found.get(key), f"{where}.{key}")
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        for index, (was, now) in enumerate(zip(expected, found, strict=True)):
            if _text(was) != _text(now):
                return _first_difference(was, now, f"{where}[{index}]")
    return f"{where} {_text(expected)}", f"{where} {_text(found)}"


def _text(value: object) -> str:
    return json.dumps(value, sort_keys=True)


def _short(text: str, limit: int = 300) -> str:
    return text if len(text) <= limit else f"{text[:limit]}..."


def _at(facts: Mapping[str, Any], *path: str) -> object:
    value: Any = facts
    for name in path:
        value = value[name]
    return value
