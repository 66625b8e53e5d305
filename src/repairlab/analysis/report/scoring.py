"""T11: secondary scores of patches by arm and model, beside what a patch that changes nothing gets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from repairlab.analysis.confirmatory import labels
from repairlab.analysis.frames import Frames
from repairlab.analysis.gate import Gated
from repairlab.analysis.outcomes import Key
from repairlab.analysis.report.layout import Column, Table, Value, percent, ratio
from repairlab.analysis.statistics import macro_mean, no_regression

ALL = "all"


class Passed(NamedTuple):
    """Required hidden tests of one cell. Those that passed before the patch are its pass-to-pass tests."""

    after: int
    """Of all required tests, those that pass with the patch."""
    required: int
    before_and_after: int
    before: int

    @property
    def test_pass_rate(self) -> float:
        return self.after / self.required

    @property
    def no_regression(self) -> float | None:
        return no_regression(self.before_and_after, self.before)

    @property
    def unpatched(self) -> float:
        """Test pass rate of the empty patch."""
        return self.before / self.required


_COLUMNS = (
    Column("arm", "arm"),
    Column("model", "model"),
    Column("cells", "cells"),
    Column("tasks", "tasks"),
    Column("test pass rate", "test_pass_rate", percent),
    Column("of the empty patch", "empty_patch_test_pass_rate", percent),
    Column("no regression", "no_regression", percent),
    Column("tasks with one", "no_regression_tasks", ratio),
)
_NOTES = (
    "test pass rate: of the required hidden tests, the share that passes with the patch; resolved needs all",
    "of the empty patch: the share that passes at the base; the no regression of an empty patch is 100 %",
    "no regression: of the required tests that pass at the base, the share that passes with the patch;"
    " unknown for a task without any",
    "a mean over the cells of a task, then over tasks; a test that did not run under the patch is not passed",
    "code quality is not rated, because no rater is registered: fix_score, which needs it, is not computed",
)


def score_table(gated: Gated) -> Table:
    """One line for each arm over all models, and one for each of its models where there are several."""
    title = "Secondary scores: descriptive"
    if gated.frames is None:
        return Table("T11", title, _COLUMNS, (), ("not made: these outcomes have no record of tests",))
    passed = {key: one for key, one in counted_tests(gated.frames).items() if key in gated.resolved}
    shown, several = labels(gated), len(gated.design.models) > 1
    rows = []
    for arm in gated.design.arms:
        own = {key: one for key, one in passed.items() if key.arm == arm}
        rows.append((shown[arm], ALL, *_row(own)))
        rows += [
            (shown[arm], model, *_row({key: one for key, one in own.items() if key.model == model}))
            for model in gated.design.models
            if several
        ]
    missing = ("a missing cell is in no mean",) if gated.missing else ()
    return Table("T11", title, _COLUMNS, tuple(rows), _NOTES + missing)


def _row(passed: Mapping[Key, Passed]) -> tuple[Value, ...]:
    by_task: dict[str, list[Passed]] = {}
    for key, one in passed.items():
        by_task.setdefault(key.task, []).append(one)
    tasks = list(by_task.values())
    regression = _over_tasks(tasks, lambda one: one.no_regression)
    return (
        len(passed),
        len(tasks),
        macro_mean(_over_tasks(tasks, lambda one: one.test_pass_rate)).mean,
        macro_mean(_over_tasks(tasks, lambda one: one.unpatched)).mean,
        macro_mean(regression).mean,
        (sum(value is not None for value in regression), len(tasks)),
    )


def _over_tasks(
    tasks: Sequence[Sequence[Passed]], score: Callable[[Passed], float | None]
) -> list[float | None]:
    return [macro_mean([score(one) for one in cells]).mean for cells in tasks]


def counted_tests(frames: Frames) -> dict[Key, Passed]:
    """Counts of the required tests of every sealed cell."""
    columns = frames.labelled("tests").select(
        "task", "treatment", "model", "seed", "repetition", "required", "outcome"
    )
    counts: dict[Key, list[int]] = {}
    for task, arm, model, seed, repetition, required, outcome in columns.iter_rows():
        own = counts.setdefault(Key(task, arm, model, f"s{seed}.r{repetition}"), [0, 0, 0, 0])
        passes, before = outcome == "passed", required == "pass-to-pass"
        for place, counted in enumerate((passes, True, passes and before, before)):
            own[place] += counted
    return {key: Passed(*own) for key, own in counts.items()}
