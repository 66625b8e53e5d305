"""Rates of each arm, with counts and Wilson intervals; every planned stratum keeps its line."""

from __future__ import annotations

from typing import NamedTuple

from repairlab.analysis.gate import Gated, require_gated
from repairlab.analysis.statistics import Interval, NotEstimable, wilson

ALL = "all"


class Rate(NamedTuple):
    """Cells of one arm, model and stratum.

    `n` counts cells with an outcome. A cell without one is in `missing` and in no rate; of those,
    `infrastructure` were tried.
    """

    arm: str
    model: str
    stratum: str
    resolved: int
    n: int
    missing: int
    infrastructure: int
    interval: Interval | NotEstimable

    @property
    def rate(self) -> float | None:
        """``None`` without data, never 0."""
        return self.resolved / self.n if self.n else None

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The rate if every missing cell had failed, and if every one had been resolved."""
        planned = self.n + self.missing
        return (self.resolved / planned, (self.resolved + self.missing) / planned) if planned else None


def rates(gated: Gated) -> tuple[Rate, ...]:
    """Arm by model by stratum, each with a line for all strata; in the order of the design."""
    require_gated(gated)
    design, tried = gated.design, set(gated.infrastructure)
    counts: dict[tuple[str, str, str], list[int]] = {}
    for key in design.planned:
        outcome = gated.resolved.get(key)
        for stratum in (design.strata[key.task], ALL):
            own = counts.setdefault((key.arm, key.model, stratum), [0, 0, 0, 0])
            own[0] += outcome or 0
            own[1] += outcome is not None
            own[2] += outcome is None
            own[3] += key in tried
    return tuple(
        _rate(arm, model, stratum, counts.get((arm, model, stratum), [0, 0, 0, 0]))
        for arm in design.arms
        for model in design.models
        for stratum in (*design.stratum_names, ALL)
    )


def _rate(arm: str, model: str, stratum: str, counts: list[int]) -> Rate:
    resolved, n, missing, tried = counts
    return Rate(arm, model, stratum, resolved, n, missing, tried, wilson(resolved, n))
