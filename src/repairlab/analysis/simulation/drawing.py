"""Which outcomes a simulated experiment has: a latent probit model, as in the power calculations of the plan.

``Y = 1`` exactly when ``u + g + h + e`` lies below the normal quantile of the arm's rate, with independent
normal parts: u of the task, g of task and arm (shared by the models), h of task and model, e of the rest. The
shares of variance sum to 1, so each arm has its rate exactly, in expectation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from repairlab.contract.errors import BadInput
from repairlab.manifest.cell import Cell


class Shares(NamedTuple):
    """Shares of the latent variance; the default is the plan's middle setting."""

    task: float = 0.55
    task_by_arm: float = 0.05
    task_by_model: float = 0.15
    rest: float = 0.25


@dataclass(frozen=True, slots=True)
class Scenario:
    """What is drawn."""

    seed: int
    base: float = 0.25
    """Rate of every arm without an effect of its own."""
    effects: Mapping[str, float] = field(default_factory=dict)
    """Difference of an arm's rate from `base`."""
    shares: Shares = field(default_factory=Shares)
    missing: int = 0
    """Cells, drawn at random, that are never tried."""
    blocked: int = 0
    """Cells, drawn at random, whose every attempt ends by an infrastructure failure."""
    failing: Mapping[str, float] = field(default_factory=dict)
    """Share of an arm's sealed cells that had one failed attempt before."""
    stop_after: int | None = None
    """Cells of the frozen order that were reached; ``None`` for all."""


class Drawn(NamedTuple):
    """What becomes of one cell."""

    resolved: int | None
    """``None``: no record."""
    failed_attempts: int


def draw(scenario: Scenario, cells: Sequence[Cell], attempts_allowed: int) -> tuple[Drawn, ...]:
    """One result for each cell, in order. The same scenario and cells give the same results.

    Raises:
        BadInput: an effect leads out of the range of a rate, or names an arm that is not there.
    """
    arms = sorted({cell.treatment for cell in cells})
    for arm in (*scenario.effects, *scenario.failing):
        if arm not in arms:
            raise BadInput(f"the arm {arm!r} is not in the simulated experiment ({', '.join(arms)})")
    resolved = _outcomes(scenario, cells, arms)
    generator = np.random.Generator(np.random.PCG64([scenario.seed, 1]))
    shuffled = generator.permutation(len(cells))
    missing = set(shuffled[: scenario.missing].tolist())
    blocked = set(shuffled[scenario.missing : scenario.missing + scenario.blocked].tolist())
    retried = generator.random(len(cells))
    reached = len(cells) if scenario.stop_after is None else scenario.stop_after
    drawn = []
    for index, cell in enumerate(cells):
        if index >= reached or index in missing:
            drawn.append(Drawn(None, 0))
        elif index in blocked:
            drawn.append(Drawn(None, attempts_allowed))
        else:
            failed = int(retried[index] < scenario.failing.get(cell.treatment, 0.0))
            drawn.append(Drawn(int(resolved[index]), failed))
    return tuple(drawn)


def _outcomes(scenario: Scenario, cells: Sequence[Cell], arms: Sequence[str]) -> list[bool]:
    tasks = sorted({cell.task for cell in cells})
    models = sorted({cell.model for cell in cells})
    generator = np.random.Generator(np.random.PCG64([scenario.seed, 0]))
    u = generator.standard_normal(len(tasks))
    g = generator.standard_normal((len(tasks), len(arms)))
    h = generator.standard_normal((len(tasks), len(models)))
    e = generator.standard_normal(len(cells))
    place = {name: index for index, name in enumerate(tasks)}
    t = np.array([place[cell.task] for cell in cells])
    a = np.array([arms.index(cell.treatment) for cell in cells])
    m = np.array([models.index(cell.model) for cell in cells])
    shares = scenario.shares
    latent = (
        np.sqrt(shares.task) * u[t]
        + np.sqrt(shares.task_by_arm) * g[t, a]
        + np.sqrt(shares.task_by_model) * h[t, m]
        + np.sqrt(shares.rest) * e
    )
    cuts = np.array([_cut(scenario.base + scenario.effects.get(arm, 0.0), arm) for arm in arms])
    return list((latent < cuts[a]).tolist())


def _cut(rate: float, arm: str) -> float:
    if not 0 < rate < 1:
        raise BadInput(f"the simulated rate of {arm} is {rate:g}; it must lie between 0 and 1")
    return NormalDist().inv_cdf(rate)
