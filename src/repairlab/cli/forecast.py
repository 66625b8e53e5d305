"""How long a campaign takes at most, from speeds that were measured and budgets that are frozen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from repairlab.contract.controls import SharedControls
from repairlab.contract.outcome import STAGES
from repairlab.contract.study import Inputs
from repairlab.hosts.preflight import Speeds
from repairlab.hosts.preflight_asking import Finding
from repairlab.manifest.cell import Cell

_NO_FORECAST = "a model's speed is not known; see its checks"


@dataclass(frozen=True, slots=True)
class Bound:
    """Seconds that a campaign takes at most."""

    loads: float
    agents: float
    evaluation: float

    @property
    def total(self) -> float:
        """All of it."""
        return self.loads + self.agents + self.evaluation


def bound(
    inputs: Inputs, cells: Sequence[Cell], speeds: Mapping[str, Speeds], embedding: Speeds | None
) -> Bound:
    """The bound for `cells`: each loads its model, uses its whole budgets, and is scored within its limit.

    A cell of a treatment that embeds may swap to the embedder and back for each tool call, and once more for
    its first load; a staged one asks once a stage. An unknown speed leaves the agent clock as the bound.
    Attempts that fail are not counted.
    """
    budgets, runs = inputs.shared.budgets, inputs.shared.evaluation.timeout_reproductions
    loads = agents = evaluation = 0.0
    for cell in cells:
        speed = speeds[cell.model]
        dense = "dense" in inputs.treatments[cell.treatment].components
        swap = speed.load_seconds + embedding.load_seconds if dense and embedding else 0.0
        loads += speed.load_seconds + swap * budgets.tool_calls
        call = call_seconds(inputs.shared, cell.identity.context_tokens, speed)
        clock = float(budgets.agent_clock_seconds)
        staged = inputs.treatments[cell.treatment].kind == "staged"
        calls = len(STAGES) if staged else budgets.model_calls
        agents += clock if call is None else min(clock, calls * call + _tests(inputs, cell))
        evaluation += inputs.tasks[cell.task].limits.evaluation_seconds * runs
    return Bound(loads, agents, evaluation)


def _tests(inputs: Inputs, cell: Cell) -> float:
    limits = inputs.tasks[cell.task].limits
    return float(inputs.shared.budgets.public_test_runs * limits.public_seconds)


def call_seconds(shared: SharedControls, context_tokens: int, speed: Speeds) -> float | None:
    """What one call takes at most: a prompt that fills the context, and a reply of full length."""
    if speed.prompt is None or speed.completion is None:
        return None
    reply = shared.generation.completion_tokens
    return max(0, context_tokens - reply) / speed.prompt + reply / speed.completion


def forecast(
    inputs: Inputs,
    cells: Sequence[Cell],
    speeds: Mapping[str, Speeds | None],
    embedding: Speeds | None,
) -> Iterator[Finding]:
    """The bound in hours, and whether the clocks of the controls fit the speeds."""
    known = {name: speed for name, speed in speeds.items() if speed is not None}
    for name in sorted(set(known) & set(inputs.models)):
        context = inputs.models[name].context_tokens or inputs.shared.generation.context_tokens
        yield _clocks(name, inputs.shared, context, known[name])
    what = "campaign, at most (a bound)"
    if len(known) < len(speeds):
        yield Finding(what, False, _NO_FORECAST, "repair the models first", needed=False)
        return
    seconds = bound(inputs, cells, known, embedding)
    counts = Counter(cell.model for cell in cells)
    shown = ", ".join(f"{count} of {name}" for name, count in sorted(counts.items()))
    found = (
        f"{_hours(seconds.total)} for {len(cells)} cells ({shown}): loads {_hours(seconds.loads)},"
        f" agents {_hours(seconds.agents)}, evaluation {_hours(seconds.evaluation)}; preparation,"
        " repeated attempts and a call under way when the clock ends come on top"
    )
    yield Finding(what, True, found)


def _clocks(name: str, shared: SharedControls, context_tokens: int, speed: Speeds) -> Finding:
    generation, budgets = shared.generation, shared.budgets
    call = call_seconds(shared, context_tokens, speed)
    what = f"{name}: speed, at least"
    if call is None or speed.prompt is None or speed.completion is None:
        found = f"load {speed.load_seconds:.1f} s; tokens a second are not known"
        return Finding(what, False, found, "replies were too short to time, or not counted", needed=False)
    prefill = max(0, context_tokens - generation.completion_tokens) / speed.prompt
    found = (
        f"load {speed.load_seconds:.1f} s, {speed.prompt:.0f} prompt and {speed.completion:.1f} completion"
        f" tokens a second; the largest call takes up to {call:.0f} s of {budgets.agent_clock_seconds}"
    )
    silent = prefill > generation.silence_seconds
    if silent:
        found += f", a full prompt up to {prefill:.0f} s in silence"
    fits = call <= budgets.agent_clock_seconds and not silent
    repair = "cells may end by the clock, or a busy host may be taken for a silent one: try a faster host"
    return Finding(what, fits, found, repair, needed=False)


def _hours(seconds: float) -> str:
    return f"{seconds / 3600:.1f} h"
