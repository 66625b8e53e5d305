"""T8: which share of the files of the fix an arm got to see, opened, and edited. Descriptive."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

from repairlab.analysis.confirmatory import labels
from repairlab.analysis.frames import Frames
from repairlab.analysis.gate import Gated
from repairlab.analysis.outcomes import Key
from repairlab.analysis.plan import TaskFacts
from repairlab.analysis.report.layout import Column, Table, Value, ratio
from repairlab.analysis.statistics import (
    all_gold,
    edit_precision,
    file_recall,
    first_gold_rank,
    macro_mean,
)

CUTS = (1, 3, 5, 10)
STAGES = ("returned", "selected", "opened", "edited")


def _share(value: float) -> str:
    return f"{100 * value:.0f} %"


_COLUMNS = (
    Column("arm", "arm"),
    Column("stage", "stage"),
    Column("tasks", "tasks"),
    *(Column(f"recall at {k}", f"recall_{k}", _share) for k in CUTS),
    Column("all files at 10", "all_10", _share),
    Column("found by any rank", "found", ratio),
    Column("median first rank", "first_rank", lambda value: f"{value:g}"),
    Column("precision", "precision", _share),
)


def localisation_table(gated: Gated) -> Table:
    """Arm by exposure; a mean over the models within a task, then over tasks."""
    title = "Localisation: descriptive"
    if gated.frames is None:
        return Table("T8", title, _COLUMNS, (), ("not made: these outcomes have no record of files",))
    seen, shown = _seen(gated.frames), labels(gated)
    rows: list[tuple[Value, ...]] = []
    for arm in gated.design.arms:
        for stage in STAGES:
            used = {key: paths for (key, name), paths in seen.items() if name == stage and key.arm == arm}
            if used:
                rows.append((shown[arm], stage, *_row(gated, gated.frames.plan.tasks, arm, stage, used)))
    notes = (
        "returned by a search, selected by the first stage of a staged arm, opened, edited in the patch",
        "a file counts once, before the cut; cells in which the stage holds no file count as 0",
        "an arm that is given the fix's files has no search; its opened files say nothing about one",
        "a stage reached in some cells only is no cause: resolution is not conditioned on it",
    )
    return Table("T8", title, _COLUMNS, tuple(rows), notes)


def _seen(frames: Frames) -> dict[tuple[Key, str], list[str]]:
    """Paths by cell and stage, in the order in which they came."""
    ordered = frames.labelled("files").sort("sequence", "n", "rank", maintain_order=True, nulls_last=True)
    found: dict[tuple[Key, str], list[str]] = {}
    columns = ordered.select("task", "treatment", "model", "seed", "repetition", "stage", "path")
    for task, arm, model, seed, repetition, stage, path in columns.iter_rows():
        key = Key(task, arm, model, f"s{seed}.r{repetition}")
        found.setdefault((key, stage), []).append(path)
    return found


def _row(
    gated: Gated, facts: Mapping[str, TaskFacts], arm: str, stage: str, used: Mapping[Key, Sequence[str]]
) -> tuple[Value, ...]:
    cells = [key for key in gated.resolved if key.arm == arm]
    by_task: dict[str, list[Key]] = {}
    for key in cells:
        by_task.setdefault(key.task, []).append(key)

    def averaged(k: int, *, whole: bool = False) -> float | None:
        means = []
        for task, keys in by_task.items():
            gold = facts[task].gold
            values = [
                float(all_gold(gold, used.get(key, ()), k))
                if whole
                else file_recall(gold, used.get(key, ()), k)
                for key in keys
            ]
            means.append(macro_mean(values).mean)
        return macro_mean(means).mean

    ranks = [first_gold_rank(facts[key.task].gold, used.get(key, ())) for key in cells]
    known = [rank for rank in ranks if rank is not None]
    precision = [edit_precision(facts[key.task].gold, used.get(key, ())) for key in cells]
    return (
        len(by_task),
        *(averaged(k) for k in CUTS),
        averaged(10, whole=True),
        (len(known), len(cells)),
        median(known) if known else None,
        macro_mean(precision).mean if stage == "edited" else None,
    )
