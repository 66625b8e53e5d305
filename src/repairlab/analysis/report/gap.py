"""T7: how far the reference arm lies over the best of the others, without the bias of picking the best."""

from __future__ import annotations

from collections.abc import Sequence

from repairlab.analysis.confirmatory import Confirmed, labels
from repairlab.analysis.gate import Gated
from repairlab.analysis.report.layout import Column, Table, Value, points
from repairlab.analysis.report.sensitivity import complete_matrix
from repairlab.analysis.statistics import NotEstimable, folds_of, oracle_gap

_COLUMNS = (
    Column("contrast", "contrast"),
    Column("reference arm", "arm"),
    Column("tasks", "tasks"),
    Column("naive gap", "naive", points),
    Column("cross-selected gap", "cross_selected", points),
    Column("arm chosen, in folds", "chosen"),
)
_SEED = "oracle-gap-folds-v1"


def gap_table(gated: Gated, confirmed: Sequence[Confirmed]) -> Table:
    """One line for each contrast against several arms."""
    matrix, shown = complete_matrix(gated), labels(gated)
    rows: list[tuple[Value, ...]] = []
    for one in confirmed:
        if len(one.registered.against) < 2 or not one.components:
            continue
        head = (one.name, shown[one.registered.arm])
        if isinstance(matrix, NotEstimable) or len(matrix.tasks) < 2:
            rows.append((*head, 0, NotEstimable("no data"), NotEstimable("no data"), None))
            continue
        rates = {arm: matrix.resolved[:, matrix.arm(arm), :].mean(axis=1) for arm in one.registered.arms}
        folds = folds_of(matrix.tasks, matrix.repositories, _SEED)
        reference = rates.pop(one.registered.arm)
        gap = oracle_gap(reference, rates, folds)
        chosen = ", ".join(f"{shown[arm]} {count}" for arm, count in gap.chosen.items() if count)
        rows.append((*head, len(matrix.tasks), gap.naive, gap.cross_selected, chosen))
    notes = (
        "naive: against the arm that looks best; too low, because the best of noisy rates is too high",
        "cross-selected: the arm is chosen on nine tenths of the tasks and the gap taken on the rest",
        "the reference arm is no ceiling: it knows the fix's files and cannot search; a gap may be negative",
    )
    return Table("T7", "Gap of the reference arm: descriptive", _COLUMNS, tuple(rows), notes)
