"""One cell's life: residency, episode, reconstruction, evaluation, seal.

The cell is a function of its frozen inputs and the model's replies. What the world adds (clocks, process ids,
host names) goes to ``timing.json`` alone.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from repairlab.agents.clocks import AgentClock
from repairlab.agents.context import ContextBound
from repairlab.agents.loop import Episode, EpisodeResult, Rules
from repairlab.agents.prompts import first_messages, tool_schemas
from repairlab.agents.searching import LexicalFloor
from repairlab.agents.toolbox import Toolbox
from repairlab.contract.canonical import Json, digest_of
from repairlab.contract.outcome import Status
from repairlab.contract.study import Inputs
from repairlab.contract.treatments import Treatment
from repairlab.evaluation.evaluate import Evaluation, evaluate
from repairlab.evaluation.public import normalise, run_public_tests
from repairlab.evaluation.runs import TestRun
from repairlab.evaluation.sandbox.model import Sandbox
from repairlab.evaluation.sandbox.scratch import remove_tree
from repairlab.hosts.client import CHAT, LMStudioClient
from repairlab.hosts.facts import ModelFacts, Transition
from repairlab.hosts.residency import Residency
from repairlab.hosts.transport import Exchange
from repairlab.manifest.cell import Cell
from repairlab.repositories.workspace import Workspace
from repairlab.runner.campaign import CellResult
from repairlab.runner.metrics import metrics
from repairlab.runner.model import HostModel, Sampling
from repairlab.runner.preparing import Ready
from repairlab.runner.provenance import software
from repairlab.search.exact import ExactSearch
from repairlab.store.attempt import Attempt
from repairlab.store.transcript import read_transcript

_FAILURE_CHARACTERS = 4000


@dataclass(slots=True)
class Phases:
    """Seconds of each part of a cell, and the exchanges with the host that are no model replies."""

    now: Callable[[], float]
    seconds: dict[str, float] = field(default_factory=dict)
    test_runs: list[dict[str, Json]] = field(default_factory=list)
    exchanges: list[Json] = field(default_factory=list)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Add the time inside the block to the phase `name`."""
        begun = self.now()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + self.now() - begun

    def test_run(self, kind: str, run: TestRun) -> None:
        """Keep the clocks of one sandboxed run."""
        facts = run.facts
        self.test_runs.append(
            {
                "kind": kind,
                "setup_seconds": facts.seconds_setup,
                "run_seconds": facts.seconds_run,
                "teardown_seconds": facts.seconds_teardown,
            }
        )

    def exchange(self, exchange: Exchange) -> None:
        """Journal one request to the host; chat replies stand in the transcript."""
        if exchange.path == CHAT and not exchange.failure:
            self.exchanges.append(
                {"path": exchange.path, "status": exchange.status, "seconds": exchange.seconds}
            )
            return
        self.exchanges.append(
            {
                "method": exchange.method,
                "path": exchange.path,
                "request": exchange.request,
                "status": exchange.status,
                "reply": exchange.reply,
                "failure": exchange.failure,
                "seconds": exchange.seconds,
            }
        )


class PublicTests:
    """The tool ``run_tests`` of one cell."""

    def __init__(
        self, ready: Ready, workspace: Workspace, sandbox: Sandbox, inputs: Inputs, phases: Phases
    ) -> None:
        self._ready = ready
        self._workspace = workspace
        self._sandbox = sandbox
        self._inputs = inputs
        self._phases = phases

    def run(self) -> tuple[str, Json]:
        """Run the public allowlist on the workspace as it stands."""
        shared = self._inputs.shared
        result = run_public_tests(
            self._ready.task,
            self._ready.template.root,
            self._workspace.changes(),
            self._ready.runner,
            self._sandbox,
            shared.evaluation,
            shared.view.line_characters,
        )
        self._phases.test_run("public", result.run)
        outcomes = {name: outcome.value for name, outcome in sorted(result.run.outcomes.items())}
        return result.text, {"end": result.run.end.value, "outcomes": outcomes}


