"""T2: the confirmatory contrasts with everything that their verdict rests on, and their discordant pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from repairlab.analysis.confirmatory import Component, Confirmed, labels
from repairlab.analysis.gate import Gated
from repairlab.analysis.hypotheses import Hypotheses
from repairlab.analysis.report.layout import (
    Column,
    Table,
    Value,
    points,
    points_interval,
    probability,
    ratio,
    split,
)
from repairlab.analysis.statistics import Contrast, NotEstimable, WorstCase

_ESTIMATES = (
    Column("contrast", "contrast"),
    Column("first arm", "arm"),
    Column("second arm", "against"),
    Column("tasks", "tasks"),
    Column("first solved", "arm_solved", ratio),
    Column("second solved", "against_solved", ratio),
    Column("tasks +1/-1", "tasks_by_one", split),
    Column("tasks +2/-2 or more", "tasks_by_more", split),
    Column("equal", "tasks_equal"),
    Column("difference", "difference", points),
    Column("95 % interval", "interval_95", points_interval),
    Column("99 % interval", "interval_99", points_interval),
    Column("exact p", "p", probability),
    Column("least p", "least_p", probability),
)
_BOUNDS = (
    Column("without outcome", "missing_tried", split),
    Column("missing pairs", "missing_pairs"),
    Column("bounds", "bounds", str),
    Column("worst-case p", "worst_p", probability),
)
_DECISIONS = (
    Column("contrast", "contrast"),
    Column("question", "question"),
    Column("exact p", "p", probability),
    Column("graph-adjusted p", "adjusted_p", probability),
    Column("Holm p", "holm_p", probability),
    Column("verdict", "verdict"),
)


def estimates_table(gated: Gated, confirmed: Sequence[Confirmed]) -> Table:
    """T2, first half: one line for each difference of two arms; several for an intersection."""
    columns = _ESTIMATES + (_BOUNDS if gated.missing else ())
    shown = labels(gated)
    rows: list[tuple[Value, ...]] = []
    for one in confirmed:
        for component in one.components:
            estimate = estimate_row(component, shown)
            rows.append((one.name, *estimate, *(_bounds(gated, component) if gated.missing else ())))
    notes = [f"{one.name} {one.impossible}" for one in confirmed if one.impossible]
    notes += [
        "difference, intervals, bounds: points, first arm minus second, mean over tasks and models",
        "intervals are task-clustered score intervals, not adjusted; 99 % is Bonferroni's over five",
        "least p: the smallest that so many discordant tasks can give",
    ]
    if gated.missing:
        notes.append(f"{gated.stamp}: tasks complete in both arms and all models; bounds over all planned")
    return Table("T2a", "Confirmatory contrasts: estimates", columns, tuple(rows), tuple(notes))


def estimate_row(component: Component, shown: Mapping[str, str]) -> tuple[Value, ...]:
    """The values of `_ESTIMATES` behind the contrast's name."""
    pair, result = component.pair, component.result
    arms = (shown[pair.arm], shown[pair.against])
    if isinstance(result, NotEstimable):
        return (*arms, 0, None, None, None, None, None, *(result,) * 5)
    sides = (result.better, result.worse)
    more = [sum(count for size, count in side.items() if size > 1) for side in sides]
    return (
        *arms,
        result.tasks,
        (pair.first, pair.cells),
        (pair.second, pair.cells),
        (result.better.get(1, 0), result.worse.get(1, 0)),
        (more[0], more[1]),
        result.test.zeros,
        result.estimate,
        result.interval95,
        result.interval99,
        result.test.p,
        result.test.least_p,
    )


def _bounds(gated: Gated, component: Component) -> tuple[Value, ...]:
    bounds: WorstCase = component.bounds
    arms = (component.pair.arm, component.pair.against)
    tried = [sum(key.arm == arm for key in gated.infrastructure) for arm in arms]
    return (
        (tried[0], tried[1]),
        bounds.missing,
        f"{points(bounds.low)} to {points(bounds.high)}",
        bounds.p,
    )


def decisions_table(confirmed: Sequence[Confirmed], hypotheses: Hypotheses) -> Table:
    """T2, second half: the word of each registered contrast and the p that it follows."""
    rows = tuple(
        (
            one.name,
            one.registered.question,
            None if one.impossible else one.p,
            None if one.impossible else one.adjusted,
            None if one.impossible else one.holm,
            one.impossible or _word(one),
        )
        for one in confirmed
    )
    decision = hypotheses.decision
    margin = 100 * decision.smallest_effect_of_interest
    notes = [
        f"verdicts follow the graph-adjusted exact p at {decision.alpha:g}, two-sided; Holm decides nothing",
        f"practically equivalent: the 90 % interval within {margin:g} points",
        "a contrast against several arms is an intersection-union test: its p is the largest of theirs",
        "inconclusive is no evidence of equality",
    ]
    if any(one.impossible for one in confirmed):
        notes.append("a contrast that cannot be made keeps its node in the graph, with p = 1")
    return Table("T2b", "Confirmatory contrasts: verdicts", _DECISIONS, rows, tuple(notes))


def _word(one: Confirmed) -> str:
    if one.verdict is None:
        return one.impossible
    reason = " (missing cells could change it)" if one.capped else ""
    if one.registered.expected == "none" and one.verdict.value == "different":
        result = one.components[0].result
        if isinstance(result, Contrast):
            better = one.components[0].pair.arm if result.estimate > 0 else one.components[0].pair.against
            reason = f" ({better} solves more)"
    return one.verdict.value + reason


def discordance_table(gated: Gated, confirmed: Sequence[Confirmed]) -> Table:
    """T4: pairs of each model by who solved them."""
    shown = labels(gated)
    columns = tuple(
        Column(heading, name)
        for heading, name in (
            ("contrast", "contrast"),
            ("first arm", "arm"),
            ("second arm", "against"),
            ("model", "model"),
            ("first alone", "first_alone"),
            ("second alone", "second_alone"),
            ("both", "both"),
            ("neither", "neither"),
            ("missing", "missing"),
        )
    )
    rows = tuple(
        (
            one.name,
            shown[component.pair.arm],
            shown[component.pair.against],
            model,
            pairs.first_alone,
            pairs.second_alone,
            pairs.both,
            pairs.neither,
            pairs.missing,
        )
        for one in confirmed
        for component in one.components
        for model, pairs in sorted(component.pair.by_model.items())
    )
    return Table("T4", "Discordant pairs by model", columns, rows)
