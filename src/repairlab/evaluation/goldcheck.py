"""Is a task sound? The true fix must resolve it, the base must not, and both must say the same every time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from repairlab.contract.outcome import TestOutcome
from repairlab.contract.task import Task
from repairlab.evaluation.evaluate import Changes, hidden_request
from repairlab.evaluation.runs import RunEnd, Runner, TestRun
from repairlab.evaluation.sandbox.model import Sandbox
from repairlab.evaluation.verdict import judge


class FaultKind(StrEnum):
    """What can be wrong with a task."""

    BASE_RUN = "base-run-has-no-result"
    """The runner says nothing about the base: no complete report, or it did not get to the tests."""
    ALREADY_PASSES = "fail-to-pass-test-passes-at-the-base"
    BROKEN_AT_BASE = "pass-to-pass-test-does-not-pass-at-the-base"
    GOLD_NOT_RESOLVED = "the-true-fix-does-not-resolve-the-task"
    UNSTABLE = "repeated-runs-differ"


@dataclass(frozen=True, slots=True)
class Fault:
    """One reason against a task."""

    kind: FaultKind
    detail: str


@dataclass(frozen=True, slots=True)
class GoldCheck:
    """The result over all repetitions."""

    faults: tuple[Fault, ...]
    base_runs: tuple[TestRun, ...]
    gold_runs: tuple[TestRun, ...]

    @property
    def sound(self) -> bool:
        """Whether the task may be used."""
        return not self.faults

    @property
    def slowest_seconds(self) -> float:
        """The longest run: what the task's time limits are held against."""
        return max(run.facts.seconds_run for run in self.base_runs + self.gold_runs)


def gold_check(
    task: Task,
    template: Path,
    gold: Changes,
    hidden: Changes,
    runner: Runner,
    sandbox: Sandbox,
    repetitions: int,
) -> GoldCheck:
    """Run base + hidden and gold + hidden `repetitions` times each.

    Raises:
        InfrastructureFailure: the sandbox or the runner did not start.
        ValueError: no repetition is asked for.
    """
    if repetitions < 1:
        raise ValueError("a gold check needs at least one repetition")
    base_request = hidden_request(task, template, {}, hidden, runner)
    gold_request = hidden_request(task, template, gold, hidden, runner)
    base_runs = tuple(runner.run(base_request, sandbox) for _ in range(repetitions))
    gold_runs = tuple(runner.run(gold_request, sandbox) for _ in range(repetitions))
    return GoldCheck(find_faults(task, base_runs, gold_runs), base_runs, gold_runs)


def find_faults(task: Task, base_runs: Sequence[TestRun], gold_runs: Sequence[TestRun]) -> tuple[Fault, ...]:
    """Reasons against `task`, judged by the first run of each kind and by the agreement of the others."""
    faults = _base_faults(task, base_runs[0])
    verdict = judge(task.required_tests, gold_runs[0])
    if not verdict.resolved:
        faults.append(Fault(FaultKind.GOLD_NOT_RESOLVED, f"{verdict.reason}: {verdict.detail}"))
    for name, runs in (("base", base_runs), ("gold", gold_runs)):
        difference = _difference(runs)
        if difference:
            faults.append(Fault(FaultKind.UNSTABLE, f"{name}: {difference}"))
    return tuple(faults)


def _base_faults(task: Task, run: TestRun) -> list[Fault]:
    if not run.complete or run.end in {RunEnd.INTERNAL_ERROR, RunEnd.USAGE_ERROR, RunEnd.INTERRUPTED}:
        return [
            Fault(FaultKind.BASE_RUN, f"{run.end}: {run.problem or 'the runner did not get to the tests'}")
        ]
    passes = {name for name, outcome in run.outcomes.items() if outcome is TestOutcome.PASSED}
    faults = [Fault(FaultKind.ALREADY_PASSES, name) for name in task.fail_to_pass if name in passes]
    faults += [
        Fault(FaultKind.BROKEN_AT_BASE, f"{name} ({run.outcomes.get(name, TestOutcome.NOT_RUN)})")
        for name in task.pass_to_pass
        if name not in passes
    ]
    return faults


def _difference(runs: Sequence[TestRun]) -> str:
    first = runs[0]
    for number, run in enumerate(runs[1:], start=2):
        if run.end != first.end:
            return f"run 1 ended {first.end}, run {number} {run.end}"
        for name in sorted(set(first.outcomes) | set(run.outcomes)):
            if first.outcomes.get(name) != run.outcomes.get(name):
                return (
                    f"{name}: {first.outcomes.get(name)} in run 1, {run.outcomes.get(name)} in run {number}"
                )
    return ""
