"""T9 and T10: what arms cost, over solved and unsolved cells alike, and paired ratios of the contrasts."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

import numpy as np

from repairlab.analysis.confirmatory import Confirmed, labels
from repairlab.analysis.gate import Gated
from repairlab.analysis.hypotheses import Hypotheses
from repairlab.analysis.outcomes import Key
from repairlab.analysis.pairing import Paired
from repairlab.analysis.report.layout import Column, Table, Value, probability, ratio
from repairlab.analysis.statistics import SpentTask, TaskCosts, clocks, cost_per_resolved, cost_ratio

_NONE = ("not made: these outcomes have no record of costs",)


class Spent(NamedTuple):
    """Costs of one cell; ``None`` where nobody counted."""

    tokens: int | None
    model_calls: int
    tool_calls: int
    agent_seconds: float


def _number(value: float) -> str:
    return f"{value:,.0f}"


_COLUMNS = (
    Column("arm", "arm"),
    Column("cells", "cells"),
    Column("tokens known", "tokens_known", ratio),
    Column("median tokens", "tokens_median", _number),
    Column("median model calls", "model_calls_median", lambda value: f"{value:g}"),
    Column("median tool calls", "tool_calls_median", lambda value: f"{value:g}"),
    Column("median agent s", "agent_seconds_median", lambda value: f"{value:.1f}"),
    Column("restricted mean s", "agent_seconds_mean", lambda value: f"{value:.1f}"),
    Column("at the limit", "censored", ratio),
    Column("tokens for each resolved", "tokens_per_resolved", _number),
    Column("95 % interval", "interval_95", lambda value: f"{value.low:,.0f} to {value.high:,.0f}"),
)


def cost_table(gated: Gated, hypotheses: Hypotheses) -> Table:
    """One line an arm: medians, the clock as far as it ran, tokens spent for each resolved cell."""
    title = "Costs by arm: descriptive"
    spent = costs_of(gated)
    if not spent:
        return Table("T9", title, _COLUMNS, (), _NONE)
    limit = gated.frames.plan.budgets.agent_clock_seconds if gated.frames else 0
    rows = tuple(_line(gated, arm, spent, limit, hypotheses) for arm in gated.design.arms)
    notes = (
        "tokens: prompt and completion of all requests; unknown where the host did not count one of them",
        f"the agent clock ends at {limit} s; a median at the limit stands for at least that",
        "tokens for each resolved: all tokens of the arm, unsolved cells included, over its resolved cells",
    )
    return Table("T9", title, _COLUMNS, rows, notes)


def _line(
    gated: Gated, arm: str, spent: dict[Key, Spent], limit: int, hypotheses: Hypotheses
) -> tuple[Value, ...]:
    own = {key: one for key, one in spent.items() if key.arm == arm}
    if not own:
        return (labels(gated)[arm], 0, *(None,) * 9)
    tokens = [one.tokens for one in own.values() if one.tokens is not None]
    clock = clocks([one.agent_seconds for one in own.values()], limit)
    by_task: dict[str, list[Key]] = {}
    for key in own:
        by_task.setdefault(key.task, []).append(key)
    tasks = [
        SpentTask(gated.design.strata[task], [own[k].tokens for k in keys], [gated.resolved[k] for k in keys])
        for task, keys in sorted(by_task.items())
    ]
    per_resolved = cost_per_resolved(
        tasks, _generator(hypotheses), hypotheses.sensitivity.bootstrap_resamples
    )
    return (
        labels(gated)[arm],
        len(own),
        (len(tokens), len(own)),
        median(tokens) if tokens else None,
        median(one.model_calls for one in own.values()),
        median(one.tool_calls for one in own.values()),
        clock.median,
        clock.mean,
        (clock.censored, clock.known),
        per_resolved.ratio,
        per_resolved.interval,
    )


_RATIOS = (
    Column("contrast", "contrast"),
    Column("first arm", "arm"),
    Column("second arm", "against"),
    Column("cost", "cost"),
    Column("tasks", "tasks"),
    Column("unknown", "unknown"),
    Column("geometric mean ratio", "ratio", lambda value: f"{value:.2f}"),
    Column("95 % interval", "interval_95", lambda value: f"{value.low:.2f} to {value.high:.2f}"),
    Column("p", "p", probability),
)


def cost_ratio_table(gated: Gated, confirmed: Sequence[Confirmed], hypotheses: Hypotheses) -> Table:
    """First arm over second, paired by task; never restricted to solved tasks."""
    title, spent = "Cost ratios of the contrasts: descriptive", costs_of(gated)
    if not spent:
        return Table("T10", title, _RATIOS, (), _NONE)
    shown, rows = labels(gated), []
    for one in confirmed:
        for component in one.components:
            pair = component.pair
            for cost in ("tokens", "agent_seconds"):
                found = cost_ratio(
                    _pairs(gated, pair, spent, cost),
                    _generator(hypotheses),
                    hypotheses.sensitivity.bootstrap_resamples,
                )
                names = (one.name, shown[pair.arm], shown[pair.against], cost.replace("_", " "))
                left_out = found.unknown + found.zero
                rows.append((*names, found.tasks, left_out, found.ratio, found.interval, found.p))
    notes = (
        "ratio: exp of the mean over tasks of the mean log-ratio; p: sampled sign flips, not adjusted",
        "over tasks complete in both arms, solved or not; unknown: left out for an unknown or zero cost",
    )
    return Table("T10", title, _RATIOS, tuple(rows), notes)


def _pairs(gated: Gated, pair: Paired, spent: dict[Key, Spent], cost: str) -> list[TaskCosts]:
    slots = gated.design.slots[pair.arm]
    return [
        TaskCosts(
            gated.design.strata[task],
            *(
                [getattr(spent[Key(task, arm, model, draw)], cost) for model, draw in slots[task]]
                for arm in (pair.arm, pair.against)
            ),
        )
        for task in sorted(pair.totals)
    ]


def costs_of(gated: Gated) -> dict[Key, Spent]:
    """Costs of every cell with an outcome; empty for outcomes that came as a table."""
    if gated.frames is None:
        return {}
    cells = gated.frames.labelled("cells").filter("sealed")
    columns = cells.select(
        "task", "treatment", "model", "seed", "repetition", "prompt_tokens", "completion_tokens",
        "model_calls", "tool_calls", "agent_seconds",
    )  # fmt: skip
    found = {}
    for task, arm, model, seed, repetition, prompt, completion, *others in columns.iter_rows():
        tokens = None if prompt is None or completion is None else prompt + completion
        found[Key(task, arm, model, f"s{seed}.r{repetition}")] = Spent(tokens, *others)
    return found


def _generator(hypotheses: Hypotheses) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(hypotheses.sensitivity.bootstrap_seed))