@dataclass(frozen=True, slots=True)
class CellRuntime:
    """What all cells of a campaign share. Calling it runs one attempt and seals it."""

    inputs: Inputs
    ready: Mapping[str, Ready]
    freeze: str
    """Digest of the freeze record."""
    client: LMStudioClient
    residency: Residency
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
        begun = self.now()
        started = datetime.now(UTC).isoformat(timespec="seconds")
        phases = Phases(self.now)
        ready = self.ready[cell.task]
        folder = self.scratch / f"{os.getpid()}-{cell.digest[:16]}-{attempt.number}"
        self.journal.append(phases.exchange)
        try:
            with phases.phase("residency"):
                transition = self._load(cell)
            with phases.phase("workspace"):
                workspace = self._workspace(ready, folder / "agent")
            clock = AgentClock(self.now)
            with phases.phase("agent"):
                episode = self._converse(cell, ready, workspace, transition, attempt, clock, phases)
            with phases.phase("residency"):
                self.residency.verify()
            with phases.phase("reconstruct"):
                patch = workspace.final_patch()
                fresh = Workspace.from_patch(
                    ready.template, folder / "final", self.inputs.shared.patch, ready.task.language, patch
                )
            with phases.phase("evaluation"):
                evaluation = evaluate(
                    ready.task,
                    ready.template.root,
                    fresh.changes(),
                    ready.material.hidden_files,
                    ready.runner,
                    self.sandbox,
                    self.inputs.shared.evaluation,
                )
            phases.test_run("hidden", evaluation.run)
            with phases.phase("seal"):
                self._write(cell, attempt, ready, transition, episode, patch, evaluation)
                phases.seconds["total"] = self.now() - begun
                attempt.write_json("timing.json", _timing(attempt, started, phases, clock, transition))
                attempt.seal()
        finally:
            self.journal.pop()
            if folder.exists():
                remove_tree(folder)
        status = Status.RESOLVED if evaluation.resolved_at_1 else Status.UNRESOLVED
        return CellResult(status.value, episode.reason.value, self.now() - begun)

    def _load(self, cell: Cell) -> Transition:
        model = self.inputs.models[cell.model]
        facts = ModelFacts.of(model, cell.identity.context_tokens)
        return self.residency.ensure(facts, fresh=self.inputs.shared.generation.fresh_load_for_each_cell)

    def _workspace(self, ready: Ready, folder: Path) -> Workspace:
        return Workspace(ready.template, folder, self.inputs.shared.patch, ready.task.language)

    def _converse(
        self,
        cell: Cell,
        ready: Ready,
        workspace: Workspace,
        transition: Transition,
        attempt: Attempt,
        clock: AgentClock,
        phases: Phases,
    ) -> EpisodeResult:
        inputs, treatment = self.inputs, self.inputs.treatments[cell.treatment]
        shared, model = inputs.shared, inputs.models[cell.model]
        temperature = inputs.experiment.temperature
        sampling = Sampling(
            temperature=float((model.temperature if temperature is None else temperature) or 0.0),
            top_p=float(model.top_p or 1.0),
            seed=cell.identity.seed,
            completion_tokens=shared.generation.completion_tokens,
        )
        schemas = tool_schemas(treatment, inputs.wording)
        rules = Rules(
            budgets=shared.budgets,
            interaction=shared.interaction,
            tools={name: inputs.wording.tools[name] for name in treatment.tools},
            tool_schemas=schemas,
            reminder=inputs.wording.prompts.reminder,
        )
        tests = PublicTests(ready, workspace, self.sandbox, inputs, phases)
        episode = Episode(
            rules,
            HostModel(self.client, transition.verified.instance_id, sampling, self.now, attempt.record),
            Toolbox(workspace, shared.view, tests, self._searcher(treatment, ready)),
            clock,
            ContextBound(shared.generation, cell.identity.context_tokens),
            attempt.record,
        )
        return episode.run(first_messages(ready.task, treatment, inputs.wording, shared.budgets))

    def _searcher(self, treatment: Treatment, ready: Ready) -> LexicalFloor | None:
        if ready.corpus is None or "search" not in treatment.tools:
            return None
        return LexicalFloor(ExactSearch(ready.corpus, self.inputs.shared.search, self.inputs.shared.view))

    def _write(
        self,
        cell: Cell,
        attempt: Attempt,
        ready: Ready,
        transition: Transition,
        episode: EpisodeResult,
        patch: bytes,
        evaluation: Evaluation,
    ) -> None:
        treatment = self.inputs.treatments[cell.treatment]
        run = evaluation.run.facts
        facts: dict[str, Json] = {
            "software": software(),
            "residency": {"level": transition.level, "verified": transition.verified.facts()},
            "sandbox": {"name": run.sandbox, "materialisation": run.materialisation},
            "environment": {"key": ready.environment_key, "versions": dict(run.versions)},
            "corpus": None if ready.corpus is None else ready.corpus.digest,
            "prompts": digest_of(self.inputs.wording.prompts.model_dump(mode="json")),
            "tool_schemas": digest_of(tool_schemas(treatment, self.inputs.wording)),
        }
        record: dict[str, Json] = {
            "schema_version": 1,
            "cell": cell.model_dump(mode="json"),
            "freeze": self.freeze,
            "facts": facts,
        }
        attempt.write_json("cell.json", record)
        attempt.write("patch.diff", patch)
        attempt.write_json("tests.json", _tests(evaluation))
        transcript = read_transcript(attempt.folder / "transcript.jsonl")
        attempt.write_json("metrics.json", metrics(episode, evaluation, patch, transcript, treatment.label))


def _tests(evaluation: Evaluation) -> Json:
    run = evaluation.run
    return {
        "schema_version": 1,
        "end": run.end.value,
        "problem": run.problem,
        "exit_code": run.facts.exit_code,
        "runs": evaluation.runs,
        "required": {name: outcome.value for name, outcome in evaluation.per_test.items()},
        "unreadable": {name: _cleaned(text, run) for name, text in run.unreadable.items()},
        "failures": {name: _cleaned(text, run) for name, text in run.failures.items()},
    }


def _cleaned(text: str, run: TestRun) -> str:
    """Text of the runner without what changes from run to run, its end kept: that says most."""
    readable = text.encode("utf-8", "replace").decode()
    return normalise(readable, run.facts.places)[-_FAILURE_CHARACTERS:]


def _timing(
    attempt: Attempt, started: str, phases: Phases, clock: AgentClock, transition: Transition
) -> Json:
    return {
        "schema_version": 1,
        "attempt": attempt.number,
        "process": os.getpid(),
        "machine": socket.gethostname(),
        "started_utc": started,
        "phases_seconds": dict(phases.seconds),
        "agent_seconds": clock.agent_seconds(),
        "agent_intervals": [{"kind": kind, "seconds": seconds} for kind, seconds in clock.intervals],
        "test_runs": list(phases.test_runs),
        "transition": transition.facts(),
        "exchanges": list(phases.exchanges),
    }
