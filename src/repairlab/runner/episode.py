"""The episode of a cell from its frozen inputs: the same for a run at a host and for a replay."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from repairlab.agents.clocks import Clock
from repairlab.agents.context import ContextBound
from repairlab.agents.loop import Episode, EpisodeResult, Model, Record, Rules
from repairlab.agents.prompts import first_messages, tool_schemas
from repairlab.agents.staged.episode import StagedEpisode, StagedRules
from repairlab.agents.syntax import SyntaxCheck
from repairlab.agents.toolbox import PublicTests, Toolbox
from repairlab.contract.canonical import Json
from repairlab.contract.errors import RefuseToStart
from repairlab.contract.study import Inputs
from repairlab.evaluation.public import run_public_tests
from repairlab.evaluation.runs import TestRun
from repairlab.evaluation.sandbox.model import Sandbox
from repairlab.manifest.cell import Cell
from repairlab.repositories.workspace import Workspace
from repairlab.runner.model import Sampling
from repairlab.runner.preparing import Ready
from repairlab.runner.searching import SEARCH_TOOLS, search_tools
from repairlab.runner.stages import stage_requests, staged_repository
from repairlab.search.vectors import QueryVectors

TOOLS_WITH_AN_IMPLEMENTATION = SEARCH_TOOLS | {"read_file", "apply_patch", "run_tests", "finish"}


def refuse_unbuilt(inputs: Inputs) -> None:
    """Refuse an experiment with a treatment that this version cannot run.

    Raises:
        RefuseToStart: naming treatment and reason.
    """
    for name, treatment in inputs.treatments.items():
        unknown = sorted(set(treatment.tools) - TOOLS_WITH_AN_IMPLEMENTATION)
        if unknown:
            raise RefuseToStart(f"treatment {name}: the tool {unknown[0]} is not built in this version")


def new_workspace(inputs: Inputs, ready: Ready, folder: Path) -> Workspace:
    """A fresh workspace at the task's base."""
    return Workspace(ready.template, folder, inputs.shared.patch, ready.task.language)


def sampling(inputs: Inputs, cell: Cell) -> Sampling:
    """What every request of the cell says about sampling."""
    model = inputs.models[cell.model]
    own = inputs.experiment.temperature
    return Sampling(
        temperature=float((model.temperature if own is None else own) or 0.0),
        top_p=float(model.top_p or 1.0),
        seed=cell.identity.seed,
        completion_tokens=inputs.shared.generation.completion_tokens,
    )


def converse(
    inputs: Inputs,
    ready: Ready,
    cell: Cell,
    workspace: Workspace,
    model: Model,
    tests: PublicTests,
    clock: Clock,
    record: Record,
    queries: QueryVectors | None,
) -> EpisodeResult:
    """Run the episode of `cell` on `workspace`; every request, reply and result goes to `record`.

    `queries` gives the vectors of queries; ``None`` where the treatment embeds nothing.
    """
    treatment, shared = inputs.treatments[cell.treatment], inputs.shared
    bound = ContextBound(shared.generation, cell.identity.context_tokens)
    if treatment.kind == "staged":
        stages = StagedEpisode(
            StagedRules(shared.budgets, shared.staged, shared.patch),
            stage_requests(inputs, ready.task, bound),
            staged_repository(inputs, ready.task, ready.indexes),
            workspace,
            tests,
            model,
            clock,
            record,
        )
        return stages.run()
    rules = Rules(
        budgets=shared.budgets,
        interaction=shared.interaction,
        tools=inputs.wording.offered(treatment.tools),
        tool_schemas=tool_schemas(treatment, inputs.wording),
        reminder=inputs.wording.prompts.interactive.reminder,
    )
    searches = search_tools(shared, treatment, inputs.wording, ready.indexes, queries)
    syntax = SyntaxCheck(ready.task.language) if treatment.syntax_check else None
    toolbox = Toolbox(workspace, shared.view, tests, searches, syntax)
    episode = Episode(rules, model, toolbox, clock, bound, record)
    return episode.run(first_messages(ready.task, treatment, inputs.wording, shared.budgets))


@dataclass(frozen=True, slots=True)
class SandboxedPublicTests:
    """The tool ``run_tests`` of one cell."""

    inputs: Inputs
    ready: Ready
    workspace: Workspace
    sandbox: Sandbox
    watch: Callable[[str, TestRun], None]
    """Told of each run, for the clocks."""

    def run(self) -> tuple[str, Json]:
        """Run the public allowlist on the workspace as it stands."""
        shared = self.inputs.shared
        result = run_public_tests(
            self.ready.task,
            self.ready.template.root,
            self.workspace.changes(),
            self.ready.runner,
            self.sandbox,
            shared.evaluation,
            shared.view.line_characters,
        )
        self.watch("public", result.run)
        outcomes = {name: outcome.value for name, outcome in sorted(result.run.outcomes.items())}
        return result.text, {"end": result.run.end.value, "outcomes": outcomes}
