"""T6: the fixed list of sensitivity analyses, all of them on all contrasts; none can change a verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from repairlab.analysis.confirmatory import Component, Confirmed, labels
from repairlab.analysis.gate import Gated
from repairlab.analysis.hypotheses import Hypotheses
from repairlab.analysis.pairing import paired
from repairlab.analysis.report.layout import Column, Table, Value, points, points_interval, probability
from repairlab.analysis.statistics import (
    Contrast,
    Interval,
    NotEstimable,
    mcnemar,
    mcnemar_chi_square,
    tarone_holm,
)


class Line(NamedTuple):
    """One analysis of one contrast."""

    analysis: str
    part: str
    difference: Value
    interval: Interval | NotEstimable | None
    p: Value
    note: str = ""


_COLUMNS = (
    Column("contrast", "contrast"),
    Column("first arm", "arm"),
    Column("second arm", "against"),
    Column("analysis", "analysis"),
    Column("part", "part"),
    Column("difference", "difference", points),
    Column("95 % interval", "interval_95", points_interval),
    Column("p", "p", probability),
    Column("note", "note"),
)
Analysis = Callable[[Gated, Component, Hypotheses], Iterator[Line]]


def sensitivity_table(gated: Gated, confirmed: Sequence[Confirmed], hypotheses: Hypotheses) -> Table:
    """Every listed analysis has a line for every difference, estimable or not."""
    shown = labels(gated)
    rows: list[tuple[Value, ...]] = []
    for one in confirmed:
        for component in one.components:
            names = (one.name, shown[component.pair.arm], shown[component.pair.against])
            for analysis in hypotheses.sensitivity.analyses:
                made = _ANALYSES.get(analysis)
                lines = made(gated, component, hypotheses) if made else ()
                rows += [(*names, *line) for line in lines]
    rows += [
        (one.name, shown[one.registered.arm], ", ".join(one.registered.against), *line)
        for one, line in _over_the_family(confirmed)
    ]
    return Table("T6", "Sensitivity analyses: none changes a verdict", _COLUMNS, tuple(rows))


def _mid_p(gated: Gated, component: Component, hypotheses: Hypotheses) -> Iterator[Line]:
    del gated, hypotheses
    result = component.result
    if isinstance(result, Contrast):
        yield Line("mid-p", "all", result.estimate, result.interval95, result.test.mid_p)


def _mcnemar(gated: Gated, component: Component, hypotheses: Hypotheses) -> Iterator[Line]:
    del gated, hypotheses
    for model, pairs in sorted(component.pair.by_model.items()):
        test = mcnemar(pairs.first_alone, pairs.second_alone)
        note = f"{pairs.first_alone} v {pairs.second_alone}"
        yield Line("McNemar, exact", model, None, None, test.p, note)


def _pooled(gated: Gated, component: Component, hypotheses: Hypotheses) -> Iterator[Line]:
    del gated, hypotheses
    tables = component.pair.by_model.values()
    b, c = sum(pairs.first_alone for pairs in tables), sum(pairs.second_alone for pairs in tables)
    note = f"{b} v {c}; takes the models' pairs for independent"
    yield Line("pooled McNemar, exact", "all", None, None, mcnemar(b, c).p, note)
    square = mcnemar_chi_square(b, c)
    p = square if isinstance(square, NotEstimable) else square.p
    yield Line("Cochran-Mantel-Haenszel", "all", None, None, p, note)


def _leave_one_out(gated: Gated, component: Component, hypotheses: Hypotheses) -> Iterator[Line]:
    del hypotheses
    pair, design = component.pair, gated.design
    for stratum in design.stratum_names:
        rest = [task for task, own in design.strata.items() if own != stratum]
        if rest:
            result = paired(gated, pair.arm, pair.against, tasks=rest).result()
            if isinstance(result, Contrast):
                yield Line(
                    "leave one repository out",
                    f"without {stratum}",
                    result.estimate,
                    result.interval95,
                    result.test.p,
                )
    yield from _without_one_task(component)


def _without_one_task(component: Component) -> Iterator[Line]:
    totals, pairs = component.pair.totals, component.pair.pairs
    count, total = len(totals), sum(totals.values())
    if count > 1:
        means = {task: (total - own) / (pairs * (count - 1)) for task, own in totals.items()}
        low, high = min(means.values()), max(means.values())
        note = f"range {points(low)} to {points(high)}"
        yield Line("leave one task out", "all", None, None, None, note)


def _over_the_family(confirmed: Sequence[Confirmed]) -> Iterator[tuple[Confirmed, Line]]:
    made = [one for one in confirmed if not one.impossible]
    least = [
        max(float(c.result.test.least_p) if isinstance(c.result, Contrast) else 1.0 for c in one.components)
        for one in made
    ]
    adjusted = tarone_holm([one.p for one in made], least) if made else ()
    for one, p in zip(made, adjusted, strict=True):
        yield one, Line("Tarone-Holm", "family", None, None, p)
    for one in made:
        yield one, Line("Holm", "family", None, None, one.holm)


_ANALYSES: Mapping[str, Analysis] = {
    "mid-p": _mid_p,
    "mcnemar-per-model": _mcnemar,
    "pooled-mcnemar-and-cmh": _pooled,
    "leave-one-out": _leave_one_out,
}
