"""Exploratory contrasts: estimates with unadjusted intervals and a false-discovery rate, no verdict words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from repairlab.analysis.gate import Gated, require_gated
from repairlab.analysis.hypotheses import Hypotheses
from repairlab.analysis.pairing import Paired, paired
from repairlab.analysis.statistics import (
    ChiSquare,
    Contrast,
    NotEstimable,
    SignFlip,
    benjamini_hochberg,
    cochran_q,
    sign_flip,
)


@dataclass(frozen=True, slots=True)
class Explored:
    """One exploratory line.

    Attributes:
        arm, against: the two arms; `against` is empty in an omnibus line.
        part: which cells: ``all``, a model, a repository, a language, or ``interaction`` with two models.
        pair: the pairs, or ``None`` where the contrast cannot be made.
        result: estimate and intervals; of an interaction the sign-flip test of the difference of differences.
        p, q: exact p and Benjamini-Hochberg's q over all lines with a p.
        impossible: why it cannot be made; empty where it can.
    """

    arm: str
    against: str
    part: str
    pair: Paired | None
    result: Contrast | SignFlip | ChiSquare | NotEstimable | None
    p: float | None
    q: float | None
    impossible: str = ""


def exploratory(gated: Gated, hypotheses: Hypotheses) -> tuple[Explored, ...]:
    """Every registered exploratory line, with q over those that have a p."""
    require_gated(gated)
    lines = list(_lines(gated, hypotheses))
    known = [line.p for line in lines if line.p is not None]
    q_values = iter(benjamini_hochberg(known))
    return tuple(
        Explored(
            line.arm, line.against, line.part, line.pair, line.result, line.p,
            None if line.p is None else next(q_values), line.impossible,
        )
        for line in lines
    )  # fmt: skip


def _lines(gated: Gated, hypotheses: Hypotheses) -> Iterator[Explored]:
    listed = [(pair.arm, pair.against) for pair in hypotheses.exploratory.contrasts]
    family = [(one.arm, arm) for one in hypotheses.contrasts.values() for arm in one.against]
    for arm, against in listed:
        yield from _line(gated, arm, against, "all")
    for arm, against in dict.fromkeys([*family, *listed]):
        if arm in gated.design.arms and against in gated.design.arms:
            for part, models, tasks in _parts(gated, hypotheses):
                yield from _line(gated, arm, against, part, models, tasks)
            if "model" in hypotheses.exploratory.interactions:
                yield _interaction(gated, arm, against)
    for model in gated.design.models:
        yield _omnibus(gated, model)
    if "issue-after-cutoff" in hypotheses.exploratory.splits:
        reason = "cannot be made: the tasks record no date of their issue, the models no cut-off"
        yield Explored("", "", "issue date against cut-off", None, None, None, None, reason)


def _line(
    gated: Gated,
    arm: str,
    against: str,
    part: str,
    models: tuple[str, ...] | None = None,
    tasks: tuple[str, ...] | None = None,
) -> Iterator[Explored]:
    absent = [name for name in (arm, against) if name not in gated.design.arms]
    if absent:
        reason = f"cannot be made: {', '.join(absent)} not in this experiment"
        yield Explored(arm, against, part, None, None, None, None, reason)
        return
    pair = paired(gated, arm, against, models=models, tasks=tasks)
    result = pair.result()
    p = float(result.test.p) if isinstance(result, Contrast) else None
    yield Explored(arm, against, part, pair, result, p, None)


def _parts(
    gated: Gated, hypotheses: Hypotheses
) -> Iterator[tuple[str, tuple[str, ...] | None, tuple[str, ...] | None]]:
    design, splits = gated.design, hypotheses.exploratory.splits
    if "model" in splits:
        for model in design.models:
            yield model, (model,), None
    if "repository" in splits:
        for stratum in design.stratum_names:
            yield stratum, None, tuple(task for task, own in design.strata.items() if own == stratum)
    if "language" in splits and gated.frames:
        facts = gated.frames.plan.tasks
        for language in sorted({one.language for one in facts.values()}):
            yield language, None, tuple(task for task, one in facts.items() if one.language == language)


def _interaction(gated: Gated, arm: str, against: str) -> Explored:
    """Sign-flip over tasks of the first model's difference minus the second's."""
    if len(gated.design.models) != 2:
        reason = "cannot be made: an interaction is taken of two models"
        return Explored(arm, against, "interaction of models", None, None, None, None, reason)
    first, second = sorted(gated.design.models)
    one, other = (paired(gated, arm, against, models=(model,)) for model in (first, second))
    tasks = [task for task in one.totals if task in other.totals]
    part = f"interaction {first} - {second}"
    if not tasks:
        return Explored(arm, against, part, None, NotEstimable("no data"), None, None)
    test = sign_flip([one.totals[task] - other.totals[task] for task in tasks])
    return Explored(arm, against, part, None, test, float(test.p), None)


def _omnibus(gated: Gated, model: str) -> Explored:
    """Cochran's Q of one model over all arms, on the tasks that are complete in every arm."""
    design = gated.design
    rows: dict[tuple[str, str], list[int | None]] = {}
    for key in sorted(design.planned):
        if key.model == model:
            rows.setdefault((key.task, key.draw), []).append(gated.resolved.get(key))
    known = [[one for one in row if one is not None] for row in rows.values() if None not in row]
    if len({draw for _, draw in rows}) > 1 or len(design.arms) < 2 or not known:
        reason = "cannot be made: Cochran's Q takes one draw of two or more arms"
        return Explored("", "", f"Cochran's Q {model}", None, None, None, None, reason)
    test = cochran_q(known)
    p = None if isinstance(test, NotEstimable) else test.p
    return Explored("", "", f"Cochran's Q {model}", None, test, p, None)
