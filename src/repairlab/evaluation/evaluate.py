"""Hidden evaluation of one repair: fresh base, production changes, hidden tests on top, one verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from repairlab.contract import controls
from repairlab.contract.errors import InfrastructureFailure, IntegrityViolation
from repairlab.contract.outcome import TestOutcome
from repairlab.contract.task import Task
from repairlab.evaluation.runs import Runner, TestRequest, TestRun
from repairlab.evaluation.sandbox.model import Sandbox, Tree
from repairlab.evaluation.verdict import Reason, Verdict, judge

Changes = Mapping[str, bytes | None]
"""Path relative to the root of the checkout to new content; None deletes."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The scored outcome of one repair."""

    resolved_at_1: Literal[0, 1]
    reason: Reason
    detail: str
    per_test: Mapping[str, TestOutcome]
    """Every required test, in the task's order."""
    run: TestRun
    """The run that the verdict rests on."""
    runs: int
    """How many were made: more than one when a run ended without a complete report."""


def evaluate(
    task: Task,
    template: Path,
    changes: Changes,
    hidden: Changes,
    runner: Runner,
    sandbox: Sandbox,
    rules: controls.Evaluation,
) -> Evaluation:
    """Score `changes` on `task`.

    `template` is a checkout of the base commit and is not written to. `changes` are the production files of
    the repair, already through the patch policy. `hidden` are the task's hidden test files, laid on last:
    they win over everything.

    Raises:
        InfrastructureFailure: see `sandbox.model.Sandbox` and `runs.Runner`; and kind
            ``evaluation-unstable`` when runs without a complete report keep ending in different ways.
        IntegrityViolation: `changes` hold a file that steers the runner, or leave the tree.
    """
    request = hidden_request(task, template, changes, hidden, runner)
    run, count = settle(request, runner, sandbox, rules.timeout_reproductions)
    verdict: Verdict = judge(task.required_tests, run)
    return Evaluation(
        resolved_at_1=1 if verdict.resolved else 0,
        reason=verdict.reason,
        detail=verdict.detail,
        per_test={name: run.outcomes.get(name, TestOutcome.NOT_RUN) for name in task.required_tests},
        run=run,
        runs=count,
    )


def hidden_request(
    task: Task, template: Path, changes: Changes, hidden: Changes, runner: Runner
) -> TestRequest:
    """The run that decides: exactly the required tests on base + `changes` + `hidden`.

    Raises:
        IntegrityViolation: `changes` hold a file that steers the runner, or `hidden` are other files
            than the task names.
    """
    steering = sorted(path for path in changes if path.rpartition("/")[2] in runner.steering_names)
    if steering:
        raise IntegrityViolation(f"a repair holds a file that steers the test runner: {steering[0]}")
    if set(hidden) != set(task.hidden_test_files):
        raise IntegrityViolation(f"task {task.id}: the hidden test files at hand are not those of the task")
    return TestRequest(
        tree=Tree(template, {**changes, **hidden}),
        select=task.required_tests,
        files=(),
        wall_seconds=task.limits.evaluation_seconds,
        memory_bytes=task.limits.memory_bytes,
        processes=task.limits.processes,
    )


def settle(request: TestRequest, runner: Runner, sandbox: Sandbox, reproductions: int) -> tuple[TestRun, int]:
    """A run that may be judged, and how many it took.

    A complete report is taken at once. An end without one (over a limit, died, broken evidence) counts only
    after `reproductions` runs ended in that same way, so that a busy machine costs time and no verdict.
    """
    ends: dict[str, int] = {}
    allowed = 2 * reproductions + 1
    for count in range(1, allowed + 1):
        run = runner.run(request, sandbox)
        ends[run.end] = ends.get(run.end, 0) + 1
        if run.complete or ends[run.end] >= reproductions:
            return run, count
    raise InfrastructureFailure(
        f"{allowed} runs of the same tests ended in different ways: {', '.join(sorted(ends))}",
        kind="evaluation-unstable",
    )
