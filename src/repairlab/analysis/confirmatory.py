"""The confirmatory family: exact tests, the registered graph, and a verdict for each contrast."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from repairlab.analysis.gate import Gated, require_gated
from repairlab.analysis.hypotheses import Hypotheses, Registered
from repairlab.analysis.pairing import Paired, paired
from repairlab.analysis.statistics import (
    Contrast,
    Interval,
    NotEstimable,
    Verdict,
    WorstCase,
    graph_test,
    holm,
    intersection_union,
    verdict,
)
from repairlab.contract.errors import BadInput


@dataclass(frozen=True, slots=True)
class Component:
    """One difference of two arms: a whole plain contrast, or one of those that an intersection joins."""

    pair: Paired
    result: Contrast | NotEstimable
    bounds: WorstCase


@dataclass(frozen=True, slots=True)
class Confirmed:
    """One registered contrast.

    Attributes:
        name: such as ``C1``.
        registered: as it stands in the hypotheses.
        impossible: why it cannot be made with these arms; empty where it can. Its p counts as 1 in the graph,
            which keeps all its nodes.
        components: one, or several of an intersection-union test.
        p: exact p; of an intersection the largest, or 1 where an estimate is not positive.
        adjusted: adjusted by the registered graph.
        holm: adjusted by Holm; decides nothing.
        worst: `adjusted` with every missing pair against the observed direction; `adjusted` when complete.
        verdict: the word, or ``None`` where the contrast cannot be made.
        capped: the word would be another one, but cells are missing.
    """

    name: str
    registered: Registered
    impossible: str
    components: tuple[Component, ...]
    p: float
    adjusted: float
    holm: float
    worst: float
    verdict: Verdict | None
    capped: bool


def confirmatory(
    gated: Gated, hypotheses: Hypotheses, without: Collection[str] = ()
) -> tuple[Confirmed, ...]:
    """Every registered contrast, in the order of the hypotheses; none is ever left out.

    Args:
        gated: outcomes that passed the gate.
        hypotheses: as registered.
        without: tasks to leave out. The result is then a labelled sensitivity and no confirmatory one.

    Raises:
        BadInput: a task to leave out is not planned, or none is left.
    """
    require_gated(gated)
    contrasts, alpha = hypotheses.contrasts, hypotheses.decision.alpha
    tasks = _kept(gated, without)
    components = {name: _components(gated, one, tasks) for name, one in contrasts.items()}
    p_values = [_p(components[name]) for name in contrasts]
    worst_values = [_worst_p(components[name]) for name in contrasts]
    graph = hypotheses.registered_graph()
    adjusted = graph_test(graph, p_values, alpha).adjusted
    worst = graph_test(graph, worst_values, alpha).adjusted if gated.missing else adjusted
    by_holm = holm(p_values)
    found = []
    for number, (name, registered) in enumerate(contrasts.items()):
        own = components[name]
        word = _word(own, adjusted[number], registered, hypotheses)
        capped = bool(gated.missing and word not in (None, Verdict.INCONCLUSIVE) and worst[number] > alpha)
        found.append(
            Confirmed(
                name=name,
                registered=registered,
                impossible=_impossible(gated, registered),
                components=own,
                p=p_values[number],
                adjusted=adjusted[number],
                holm=by_holm[number],
                worst=worst[number],
                verdict=Verdict.INCONCLUSIVE if capped else word,
                capped=capped,
            )
        )
    return tuple(found)


def _impossible(gated: Gated, registered: Registered) -> str:
    absent = [arm for arm in registered.arms if arm not in gated.design.arms]
    return f"cannot be made: {', '.join(absent)} not in this experiment" if absent else ""


def _kept(gated: Gated, without: Collection[str]) -> tuple[str, ...]:
    unknown = sorted(set(without) - gated.design.strata.keys())
    if unknown:
        raise BadInput(f"{unknown[0]} is no task of {gated.provenance.experiment}")
    kept = tuple(task for task in gated.design.strata if task not in without)
    if not kept:
        raise BadInput("no task is left")
    return kept


def _components(gated: Gated, registered: Registered, tasks: Collection[str]) -> tuple[Component, ...]:
    if _impossible(gated, registered):
        return ()
    pairs = [paired(gated, registered.arm, against, tasks=tasks) for against in registered.against]
    return tuple(Component(pair, pair.result(), pair.bounds()) for pair in pairs)


def _p(components: tuple[Component, ...]) -> float:
    results = [one.result for one in components if isinstance(one.result, Contrast)]
    if not results or len(results) < len(components):
        return 1.0
    p_values = [float(result.test.p) for result in results]
    if len(results) == 1:
        return p_values[0]
    return intersection_union([float(result.estimate) for result in results], p_values)


def _worst_p(components: tuple[Component, ...]) -> float:
    """`WorstCase.p` is 1 already where the missing pairs could turn the direction of all that is known.

    The estimate is over complete tasks alone: where it has another direction, nothing holds at the worst.
    """
    if not components:
        return 1.0
    for one in components:
        middle = one.bounds.low + one.bounds.high
        if not isinstance(one.result, Contrast) or middle * one.result.estimate <= 0:
            return 1.0
    several = len(components) > 1
    if several and any(one.bounds.low <= 0 for one in components):
        return 1.0
    return max(float(one.bounds.p) for one in components)


def _word(
    components: tuple[Component, ...], adjusted: float, registered: Registered, hypotheses: Hypotheses
) -> Verdict | None:
    results = [one.result for one in components if isinstance(one.result, Contrast)]
    if not results or len(results) < len(components):
        return None if not components else Verdict.INCONCLUSIVE
    return verdict(
        adjusted,
        min(float(result.estimate) for result in results),
        _hull([result.interval90 for result in results]),
        expected=registered.expected,
        sesoi=hypotheses.decision.smallest_effect_of_interest,
        alpha=hypotheses.decision.alpha,
    )


def _hull(intervals: list[Interval | NotEstimable]) -> Interval | NotEstimable:
    """Of an intersection: equivalence is said only where it holds for every component."""
    known = [interval for interval in intervals if isinstance(interval, Interval)]
    if len(known) < len(intervals):
        return next(interval for interval in intervals if isinstance(interval, NotEstimable))
    return Interval(min(i.low for i in known), max(i.high for i in known), known[0].level)


def labels(gated: Gated) -> Mapping[str, str]:
    """Each arm as it is shown anywhere: with its label, where it has one."""
    return {arm: f"{arm} ({label})" if label else arm for arm, label in gated.design.labels.items()}
