"""One cell's life: residency, episode, reconstruction, evaluation, seal.

The cell is a function of its frozen inputs and the model's replies. What the world adds (clocks, process ids,
host names) goes to ``timing.json`` alone.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from repairlab.agents.prompts import tool_schemas
from repairlab.contract.canonical import Json, digest_of
from repairlab.contract.outcome import Status
from repairlab.contract.study import Inputs
from repairlab.evaluation.evaluate import Evaluation, evaluate
from repairlab.evaluation.sandbox.model import Sandbox
from repairlab.evaluation.sandbox.scratch import remove_tree
from repairlab.hosts.client import LMStudioClient
from repairlab.hosts.facts import ModelFacts, Transition
from repairlab.hosts.failures import FailureRules
from repairlab.hosts.provenance import HostProvenance
from repairlab.hosts.residency import Residency
from repairlab.hosts.transport import Exchange
from repairlab.manifest.cell import Cell
from repairlab.repositories.workspace import Workspace
from repairlab.runner.campaign import CellResult
from repairlab.runner.embedding import QueryEmbedder, WrittenQueries, embedding_facts
from repairlab.runner.episode import SandboxedPublicTests, converse, new_workspace, sampling
from repairlab.runner.indexes import used_digests
from repairlab.runner.metrics import Scored, metrics, test_results
from repairlab.runner.model import HostModel
from repairlab.runner.phases import Phases
from repairlab.runner.preparing import Ready
from repairlab.runner.provenance import software
from repairlab.runner.residence import CellClock, Residence
from repairlab.store.attempt import Attempt
from repairlab.store.transcript import read_transcript


@dataclass(frozen=True, slots=True)
class CellRuntime:
    """What all cells of a campaign share. Calling it runs one attempt and seals it."""

    inputs: Inputs
    ready: Mapping[str, Ready]
    freeze: str
    """Digest of the freeze record."""
    client: LMStudioClient
    residency: Residency
    rules: FailureRules
    provenance: HostProvenance
    """What the host is; held equal at the end of the campaign."""
    sandbox: Sandbox
    scratch: Path
    journal: list[Callable[[Exchange], None]]
    """The client tells every exchange to the last entry."""
    now: Callable[[], float]

    def __call__(self, cell: Cell, attempt: Attempt) -> CellResult:
        """Run `cell` once.

        Raises:
            InfrastructureFailure: no outcome; the attempt stays where it is.
        """
        folder = self.scratch / f"{os.getpid()}-{cell.digest[:16]}-{attempt.number}"
        phases = Phases(self.now)
        self.journal.append(phases.exchange)
        try:
            return self._run(cell, attempt, folder, phases)
        finally:
            self.journal.pop()
            if folder.exists():
                remove_tree(folder)

    def _run(self, cell: Cell, attempt: Attempt, folder: Path, phases: Phases) -> CellResult:
        begun, started = self.now(), datetime.now(UTC).isoformat(timespec="seconds")
        ready = self.ready[cell.task]
        with phases.phase("residency"):
            transition = self._load(cell)
        with phases.phase("workspace"):
            workspace = new_workspace(self.inputs, ready, folder / "agent")
        clock = CellClock(self.now)
        residence = self._residence(cell, transition, clock, attempt, phases)
        queries = self._queries(cell, residence, attempt)
        chosen = sampling(self.inputs, cell)
        model = HostModel(
            self.client,
            self.rules,
            transition.verified,
            chosen,
            self.now,
            attempt.record,
            residence,
        )
        tests = SandboxedPublicTests(self.inputs, ready, workspace, self.sandbox, phases.test_run)
        phases.conversing = True
        with phases.phase("agent"):
            episode = converse(
                self.inputs, ready, cell, workspace, model, tests, clock, attempt.record, queries
            )
        phases.conversing = False
        with phases.phase("residency"):
            self.residency.verify()
        with phases.phase("reconstruct"):
            patch = workspace.final_patch()
        with phases.phase("evaluation"):
            evaluation = score(self.inputs, ready, patch, folder / "final", self.sandbox)
        phases.test_run("hidden", evaluation.run)
        records = read_transcript(attempt.folder / "transcript.jsonl")
        label = self.inputs.treatments[cell.treatment].label
        attempt.write("patch.diff", patch)
        attempt.write_json("tests.json", test_results(evaluation))
        attempt.write_json("metrics.json", metrics(episode, Scored.of(evaluation), patch, records, label))
        attempt.write_json("cell.json", self._record(cell, ready, transition, evaluation))
        phases.seconds["agent"] -= clock.residency_seconds
        phases.seconds["residency"] += clock.residency_seconds
        phases.seconds["total"] = self.now() - begun
        timing = _timing(attempt, started, phases, clock, transition, residence)
        attempt.write_json("timing.json", timing)
        attempt.seal()
        status = Status.RESOLVED if evaluation.resolved_at_1 else Status.UNRESOLVED
        return CellResult(status.value, episode.reason.value, self.now() - begun)

    def _agent(self, cell: Cell) -> ModelFacts:
        return ModelFacts.of(self.inputs.models[cell.model], cell.identity.context_tokens)

    def _residence(
        self, cell: Cell, transition: Transition, clock: CellClock, attempt: Attempt, phases: Phases
    ) -> Residence:
        shared, model = self.inputs.shared, self.inputs.embedder
        embeds = self.inputs.treatments[cell.treatment].embeds
        return Residence(
            self.residency,
            self._agent(cell),
            transition.verified,
            embedding_facts(model, shared) if model and embeds else None,
            clock,
            self.rules,
            attempt.record,
            partial(_aside, phases),
        )

    def _queries(self, cell: Cell, residence: Residence, attempt: Attempt) -> WrittenQueries | None:
        """The cell's own query vectors: no cell knows another one's."""
        model = self.inputs.embedder
        if model is None or not self.inputs.treatments[cell.treatment].embeds:
            return None
        shared = self.inputs.shared
        embedder = QueryEmbedder(residence, self.client, model, shared, self.rules, attempt.record)
        return WrittenQueries(embedder, shared, attempt.record)

    def _load(self, cell: Cell) -> Transition:
        facts = self._agent(cell)
        return self.residency.ensure(facts, fresh=self.inputs.shared.generation.fresh_load_for_each_cell)

    def _record(self, cell: Cell, ready: Ready, transition: Transition, evaluation: Evaluation) -> Json:
        run = evaluation.run.facts
        facts: Json = {
            "software": software(),
            "host": self.provenance.facts(),
            "residency": {"level": transition.level, "verified": transition.verified.facts()},
            "sandbox": {"name": run.sandbox, "materialisation": run.materialisation},
            "environment": {"key": ready.environment_key, "versions": dict(run.versions)},
            **computed_facts(self.inputs, cell, ready),
        }
        return {
            "schema_version": 1,
            "cell": cell.model_dump(mode="json"),
            "freeze": self.freeze,
            "facts": facts,
        }


@contextmanager
def _aside(phases: Phases) -> Iterator[None]:
    """Chats inside the block are not the agent's: they are journalled whole."""
    before, phases.conversing = phases.conversing, False
    try:
        yield
    finally:
        phases.conversing = before


