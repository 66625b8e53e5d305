"""T1: what was planned, run, tried in vain and left missing, by arm. No outcome stands in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import polars as pl

from repairlab.analysis.confirmatory import labels
from repairlab.analysis.frames import Frames
from repairlab.analysis.gate import Gated
from repairlab.analysis.report.layout import Column, Table, Value


def flow(gated: Gated) -> Table:
    """Cells by arm; attempts without an outcome by their class."""
    design, shown = gated.design, labels(gated)
    planned = Counter(key.arm for key in design.planned)
    scored = Counter(key.arm for key in gated.resolved)
    tried = Counter(key.arm for key in gated.infrastructure)
    failures = _failures(gated.frames) if gated.frames else {}
    kinds = sorted({kind for _, kind in failures})
    cut = _cut_by_clock(gated.frames) if gated.frames else {}
    columns = [
        Column("arm", "arm"),
        Column("planned", "planned"),
        Column("with an outcome", "scored"),
        Column("missing", "missing"),
        Column("of these tried", "missing_tried"),
        Column("ended by the clock", "ended_by_clock"),
        *(Column(f"attempts: {kind}", f"attempts_{kind}") for kind in kinds),
    ]
    rows: list[tuple[Value, ...]] = []
    for arm in design.arms:
        own = [failures.get((arm, kind), 0) for kind in kinds]
        counts = (planned[arm], scored[arm], planned[arm] - scored[arm], tried[arm])
        rows.append((shown[arm], *counts, cut.get(arm, 0) if gated.frames else None, *own))
    rows.append(("all", *(_total([row[i] for row in rows]) for i in range(1, len(columns)))))
    return Table("T1", "Flow of cells", tuple(columns), tuple(rows), tuple(_notes(gated)))


def _total(values: Sequence[Value]) -> int | None:
    """Unknown where a part is unknown."""
    known = [value for value in values if isinstance(value, int)]
    return sum(known) if len(known) == len(values) else None


def _failures(frames: Frames) -> dict[tuple[str, str], int]:
    attempts = frames.labelled("attempts").filter(pl.col("end") != "sealed")
    kinds = attempts.with_columns(pl.col("kind").fill_null(pl.col("end")))
    counted = kinds.group_by("treatment", "kind").len().sort("treatment", "kind")
    return {(arm, kind): count for arm, kind, count in counted.iter_rows()}


def _cut_by_clock(frames: Frames) -> dict[str, int]:
    ended = frames.labelled("cells").filter(pl.col("end") == "agent-clock-spent")
    return dict(ended.group_by("treatment").len().iter_rows())


def _notes(gated: Gated) -> list[str]:
    design = gated.design
    by_stratum = Counter(design.strata.values())
    kept = ", ".join(f"{stratum}: {by_stratum[stratum]}" for stratum in design.stratum_names)
    notes = [f"{len(design.strata)} tasks ({kept}); no cell runs before its task has passed its gold check"]
    if gated.frames:
        early = _out_of_order(gated.frames)
        notes.append(f"{early} cells began before a cell that stands earlier in the frozen order")
        notes.append("an attempt without an outcome is kept, retried, and counts in no rate")
    return [*notes, *gated.notes]


def _out_of_order(frames: Frames) -> int:
    """Sealed first attempts that started before the latest start among earlier cells of the order."""
    first = frames.tables["cells"].filter((pl.col("attempt") == 1) & pl.col("sealed")).sort("sequence")
    started = first["started_utc"]
    latest = started.shift(1)
    return int((started < latest).sum() or 0)
