"""What the gate checks of a store beyond its keys: seals, freezes, evaluator, environments, budgets."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from repairlab.analysis.frames import Frames
from repairlab.contract.controls import Budgets

SIMULATED = "simulated"
"""What a simulated record gives for the level at which a host was verified: there was none."""


REFREEZABLE = frozenset({"calibration", "trial"})
"""Kinds of experiment that may be frozen anew, so that `raw/` may hold cells of earlier freezes."""


def foreign_freezes(frames: Frames) -> list[tuple[str, str]]:
    """Sealed planned cells that ran under none of the experiment's freeze records, with the one they name."""
    cells = frames.labelled("cells").filter("sealed")
    foreign = cells.filter(~pl.col("freeze").is_in(frames.plan.freezes))
    return [(name, freeze) for name, freeze in foreign.select("cell", "freeze").iter_rows()]


def store_findings(frames: Frames) -> Iterator[tuple[str, str]]:
    """Rule and text of everything that is wrong, beside missing, duplicate and unplanned keys."""
    plan, cells = frames.plan, frames.labelled("cells").filter("sealed")
    if plan.manifest != plan.recomputed:
        yield "manifest", f"its digest is {plan.recomputed[:12]}, and {plan.manifest[:12]} was frozen"
    for cell in plan.cells:
        if cell.identity.experiment != plan.experiment:
            yield (
                "manifest",
                f"{cell.name} is a cell of {cell.identity.experiment}: manifests are never pooled",
            )
    yield from (("seal", text) for text in frames.unreadable)
    if plan.kind not in REFREEZABLE:
        for name, freeze in foreign_freezes(frames):
            yield (
                "freeze",
                f"{name} ran under {freeze[:12]}, which is none of this experiment's freeze records",
            )
    drawn = cells.filter((pl.col("host_level") == SIMULATED).fill_null(value=False) != plan.simulated)
    for name in drawn["cell"]:
        yield "simulated", f"{name} is {'no simulated' if plan.simulated else 'a simulated'} record"
    # A carried record was scored by an earlier version, and equal to the byte by the one in force.
    own = cells.filter(~pl.col("cell").is_in(sorted(plan.carried)))
    yield from _one_value(own, ["experiment"], "evaluator", "versions of repairlab scored the cells")
    yield from _one_value(cells, ["experiment"], "sandbox", "kinds of sandbox held the tests")
    yield from _one_value(cells, ["task"], "environment", "test environments scored its cells")
    yield from _overruns(cells, plan.budgets)


def _one_value(cells: pl.DataFrame, by: list[str], column: str, what: str) -> Iterator[tuple[str, str]]:
    grouped = cells.with_columns(experiment=pl.lit("the experiment")).group_by(by, maintain_order=True)
    mixed = grouped.agg(pl.col(column).unique().sort()).filter(pl.col(column).list.len() > 1)
    for name, values in mixed.iter_rows():
        short = ", ".join(str(value)[:12] for value in values)
        yield column, f"{name}: {len(values)} {what} ({short})"


def _overruns(cells: pl.DataFrame, budgets: Budgets) -> Iterator[tuple[str, str]]:
    """Calls counted and refused are no overrun, nor is an action that began while time was left."""
    used = {
        "model_calls": (pl.col("model_calls"), budgets.model_calls),
        "tool_calls": (pl.col("tool_calls") - pl.col("tool_calls_refused_by_budget"), budgets.tool_calls),
        "public_test_runs": (pl.col("public_test_runs"), budgets.public_test_runs),
        "agent_seconds": (pl.col("agent_seconds_at_last_start"), budgets.agent_clock_seconds),
    }
    for name, (column, limit) in used.items():
        for cell, value in cells.select("cell", used=column).filter(pl.col("used") > limit).iter_rows():
            yield "budget", f"{cell} used {value:g} of {limit} {name}"
