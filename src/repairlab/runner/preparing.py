"""Making what cells need, task by task. Every step can be killed and taken up again."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from repairlab.contract.canonical import Json, digest_of
from repairlab.contract.errors import IntegrityViolation, RefuseToStart
from repairlab.contract.study import Inputs
from repairlab.contract.task import Task
from repairlab.evaluation.environments import PythonEnvironments
from repairlab.evaluation.golang.environments import GoEnvironments
from repairlab.evaluation.golang.setup import go_setup
from repairlab.evaluation.goldcheck import GoldCheck, gold_check
from repairlab.evaluation.pytest_runner import PytestRunner
from repairlab.evaluation.runs import Runner
from repairlab.evaluation.sandbox.model import Sandbox
from repairlab.evaluation.sandbox.scratch import remove_tree
from repairlab.evaluation.unittest_runner import UnittestRunner
from repairlab.repositories.templates import Template, verify
from repairlab.repositories.workspace import Workspace
from repairlab.runner.events import StepDone, Watch
from repairlab.runner.indexes import EmbedDocuments, Indexes, open_indexes, with_vectors
from repairlab.runner.workplace import Workplace
from repairlab.search.toolset import SearchPlaces
from repairlab.tasks.knowledge import knowledge
from repairlab.tasks.material import Material, derive

GOLD_REPETITIONS = 2


@dataclass(frozen=True, slots=True)
class Ready:
    """One task with everything that its cells need."""

    task: Task
    template: Template
    material: Material
    gold_changes: Mapping[str, bytes | None]
    indexes: Indexes | None
    """``None`` where no treatment of the experiment searches."""
    runner: Runner
    environment_key: str


@dataclass(frozen=True, slots=True)
class Preparation:
    """Prepares the tasks of one experiment on this machine."""

    inputs: Inputs
    workplace: Workplace
    environments: PythonEnvironments
    toolchains: GoEnvironments
    sandbox: Sandbox
    code: str
    """The research-code revision: a gold check of other code is made again."""
    watch: Watch
    embed: EmbedDocuments | None = None
    """Embeds chunks that have no vector yet; ``None`` where there is no host to ask."""

    def run(self) -> dict[str, Ready]:
        """Prepare every task.

        Raises:
            RefuseToStart: a task's material is not what was frozen, or its gold check fails.
            InfrastructureFailure: a source, a registry or the sandbox cannot be reached.
        """
        ready: dict[str, Ready] = {}
        names = sorted(self.inputs.tasks)
        for number, name in enumerate(names):
            for step, result in self._steps(self.inputs.tasks[name]):
                self.watch(StepDone(f"{name}: {step}", number, len(names)))
                if result is not None:
                    self._hold_gold_check(result)
                    ready[name] = result
        self._write_knowledge(ready)
        ready = self._with_vectors(ready)
        self.watch(StepDone("ready", len(names), len(names)))
        return ready

    def environment_keys(self) -> dict[str, str]:
        """Key of each task's test environment; those that are not there yet are made.

        Raises:
            InfrastructureFailure: a source, a registry or the sandbox cannot be reached.
        """
        return {name: self._environment_key(task) for name, task in sorted(self.inputs.tasks.items())}

    def _environment_key(self, task: Task) -> str:
        mirror = self.workplace.mirrors.ensure(task.repository, [task.base, task.fix])
        return self._runner(task, self.workplace.templates.ensure(mirror, task.base))[1]

    def reopen(self, name: str) -> Ready:
        """One task for a replay: what is prepared already is opened and verified, what is missing is made.

        No gold check is held: a replay makes no verdict of its own, it compares one with the record.

        Raises:
            RefuseToStart: a vector is missing; else see `run`.
        """
        found = next(ready for _, ready in self._steps(self.inputs.tasks[name]) if ready is not None)
        return self._with_vectors({name: found})[name]

    def _steps(self, task: Task) -> Iterator[tuple[str, Ready | None]]:
        yield "mirror", None
        mirror = self.workplace.mirrors.ensure(task.repository, [task.base, task.fix])
        yield "checkout of the base", None
        template = self.workplace.templates.ensure(mirror, task.base)
        verify(template)
        material = derive(task, mirror)
        yield "test environment", None
        runner, key = self._runner(task, template)
        yield "search indexes", None
        indexes = open_indexes(self.inputs, task, mirror, SearchPlaces(self.workplace.search))
        ready = Ready(
            task=task,
            template=template,
            material=material,
            gold_changes=self._changes_of(task, template, material.gold_patch),
            indexes=indexes,
            runner=runner,
            environment_key=key,
        )
        yield "gold check", ready

    def _runner(self, task: Task, template: Template) -> tuple[Runner, str]:
        """The runner of the task's language in its verified environment, and that environment's key."""
        rules = self.inputs.shared.evaluation
        if task.language == "go":
            go = go_setup(task, template.root, self.toolchains, self.sandbox, rules)
            return go, go.environment.key
        installed = self.environments.ensure(task.environment)
        self.environments.verify(installed)
        facts = task.environment
        if facts.framework == "pytest":
            return PytestRunner(installed, facts, rules, facts.plugins), installed.key
        return UnittestRunner(installed, facts, rules, facts.django_settings), installed.key

    def _with_vectors(self, ready: Mapping[str, Ready]) -> dict[str, Ready]:
        """Each task with its vectors; all that are missing are embedded together, under one residency."""
        found = {name: one.indexes for name, one in ready.items() if one.indexes is not None}
        places = SearchPlaces(self.workplace.search)
        indexes = with_vectors(self.inputs, found, places, self.embed)
        return {name: replace(one, indexes=indexes.get(name)) for name, one in ready.items()}

    def _changes_of(self, task: Task, template: Template, patch: bytes) -> Mapping[str, bytes | None]:
        """What the gold patch makes of the base, through the same policy as a model's patch."""
        folder = self.workplace.scratch / f"gold-{os.getpid()}-{task.id}"
        try:
            workspace = Workspace.from_patch(template, folder, self.inputs.shared.patch, task.language, patch)
            return workspace.changes()
        except IntegrityViolation as error:
            raise RefuseToStart(
                f"task {task.id}: its gold patch breaks the patch policy: {error.message}",
                repair="a task whose own fix is not allowed cannot be used",
            ) from error
        finally:
            remove_tree(folder)

    def _hold_gold_check(self, ready: Ready) -> None:
        """Gold-check once for each task, environment, sandbox and code; refuse a task that fails."""
        key = digest_of(
            {
                "task": ready.task.digest(),
                "environment": ready.environment_key,
                "sandbox": self.sandbox.name,
                "code": self.code,
                "repetitions": GOLD_REPETITIONS,
            }
        )
        path = self.workplace.checks / f"{key}.json"
        if path.is_file():
            return
        check = gold_check(
            ready.task,
            ready.template.root,
            ready.gold_changes,
            ready.material.hidden_files,
            ready.runner,
            self.sandbox,
            GOLD_REPETITIONS,
        )
        if not check.sound:
            faults = "\n  ".join(f"{fault.kind}: {fault.detail}" for fault in check.faults)
            raise RefuseToStart(
                f"task {ready.task.id} fails its gold check:\n  {faults}",
                repair="the task is unsound in this environment; nothing may be scored on it",
            )
        _write_atomically(path, json.dumps(_check_facts(ready.task, check), indent=1).encode())

    def _write_knowledge(self, ready: Mapping[str, Ready]) -> None:
        material = {name: one.material for name, one in ready.items()}
        path = self.workplace.knowledge_file(self.inputs.experiment.name)
        _write_atomically(path, knowledge(material, self.inputs.tasks))


def _check_facts(task: Task, check: GoldCheck) -> Json:
    return {
        "task": task.id,
        "sound": check.sound,
        "runs": len(check.base_runs) + len(check.gold_runs),
        "slowest_seconds": round(check.slowest_seconds, 3),
    }


def _write_atomically(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_suffix(".new")
    scratch.write_bytes(data)
    scratch.replace(path)
