"""R1 and R2: every draw of a reliability design, and what draws agree on. Nothing is said of a treatment."""

from __future__ import annotations

import numpy as np

from repairlab.analysis.confirmatory import labels
from repairlab.analysis.gate import Gated
from repairlab.analysis.hypotheses import Hypotheses
from repairlab.analysis.report.layout import Column, Table, Value, ratio
from repairlab.analysis.statistics import Interval, Measured, NotEstimable, reliability

_TILES = (
    Column("task", "task"),
    Column("arm", "arm"),
    Column("model", "model"),
    Column("draws", "draws"),
    Column("resolved", "resolved", ratio),
)


def draws_table(gated: Gated) -> Table:
    """One line a cell: each draw as 1, 0, or ? where it is missing."""
    shown = labels(gated)
    rows: list[tuple[Value, ...]] = []
    for (task, arm, model), outcomes in _cells(gated).items():
        known = [outcome for outcome in outcomes if outcome is not None]
        text = " ".join("?" if outcome is None else str(outcome) for outcome in outcomes)
        rows.append((task, shown[arm], model, text, (sum(known), len(known))))
    notes = ("draws in the order of their seeds; too few for each arm to say anything of an arm",)
    return Table("R1", "Every draw", _TILES, tuple(rows), notes)


def agreement_table(gated: Gated, hypotheses: Hypotheses) -> Table:
    """Over the cells whose every draw has an outcome; intervals from a bootstrap over cells."""
    columns = (
        Column("figure", "figure"),
        Column("estimate", "estimate", lambda value: f"{value:.3f}"),
        Column("95 % interval", "interval_95", lambda value: f"{value.low:.3f} to {value.high:.3f}"),
    )
    whole = [
        [outcome for outcome in outcomes if outcome is not None]
        for outcomes in _cells(gated).values()
        if None not in outcomes
    ]
    settings = hypotheses.sensitivity
    generator = np.random.Generator(np.random.PCG64(settings.bootstrap_seed))
    title = "Agreement of draws"
    if not whole or len(whole[0]) < 2:
        return Table("R2", title, columns, (), ("not made: no cell has two draws with an outcome",))
    found = reliability(whole, generator, settings.bootstrap_resamples)
    if isinstance(found, NotEstimable):
        return Table("R2", title, columns, (), (f"not made: {found.reason}",))
    named: dict[str, Measured] = {
        **{f"pass@{k}": one for k, one in found.pass_at.items()},
        **{f"pass^{k}": one for k, one in found.pass_hat.items() if k > 1},
        "raw agreement": found.agreement,
        "ICC(1,1)": found.icc,
        "variance between cells": found.between,
        "variance within cells": found.within,
        "Fleiss' kappa": found.kappa,
        "Gwet's AC1": found.ac1,
    }
    rows: list[tuple[Value, ...]] = [(name, one.estimate, one.interval) for name, one in named.items()]
    share: Interval | NotEstimable = found.consistent_interval
    rows.append(("cells whose draws all agree", found.consistent / found.cells, share))
    notes = (
        f"{found.cells} cells of {found.draws} draws; bootstrap over cells, seed {settings.bootstrap_seed}",
        "pass@k: one of k draws resolves; pass^k: all of k do; the interval of the last line is Wilson's",
        "these draws are never pooled with the main matrix",
    )
    return Table("R2", title, columns, tuple(rows), notes)


def _cells(gated: Gated) -> dict[tuple[str, str, str], list[int | None]]:
    found: dict[tuple[str, str, str], list[int | None]] = {}
    for key in sorted(gated.design.planned):
        found.setdefault((key.task, key.arm, key.model), []).append(gated.resolved.get(key))
    return found
