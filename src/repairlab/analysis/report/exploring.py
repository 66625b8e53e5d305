"""T5: the exploratory lines."""

from __future__ import annotations

from collections.abc import Sequence

from repairlab.analysis.confirmatory import labels
from repairlab.analysis.exploratory import Explored
from repairlab.analysis.gate import Gated
from repairlab.analysis.report.layout import (
    Column,
    Table,
    Value,
    points,
    points_interval,
    probability,
    ratio,
)
from repairlab.analysis.statistics import ChiSquare, Contrast, NotEstimable, SignFlip

_COLUMNS = (
    Column("first arm", "arm"),
    Column("second arm", "against"),
    Column("part", "part"),
    Column("tasks", "tasks"),
    Column("first solved", "arm_solved", ratio),
    Column("second solved", "against_solved", ratio),
    Column("difference", "difference", points),
    Column("95 % interval", "interval_95", points_interval),
    Column("exact p", "p", probability),
    Column("q", "q", probability),
)


def exploratory_table(gated: Gated, lines: Sequence[Explored]) -> Table:
    """Estimates without verdict words."""
    shown = {"": "", **labels(gated)}
    rows = tuple(_row(line, shown) for line in lines)
    count = sum(line.p is not None for line in lines)
    notes = [
        f"q: Benjamini-Hochberg over the {count} p-values of this table; intervals are not adjusted",
        "exploratory: no verdict is given",
    ]
    for line in lines:
        if line.impossible:
            arms = f"{shown.get(line.arm, line.arm)} - {shown.get(line.against, line.against)}, "
            notes.append(f"{arms if line.arm else ''}{line.part}: {line.impossible}")
    return Table("T5", "Exploratory contrasts", _COLUMNS, rows, tuple(notes))


def _row(line: Explored, shown: dict[str, str]) -> tuple[Value, ...]:
    head = (shown.get(line.arm, line.arm), shown.get(line.against, line.against), line.part)
    result, pair = line.result, line.pair
    if isinstance(result, Contrast) and pair is not None:
        solved = ((pair.first, pair.cells), (pair.second, pair.cells))
        return (*head, result.tasks, *solved, result.estimate, result.interval95, line.p, line.q)
    if isinstance(result, SignFlip):
        tasks = result.informative + result.zeros
        mean = result.total / tasks
        return (*head, tasks, None, None, mean, None, line.p, line.q)
    if isinstance(result, ChiSquare):
        note = NotEstimable(f"Q = {result.statistic:.2f}, {result.df} df")
        return (*head, None, None, None, note, None, line.p, line.q)
    reason = result if isinstance(result, NotEstimable) else NotEstimable("cannot be made")
    return (*head, None, None, None, reason, reason, None, None)
