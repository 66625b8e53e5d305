"""T6: the fixed list of sensitivity analyses, all of them on all contrasts; none can change a verdict."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from repairlab.analysis.confirmatory import Confirmed, labels
from repairlab.analysis.gate import Gated
from repairlab.analysis.hypotheses import Hypotheses
from repairlab.analysis.report.layout import Column, Table, Value, probability
from repairlab.analysis.statistics import (
    Comparison,
    Contrast,
    NotEstimable,
    Outcomes,
    SensitivityRow,
    outcomes_of,
    sensitivity,
)

_COLUMNS = (
    Column("contrast", "contrast"),
    Column("arms", "arms"),
    Column("analysis", "analysis"),
    Column("part", "part"),
    Column("scale", "scale"),
    Column("estimate", "estimate", lambda value: f"{value:+.3f}"),
    Column("95 % interval", "interval_95", lambda value: f"{value.low:+.3f} to {value.high:+.3f}"),
    Column("p", "p", probability),
    Column("note", "note"),
)
_COMPARED = (
    "mid-p",
    "mcnemar-per-model",
    "pooled-mcnemar-and-cmh",
    "conditional-logit",
    "gee-bias-reduced",
    "task-bootstrap",
)
"""Those whose disagreement with the registered test is reported in the main text."""
_SETTLED = 0.001
"""Below it a factor between two p-values changes nothing that anyone would conclude."""


def sensitivity_table(gated: Gated, confirmed: Sequence[Confirmed], hypotheses: Hypotheses) -> Table:
    """Every registered analysis of every contrast that can be made."""
    title = "Sensitivity analyses: none changes a verdict"
    family = [
        Comparison(one.name, one.registered.arm, one.registered.against)
        for one in confirmed
        if one.components
    ]
    matrix = complete_matrix(gated)
    if isinstance(matrix, NotEstimable) or not family:
        reason = matrix.reason if isinstance(matrix, NotEstimable) else "no contrast can be made"
        return Table("T6", title, _COLUMNS, (), (f"not made: {reason}",))
    settings = hypotheses.sensitivity
    rows = sensitivity(matrix, family, settings.bootstrap_seed, settings.bootstrap_resamples)
    shown = labels(gated)
    arms = {one.name: f"{shown[one.arm]} - {', '.join(shown[arm] for arm in one.against)}" for one in family}
    wanted = [row for row in rows if row.analysis in settings.analyses]
    notes = [
        "of a contrast against several arms: the smallest estimate and the largest p",
        f"over the {len(matrix.tasks)} tasks that are complete in every arm and model",
        f"bootstrap: {settings.bootstrap_resamples} resamples of tasks, PCG64 seed {settings.bootstrap_seed}",
        *disagreements(confirmed, wanted),
    ]
    return Table("T6", title, _COLUMNS, tuple(_row(row, arms, shown) for row in wanted), tuple(notes))


def complete_matrix(gated: Gated) -> Outcomes | NotEstimable:
    """Outcomes of the tasks that are complete in every arm and model, one draw each."""
    if len({key.draw for key in gated.design.planned}) > 1:
        return NotEstimable("these analyses take one draw of each cell")
    lacking = {key.task for key in gated.missing}
    cells = [
        (gated.design.strata[key.task], key.task, key.arm, key.model, resolved)
        for key, resolved in gated.resolved.items()
        if key.task not in lacking
    ]
    return outcomes_of(cells) if cells else NotEstimable("no task is complete")


def disagreements(confirmed: Sequence[Confirmed], rows: Sequence[SensitivityRow]) -> list[str]:
    """A sign that differs from the registered test's, or a p by more than 2 times unless both are settled."""
    notes = []
    for one in confirmed:
        results = [component.result for component in one.components]
        estimates = [float(result.estimate) for result in results if isinstance(result, Contrast)]
        if not estimates:
            continue
        estimate = min(estimates)
        for row in rows:
            if row.contrast == one.name and row.analysis in _COMPARED:
                said = _disagreement(estimate, one.p, row)
                if said:
                    notes.append(f"{one.name}: {row.analysis} {row.scope}".rstrip() + f" disagrees in {said}")
    return notes


def _disagreement(estimate: float, p: float, row: SensitivityRow) -> str:
    said = []
    if isinstance(row.estimate, float) and row.estimate * estimate < 0:
        said.append("sign")
    if isinstance(row.p, float) and max(row.p, p) > max(_SETTLED, 2 * min(row.p, p)):
        said.append(f"p ({probability(row.p)} against {probability(p)})")
    return " and ".join(said)


def _row(row: SensitivityRow, arms: Mapping[str, str], shown: Mapping[str, str]) -> tuple[Value, ...]:
    head = (row.contrast, arms.get(row.contrast.split(" ")[0], ""), row.analysis, row.scope)
    values = tuple(
        NotEstimable(_labelled(value.reason, shown)) if isinstance(value, NotEstimable) else value
        for value in (row.estimate, row.interval, row.p)
    )
    return (*head, row.scale, *values, _labelled(row.note, shown))


def _labelled(text: str, shown: Mapping[str, str]) -> str:
    """Arms in a note or a reason as they are shown everywhere."""
    return re.sub(r"\b\w+\b", lambda word: shown.get(word[0], word[0]), text)
