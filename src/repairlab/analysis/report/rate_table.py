"""T3: rates by arm, model and repository, with counts and Wilson intervals."""

from __future__ import annotations

from repairlab.analysis.confirmatory import labels
from repairlab.analysis.gate import Gated
from repairlab.analysis.rates import Rate, rates
from repairlab.analysis.report.layout import (
    NO_DATA,
    Column,
    Table,
    Value,
    percent_interval,
    ratio,
)
from repairlab.analysis.statistics import Interval, NotEstimable

_COLUMNS = (
    Column("arm", "arm"),
    Column("model", "model"),
    Column("repository", "repository"),
    Column("resolved", "resolved", ratio),
    Column("rate", "rate", lambda rate: f"{100 * rate:.0f} %"),
    Column("95 % interval (Wilson)", "interval_95", percent_interval),
)
_MISSING = (
    Column("missing", "missing"),
    Column("of these tried", "missing_tried"),
    Column("bounds", "bounds", percent_interval),
)


def rate_table(gated: Gated) -> Table:
    """Every planned combination has a line, with data or without."""
    shown = labels(gated)
    columns = _COLUMNS + (_MISSING if gated.missing else ())
    rows = tuple(_row(rate, shown[rate.arm], missing=bool(gated.missing)) for rate in rates(gated))
    unsolved, solved = extremes(gated)
    notes = (
        "resolved: the final patch passes every hidden test",
        f"{unsolved} tasks are solved in no cell, {solved} in every cell: they say nothing about contrasts",
    )
    return Table("T3", "Resolved by arm, model and repository", columns, rows, notes)


def _row(rate: Rate, arm: str, *, missing: bool) -> tuple[Value, ...]:
    none = NotEstimable(NO_DATA)
    own: tuple[Value, ...] = (
        arm,
        rate.model,
        rate.stratum,
        (rate.resolved, rate.n),
        none if rate.rate is None else rate.rate,
        rate.interval,
    )
    if not missing:
        return own
    bounds = rate.bounds
    return (*own, rate.missing, rate.infrastructure, Interval(*bounds, level=1.0) if bounds else none)


def extremes(gated: Gated) -> tuple[int, int]:
    """How many tasks no cell resolves, and how many every cell does; of those without a missing cell."""
    by_task: dict[str, list[int | None]] = {}
    for key in gated.design.planned:
        by_task.setdefault(key.task, []).append(gated.resolved.get(key))
    known = [own for own in by_task.values() if None not in own]
    return sum(not any(own) for own in known), sum(all(own) for own in known)
