"""The registered sensitivity table: a fixed list of analyses beside the primary one, for every contrast."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from repairlab.analysis.statistics.bootstrap import (
    RESAMPLES,
    percentile_interval,
    resampled_sums,
    two_sided_p,
)
from repairlab.analysis.statistics.conditional_logit import conditional_logit
from repairlab.analysis.statistics.mcnemar import mcnemar, mcnemar_chi_square
from repairlab.analysis.statistics.multiplicity import tarone_holm
from repairlab.analysis.statistics.outcomes import Outcomes
from repairlab.analysis.statistics.regressions import marginal_model, mixed_model
from repairlab.analysis.statistics.signflip import sign_flip
from repairlab.analysis.statistics.values import Effect, Interval, NotEstimable, normal_quantile, too_few
from repairlab.analysis.statistics.verdicts import intersection_union

DIFFERENCE = "difference of proportions"
LOG_ODDS = "log odds ratio"


class Comparison(NamedTuple):
    """A contrast of the family: an arm against another, or against each of several."""

    name: str
    arm: str
    against: tuple[str, ...]


class Finding(NamedTuple):
    """What one analysis says of one pair of arms."""

    estimate: float
    p: float
    interval: Interval | NotEstimable | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class SensitivityRow:
    """One analysis of one contrast.

    Attributes:
        analysis: registered name, such as "mid-p".
        scope: which part of it: a model, a test, what was left out; empty where it is one thing.
        contrast: name of the contrast.
        scale: what the estimate is.
        estimate: the estimate; of an intersection-union contrast the smallest of its components.
        p: its p; of an intersection-union contrast the largest, or 1 where an estimate is not positive. None
            where the analysis has none.
        interval: where the analysis has one, and the contrast a single component.
        note: counts, or what was left out.
    """

    analysis: str
    scope: str
    contrast: str
    scale: str
    estimate: float | NotEstimable
    p: float | NotEstimable | None
    interval: Interval | NotEstimable | None
    note: str


Analysis = Callable[[str, str], Finding | NotEstimable]


class _Label(NamedTuple):
    """Registered name of an analysis, and which part of it."""

    analysis: str
    scope: str = ""


class Fitted(Protocol):
    """A model of all arms at once."""

    def difference(self, arm: str, against: str) -> Effect | NotEstimable:
        """The contrast of two arms."""
        ...


def sensitivity(
    outcomes: Outcomes, family: Sequence[Comparison], seed: int, resamples: int = RESAMPLES
) -> list[SensitivityRow]:
    """Every registered sensitivity analysis of every contrast, in the registered order.

    Args:
        outcomes: the complete matrix; all its arms enter the joint models.
        family: the confirmatory family, in its order.
        seed: of the bootstraps (PCG64), each of which starts from it anew.
        resamples: of the task bootstrap.
    """
    rows = []
    for label, scale, analysis in _analyses(outcomes, seed, resamples):
        rows += [_row(label, scale, comparison, analysis) for comparison in family]
    for comparison in family:
        rows += _left_out(outcomes, comparison)
    return rows + _tarone(outcomes, family)


def _analyses(outcomes: Outcomes, seed: int, resamples: int) -> list[tuple[_Label, str, Analysis]]:
    def generator() -> np.random.Generator:
        return np.random.Generator(np.random.PCG64(seed))

    per_model: list[tuple[_Label, str, Analysis]] = [
        (_Label("mcnemar-per-model", model), DIFFERENCE, _per_model(outcomes, model))
        for model in outcomes.models
    ]
    logit = conditional_logit(outcomes, generator())
    gee, glmm = marginal_model(outcomes), mixed_model(outcomes)

    def bootstrapped(arm: str, against: str) -> Finding | NotEstimable:
        return _bootstrap(outcomes, arm, against, generator(), resamples)

    return [
        (_Label("mid-p"), DIFFERENCE, lambda a, b: _mid_p(outcomes, a, b)),
        *per_model,
        (_Label("pooled-mcnemar-and-cmh", "exact"), DIFFERENCE, lambda a, b: _pooled(outcomes, a, b)),
        (_Label("pooled-mcnemar-and-cmh", "cmh"), DIFFERENCE, lambda a, b: _cmh(outcomes, a, b)),
        (_Label("conditional-logit"), LOG_ODDS, lambda a, b: _wald(logit, a, b)),
        (_Label("gee-bias-reduced"), DIFFERENCE, lambda a, b: _wald(gee, a, b)),
        (
            _Label("task-bootstrap"),
            DIFFERENCE,
            bootstrapped,
        ),
        (_Label("glmm"), LOG_ODDS, lambda a, b: _wald(glmm, a, b)),
    ]


def _row(label: _Label, scale: str, comparison: Comparison, analysis: Analysis) -> SensitivityRow:
    findings = [analysis(comparison.arm, other) for other in comparison.against]
    known = [finding for finding in findings if isinstance(finding, Finding)]
    if len(known) < len(findings):
        reason = next(finding for finding in findings if isinstance(finding, NotEstimable))
        return SensitivityRow(*label, comparison.name, scale, reason, reason, None, "")
    if len(known) == 1:
        (one,) = known
        return SensitivityRow(*label, comparison.name, scale, one.estimate, one.p, one.interval, one.note)
    p = intersection_union([one.estimate for one in known], [one.p for one in known])
    notes = [f"{other}: {one.note}" for other, one in zip(comparison.against, known, strict=True) if one.note]
    least = min(one.estimate for one in known)
    return SensitivityRow(*label, comparison.name, scale, least, p, None, "; ".join(notes))


def _mid_p(outcomes: Outcomes, arm: str, against: str) -> Finding:
    test = sign_flip(outcomes.totals(arm, against))
    return Finding(_delta(outcomes, arm, against), float(test.mid_p))


def _per_model(outcomes: Outcomes, model: str) -> Analysis:
    def analysis(arm: str, against: str) -> Finding:
        b, c = outcomes.discordant(arm, against, model)
        return Finding((b - c) / len(outcomes.tasks), float(mcnemar(b, c).p), note=f"{b} vs {c}")

    return analysis


def _pooled(outcomes: Outcomes, arm: str, against: str) -> Finding:
    b, c = outcomes.discordant(arm, against)
    return Finding(_delta(outcomes, arm, against), float(mcnemar(b, c).p), note=f"{b} vs {c}")


def _cmh(outcomes: Outcomes, arm: str, against: str) -> Finding | NotEstimable:
    test = mcnemar_chi_square(*outcomes.discordant(arm, against))
    if isinstance(test, NotEstimable):
        return test
    return Finding(_delta(outcomes, arm, against), test.p, note=f"chi-square {test.statistic:.3f}")


def _wald(model: Fitted | NotEstimable, arm: str, against: str) -> Finding | NotEstimable:
    """A Wald test of a fitted contrast, two-sided."""
    found = model if isinstance(model, NotEstimable) else model.difference(arm, against)
    if isinstance(found, NotEstimable):
        return found
    estimate, error = found
    if error == 0:
        return NotEstimable("no standard error")
    half = normal_quantile(0.95) * error
    p = math.erfc(abs(estimate) / error / math.sqrt(2))
    return Finding(estimate, p, Interval(estimate - half, estimate + half, 0.95))


def _bootstrap(
    outcomes: Outcomes, arm: str, against: str, rng: np.random.Generator, resamples: int
) -> Finding | NotEstimable:
    if missing := too_few(len(outcomes.tasks)):
        return missing
    totals = outcomes.totals(arm, against)
    pairs = len(outcomes.tasks) * len(outcomes.models)
    sums = resampled_sums(totals, outcomes.repositories, rng, resamples)[:, 0] / pairs
    return Finding(sum(totals) / pairs, two_sided_p(sums), percentile_interval(sums).interval)


def _left_out(outcomes: Outcomes, comparison: Comparison) -> list[SensitivityRow]:
    """The difference without each repository, and the range over leaving out each task."""
    rows = []
    for other in comparison.against:
        totals = np.array(outcomes.totals(comparison.arm, other))
        models, name = len(outcomes.models), comparison.name
        if len(comparison.against) > 1:
            name = f"{name} ({other})"
        for repository in sorted(set(outcomes.repositories)):
            kept = totals[[place != repository for place in outcomes.repositories]]
            label, note = _Label("leave-one-out", repository), f"{len(kept)} tasks left"
            if not len(kept):
                none = NotEstimable("no data")
                rows.append(SensitivityRow(*label, name, DIFFERENCE, none, none, None, note))
                continue
            p = float(sign_flip([int(total) for total in kept]).p)
            rows.append(SensitivityRow(*label, name, DIFFERENCE, float(kept.mean()) / models, p, None, note))
        rows.append(_one_task_out(totals, models, name))
    return rows


def _one_task_out(totals: npt.NDArray[np.int64], models: int, name: str) -> SensitivityRow:
    label, tasks = _Label("leave-one-out", "each task"), len(totals)
    if missing := too_few(tasks):
        return SensitivityRow(*label, name, DIFFERENCE, missing, None, None, "")
    without = (totals.sum() - totals) / (models * (tasks - 1))
    change = float(np.abs(without - totals.mean() / models).max())
    note = f"largest change; range {without.min():+.4f} to {without.max():+.4f}"
    return SensitivityRow(*label, name, DIFFERENCE, change, None, None, note)


def _tarone(outcomes: Outcomes, family: Sequence[Comparison]) -> list[SensitivityRow]:
    raw, least, estimates = [], [], []
    for comparison in family:
        tests = [sign_flip(outcomes.totals(comparison.arm, other)) for other in comparison.against]
        deltas = [_delta(outcomes, comparison.arm, other) for other in comparison.against]
        several = len(tests) > 1
        p_values = [float(test.p) for test in tests]
        raw.append(intersection_union(deltas, p_values) if several else p_values[0])
        least.append(max(float(test.least_p) for test in tests))
        estimates.append(min(deltas))
    adjusted = tarone_holm(raw, least)
    return [
        SensitivityRow("tarone-holm", "", c.name, DIFFERENCE, estimate, p, None, f"least p {floor:.2g}")
        for c, estimate, p, floor in zip(family, estimates, adjusted, least, strict=True)
    ]


def _delta(outcomes: Outcomes, arm: str, against: str) -> float:
    totals = outcomes.totals(arm, against)
    return sum(totals) / (len(totals) * len(outcomes.models))
