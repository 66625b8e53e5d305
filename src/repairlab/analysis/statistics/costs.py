"""Costs of arms: tokens, calls, seconds. Unknown is None and is counted; it is never 0."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import NamedTuple

import numpy as np

from repairlab.analysis.statistics.bootstrap import RESAMPLES, percentile_interval, resampled_sums
from repairlab.analysis.statistics.localisation import KnownMean, macro_mean
from repairlab.analysis.statistics.sampled_flips import FLIPS, sampled_sign_flip
from repairlab.analysis.statistics.values import Interval, NotEstimable, too_few
from repairlab.contract.errors import BadInput


class TaskCosts(NamedTuple):
    """One task's costs under two arms: one number a model, both arms in the same order."""

    repository: str
    first: Sequence[float | None]
    second: Sequence[float | None]


@dataclass(frozen=True, slots=True)
class CostRatio:
    """First arm over second, as a geometric mean over tasks.

    Attributes:
        ratio: exp of the mean over tasks of the mean log-ratio of their pairs.
        interval: by a task bootstrap stratified by repository.
        p: sampled sign-flip p of the mean log-ratio.
        tasks: tasks used.
        unknown: tasks left out because a cost is unknown.
        zero: tasks left out because a cost is 0, which has no ratio.
    """

    ratio: float | NotEstimable
    interval: Interval | NotEstimable
    p: float | NotEstimable
    tasks: int
    unknown: int
    zero: int


class Clocks(NamedTuple):
    """Seconds of an arm whose clock is cut off.

    Attributes:
        mean: restricted mean: of the smaller of clock and limit.
        median: a median at the limit stands for "at least the limit".
        censored: how many reached the limit.
        known: how many are known.
        total: how many were asked for.
    """

    mean: float | None
    median: float | None
    censored: int
    known: int
    total: int


class CostPerResolved(NamedTuple):
    """Sum of costs over number of resolved, over every cell with a known cost, solved or not.

    Attributes:
        ratio: the ratio of sums.
        interval: by a task bootstrap stratified by repository.
        resolved: resolved cells among those with a known cost.
        known: cells with a known cost.
        total: cells.
    """

    ratio: float | NotEstimable
    interval: Interval | NotEstimable
    resolved: int
    known: int
    total: int


class SpentTask(NamedTuple):
    """One task's cells under one arm: costs and outcomes, in the same order."""

    repository: str
    costs: Sequence[float | None]
    resolved: Sequence[int]


def mean_cost(costs: Sequence[float | None]) -> KnownMean:
    """Mean of the known costs, with their number.

    Raises:
        BadInput: a cost is negative or not finite.
    """
    return macro_mean([_cost(cost) for cost in costs])


def cost_ratio(
    tasks: Sequence[TaskCosts], rng: np.random.Generator, resamples: int = RESAMPLES, flips: int = FLIPS
) -> CostRatio:
    """Paired geometric mean ratio. A task with an unknown cost or with a zero is left out whole, and counted.

    Raises:
        BadInput: a cost is negative or not finite, or a task's arms differ in number of cells.
    """
    logs: list[float] = []
    strata: list[str] = []
    unknown = zero = 0
    for task in tasks:
        if len(task.first) != len(task.second) or not task.first:
            raise BadInput("a task's arms need one cost a model each")
        costs = [(_cost(one), _cost(two)) for one, two in zip(task.first, task.second, strict=True)]
        if any(cost is None for pair in costs for cost in pair):
            unknown += 1
        elif any(cost == 0 for pair in costs for cost in pair):
            zero += 1
        else:
            logs.append(sum(math.log(one or 1) - math.log(two or 1) for one, two in costs) / len(costs))
            strata.append(task.repository)
    return _ratio_of(logs, strata, unknown, zero, rng, resamples, flips)


def _ratio_of(
    logs: Sequence[float],
    strata: Sequence[str],
    unknown: int,
    zero: int,
    rng: np.random.Generator,
    resamples: int,
    flips: int,
) -> CostRatio:
    test = sampled_sign_flip(logs, rng, flips)
    if isinstance(test, NotEstimable):
        return CostRatio(test, test, test, 0, unknown, zero)
    interval: Interval | NotEstimable | None = too_few(len(logs))
    if interval is None:
        means = resampled_sums(logs, strata, rng, resamples)[:, 0] / len(logs)
        interval = percentile_interval(np.exp(means)).interval
    return CostRatio(math.exp(test.mean), interval, test.p, len(logs), unknown, zero)


def clocks(seconds: Sequence[float | None], limit: float) -> Clocks:
    """Summary of clocks that end at `limit` seconds, over solved and unsolved cells alike.

    Raises:
        BadInput: a clock is negative or not finite.
    """
    known = [min(value, limit) for value in map(_cost, seconds) if value is not None]
    return Clocks(
        mean=sum(known) / len(known) if known else None,
        median=float(median(known)) if known else None,
        censored=sum(value >= limit for value in known),
        known=len(known),
        total=len(seconds),
    )


def cost_per_resolved(
    tasks: Sequence[SpentTask], rng: np.random.Generator, resamples: int = RESAMPLES
) -> CostPerResolved:
    """Cost of a resolved cell as a ratio of sums: unresolved cells cost too.

    Raises:
        BadInput: a cost is negative or not finite, an outcome is not 0 or 1, or their numbers differ.
    """
    rows, known = [], 0
    for task in tasks:
        if len(task.costs) != len(task.resolved) or any(value not in (0, 1) for value in task.resolved):
            raise BadInput("a task needs one outcome for each cost")
        pairs = [(_cost(cost), value) for cost, value in zip(task.costs, task.resolved, strict=True)]
        spent = [(cost, value) for cost, value in pairs if cost is not None]
        rows.append((sum(cost for cost, _ in spent), sum(value for _, value in spent)))
        known += len(spent)
    total = sum(len(task.costs) for task in tasks)
    resolved = sum(row[1] for row in rows)
    if not resolved:
        none = NotEstimable("none resolved" if known else "no data")
        return CostPerResolved(none, none, 0, known, total)
    sums = resampled_sums(rows, [task.repository for task in tasks], rng, resamples)
    ratios = np.full(len(sums), np.inf)
    np.divide(sums[:, 0], sums[:, 1], out=ratios, where=sums[:, 1] > 0)
    interval = too_few(len(rows)) or percentile_interval(ratios).interval
    return CostPerResolved(sum(row[0] for row in rows) / resolved, interval, resolved, known, total)


def _cost(value: float | None) -> float | None:
    if value is not None and not 0 <= value < math.inf:
        raise BadInput(f"a cost is a finite number from 0 on, or unknown: {value}")
    return value
