"""Conditional logistic regression with an effect for each arm, grouped by task and model.

Every group holds every arm once, so the conditional likelihood is that of the Rasch model with arms as items:
a group's solved arms are one of the subsets of their number, with probability proportional to exp(sum of
their effects). Subsets are enumerated, and the bootstrap over tasks fits all its resamples at once.
Separation, at which a general fitter returns a large number, is found beforehand and said.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from repairlab.analysis.statistics.bootstrap import Floats, resampled_sums
from repairlab.analysis.statistics.outcomes import Outcomes
from repairlab.analysis.statistics.values import Effect, NotEstimable, too_few
from repairlab.contract.errors import BadInput

RESAMPLES = 2_000
_MOST_ARMS = 10
_ITERATIONS = 60
_CONVERGED = 1e-8
_DIVERGED = 12.0
_UNDEFINED_ALLOWED = 0.05


@dataclass(frozen=True, slots=True, eq=False)
class ConditionalLogit:
    """Log odds of each arm, up to a common constant.

    Attributes:
        arms: the arms.
        effects: their effects, the first one's being 0; shape (arms,).
        model_covariance: inverse information, which takes groups for independent; shape (arms, arms).
        resampled: effects in resamples of whole tasks; shape (resamples, arms).
        undefined: resamples without a finite estimate, left out of `resampled`.
    """

    arms: tuple[str, ...]
    effects: Floats
    model_covariance: Floats
    resampled: Floats
    undefined: int

    def difference(self, arm: str, against: str) -> Effect | NotEstimable:
        """Log odds ratio of two arms, with its standard error over tasks.

        Raises:
            BadInput: there is no such arm.
        """
        if arm not in self.arms or against not in self.arms:
            raise BadInput(f"no effect of {arm} or {against}")
        one, two = self.arms.index(arm), self.arms.index(against)
        if self.undefined > _UNDEFINED_ALLOWED * (self.undefined + len(self.resampled)):
            return NotEstimable(f"separated in {self.undefined} resamples")
        spread = self.resampled[:, one] - self.resampled[:, two]
        return Effect(float(self.effects[one] - self.effects[two]), float(spread.std(ddof=1)))


class _Design(NamedTuple):
    """Subsets of arms as rows of zeros and ones, and the size of each."""

    subsets: Floats
    sizes: npt.NDArray[np.int64]


def conditional_logit(
    outcomes: Outcomes, rng: np.random.Generator, resamples: int = RESAMPLES
) -> ConditionalLogit | NotEstimable:
    """Fit all arms; standard errors come from a task bootstrap stratified by repository.

    Raises:
        BadInput: fewer than two arms or more than ten.
    """
    arms = len(outcomes.arms)
    if not 2 <= arms <= _MOST_ARMS:
        raise BadInput(f"conditional logistic regression of {arms} arms; it takes 2 to {_MOST_ARMS}")
    if missing := too_few(len(outcomes.tasks)) or _separated(outcomes):
        return missing
    subsets = np.array(list(product((0.0, 1.0), repeat=arms)))
    design = _Design(subsets, subsets.sum(axis=1).astype(np.int64))
    statistics = _sufficient(outcomes)
    effects, converged = _fit(design, statistics.sum(axis=0)[None, :])
    if not converged[0]:
        return NotEstimable("did not converge")
    _, information = _derivatives(design, effects, statistics.sum(axis=0)[None, :])
    covariance = np.zeros((arms, arms))
    covariance[1:, 1:] = np.linalg.inv(information[0, 1:, 1:])
    sums = resampled_sums(statistics, outcomes.repositories, rng, resamples)
    fitted, kept = _fit(design, sums)
    return ConditionalLogit(outcomes.arms, effects[0], covariance, fitted[kept], int((~kept).sum()))


def _sufficient(outcomes: Outcomes) -> Floats:
    """For each task: solves of each arm in informative groups, then groups by number of solved arms."""
    arms = len(outcomes.arms)
    solved = outcomes.resolved.sum(axis=1)
    telling = (solved > 0) & (solved < arms)
    by_arm = (outcomes.resolved * telling[:, None, :]).sum(axis=2)
    by_size = np.stack([((solved == size) & telling).sum(axis=1) for size in range(arms + 1)], axis=1)
    return np.concatenate([by_arm, by_size], axis=1).astype(np.float64)


def _separated(outcomes: Outcomes) -> NotEstimable | None:
    """Effects are finite exactly where every arm is reached from every one by "solved this, not that"."""
    solved = outcomes.resolved
    reach = np.einsum("tam,tbm->ab", solved, 1 - solved) > 0
    for _ in outcomes.arms:
        reach |= (reach.astype(np.int64) @ reach.astype(np.int64)) > 0
    apart = ~(reach & reach.T)
    np.fill_diagonal(apart, val=False)
    if not apart.any():
        return None
    one, two = (outcomes.arms[place] for place in np.argwhere(apart)[0])
    return NotEstimable(f"separated: no finite odds between {one} and {two}")


def _fit(design: _Design, statistics: Floats) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Newton's method for every row of statistics at once; and which rows converged to finite effects."""
    arms = design.subsets.shape[1]
    effects = np.zeros((len(statistics), arms))
    converged = np.zeros(len(statistics), dtype=bool)
    for _ in range(_ITERATIONS):
        going = ~converged & (np.abs(effects).max(axis=1) < _DIVERGED)
        if not going.any():
            break
        score, information = _derivatives(design, effects[going], statistics[going])
        # A resample without an informative group has no curvature; the ridge keeps its step finite.
        ridge = 1e-9 * np.eye(arms - 1)
        step = np.linalg.solve(information[:, 1:, 1:] + ridge, score[:, 1:, None])[..., 0]
        effects[going, 1:] += np.clip(step, -2, 2)
        converged[going] = (np.abs(step).max(axis=1) < _CONVERGED) & statistics[going, :arms].any(axis=1)
    return effects, converged & (np.abs(effects).max(axis=1) < _DIVERGED)


def _derivatives(design: _Design, effects: Floats, statistics: Floats) -> tuple[Floats, Floats]:
    """Score and information of the conditional likelihood; shapes (rows, arms) and (rows, arms, arms)."""
    arms = design.subsets.shape[1]
    groups = statistics[:, arms:]
    weight = np.exp(effects @ design.subsets.T)
    by_size = np.eye(arms + 1)[design.sizes]
    chance = weight / (weight @ by_size)[:, design.sizes]
    expected = np.einsum("rs,sk,sa->rka", chance, by_size, design.subsets, optimize=True)
    score = statistics[:, :arms] - np.einsum("rk,rka->ra", groups, expected)
    weighted = chance * groups[:, design.sizes]
    second = np.einsum("rs,sa,sb->rab", weighted, design.subsets, design.subsets, optimize=True)
    return score, second - np.einsum("rk,rka,rkb->rab", groups, expected, expected, optimize=True)