def computed_facts(inputs: Inputs, cell: Cell, ready: Ready) -> dict[str, Json]:
    """Those facts of a cell that a replay computes again: digests of its indexes, prompts and tools."""
    treatment = inputs.treatments[cell.treatment]
    return {
        "indexes": used_digests(ready.indexes, treatment),
        "prompts": digest_of(inputs.wording.prompts.model_dump(mode="json")),
        "tool_schemas": digest_of(tool_schemas(treatment, inputs.wording)),
    }


def score(inputs: Inputs, ready: Ready, patch: bytes, folder: Path, sandbox: Sandbox) -> Evaluation:
    """Evaluate a reconstructed patch on a fresh checkout of the base, with the hidden tests laid on."""
    fresh = Workspace.from_patch(ready.template, folder, inputs.shared.patch, ready.task.language, patch)
    return evaluate(
        ready.task,
        ready.template.root,
        fresh.changes(),
        ready.material.hidden_files,
        ready.runner,
        sandbox,
        inputs.shared.evaluation,
    )


def _timing(
    attempt: Attempt,
    started: str,
    phases: Phases,
    clock: CellClock,
    transition: Transition,
    residence: Residence,
) -> Json:
    return {
        "schema_version": 1,
        "attempt": attempt.number,
        "process": os.getpid(),
        "machine": socket.gethostname(),
        "started_utc": started,
        "phases_seconds": dict(phases.seconds),
        "agent_seconds": clock.agent.agent_seconds(),
        "agent_intervals": [{"kind": kind, "seconds": seconds} for kind, seconds in clock.agent.intervals],
        "test_runs": list(phases.test_runs),
        "transition": transition.facts(),
        "swaps": [swap.facts() for swap in residence.swaps],
        "exchanges": list(phases.exchanges),
    }
