"""The whole report: head, tables, JSON. Everything carries the stamp of an incomplete analysis."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TypeAlias

from repairlab.analysis.confirmatory import Confirmed, confirmatory
from repairlab.analysis.exploratory import exploratory
from repairlab.analysis.gate import Gated, require_gated
from repairlab.analysis.hypotheses import Hypotheses
from repairlab.analysis.report.costing import cost_ratio_table, cost_table
from repairlab.analysis.report.exploring import exploratory_table
from repairlab.analysis.report.flow import flow
from repairlab.analysis.report.gap import gap_table
from repairlab.analysis.report.layout import Table, markdown
from repairlab.analysis.report.localising import localisation_table
from repairlab.analysis.report.rate_table import rate_table
from repairlab.analysis.report.reliability_tables import agreement_table, draws_table
from repairlab.analysis.report.scoring import score_table
from repairlab.analysis.report.sensitivity import sensitivity_table
from repairlab.analysis.report.verdicts import decisions_table, discordance_table, estimates_table
from repairlab.contract.canonical import Json
from repairlab.contract.errors import BadInput
from repairlab.manifest.deviations import Entry
from repairlab.store.blinding import Look

_BANNERS = {
    "simulation": "SIMULATED: outcomes were drawn by a random generator, no agent ran; these are no results",
    "calibration": "calibration: models are programs of known behaviour; figures check the plumbing alone",
    "trial": "trial outside the study: these figures show that the path holds and are no results",
}


@dataclass(frozen=True, slots=True)
class Report:
    """A report that can be printed, written as a page, or read by a program."""

    head: tuple[str, ...]
    stamp: str
    banner: str
    tables: tuple[Table, ...]
    facts: Json

    def titled(self, table: Table) -> str:
        """A table's title as it is printed: with every mark that the reader must see beside it."""
        marks = [mark for mark in (self.stamp, self.banner.split(":", maxsplit=1)[0]) if mark]
        return " - ".join([f"{table.name} {table.title}", *marks])

    def page(self) -> str:
        """The report as a Markdown page."""
        marked = [
            Table(
                table.name,
                self.titled(table).removeprefix(f"{table.name} "),
                table.columns,
                table.rows,
                table.notes,
            )
            for table in self.tables
        ]
        return markdown(marked, [f"# {self.head[0]}", "", *(f"- {line}" for line in self.head[1:])])

    def json(self) -> Json:
        """Everything unrounded."""
        tables = {
            table.name: {**_mapping(table.json()), "stamp": self.stamp, "banner": self.banner}
            for table in self.tables
        }
        return {**_mapping(self.facts), "tables": tables}


def _mapping(value: Json) -> dict[str, Json]:
    if not isinstance(value, dict):
        raise AssertionError("a table is an object")  # noqa: TRY004  # an invariant of ours
    return value


def assemble(
    gated: Gated,
    hypotheses: Hypotheses,
    deviations: Sequence[Entry] = (),
    looks: Sequence[Look] = (),
    only: Collection[str] = (),
    without: Collection[str] = (),
) -> Report:
    """Compute tables from gated outcomes.

    Args:
        gated: outcomes that passed the gate.
        hypotheses: as registered.
        deviations: the log's entries on this experiment.
        looks: everyone who saw outcomes before.
        without: tasks that a further, labelled table leaves out: a task found broken stays in all others.
        only: names of the tables wanted, ``T1`` to ``T11``; all by default.

    Raises:
        BadInput: a table of that name does not exist here.
    """
    require_gated(gated)
    apart = gated.provenance.design == "reliability"
    makers = _apart(gated, hypotheses) if apart else _contrasting(gated, hypotheses)
    unknown = [name for name in only if name not in makers]
    if unknown:
        raise BadInput(f"there is no table {unknown[0]} here (there are {', '.join(makers)})")
    wanted = [maker for name, maker in makers.items() if not only or name in only]
    tables = tuple(table for maker in wanted for table in maker())
    if without and not apart:
        tables += _without(gated, hypotheses, without)
    return _report(gated, tables, deviations, looks, *((_APART,) if apart else ()))


Makers: TypeAlias = dict[str, Callable[[], tuple[Table, ...]]]


def _without(gated: Gated, hypotheses: Hypotheses, tasks: Collection[str]) -> tuple[Table, ...]:
    confirmed = confirmatory(gated, hypotheses, tasks)
    label = f"SENSITIVITY without {', '.join(sorted(tasks))}"
    tables = (estimates_table(gated, confirmed), decisions_table(confirmed, hypotheses))
    return tuple(replace(one, name=f"S{one.name}", title=f"{label}: {one.title}") for one in tables)


def _apart(gated: Gated, hypotheses: Hypotheses) -> Makers:
    return {
        "T1": lambda: (flow(gated),),
        "T3": lambda: (rate_table(gated),),
        "R1": lambda: (draws_table(gated),),
        "R2": lambda: (agreement_table(gated, hypotheses),),
    }


def _contrasting(gated: Gated, hypotheses: Hypotheses) -> Makers:
    @cache
    def confirmed() -> tuple[Confirmed, ...]:
        return confirmatory(gated, hypotheses)

    return {
        "T1": lambda: (flow(gated),),
        "T2": lambda: (estimates_table(gated, confirmed()), decisions_table(confirmed(), hypotheses)),
        "T3": lambda: (rate_table(gated),),
        "T4": lambda: (discordance_table(gated, confirmed()),),
        "T5": lambda: (exploratory_table(gated, exploratory(gated, hypotheses)),),
        "T6": lambda: (sensitivity_table(gated, confirmed(), hypotheses),),
        "T7": lambda: (gap_table(gated, confirmed()),),
        "T8": lambda: (localisation_table(gated),),
        "T9": lambda: (cost_table(gated, hypotheses),),
        "T10": lambda: (cost_ratio_table(gated, confirmed(), hypotheses),),
        "T11": lambda: (score_table(gated),),
    }


_APART = "a reliability design: its cells are analysed apart, and no arms are contrasted"


def _report(
    gated: Gated, tables: tuple[Table, ...], deviations: Sequence[Entry], looks: Sequence[Look], *more: str
) -> Report:
    where = gated.provenance
    banner = _BANNERS.get(where.kind, "")
    head = [
        f"{where.experiment}: {where.title}",
        *([f"{gated.stamp}: not every planned cell has an outcome"] if gated.stamp else []),
        *([banner] if banner else []),
        *more,
        f"manifest {where.manifest or 'none'}",
        f"data {where.data}",
        *_said(gated, deviations, looks),
    ]
    facts: Json = {
        "experiment": where.experiment,
        "kind": where.kind,
        "complete": gated.complete,
        "stamp": gated.stamp,
        "banner": banner,
        "manifest": where.manifest,
        "data": where.data,
        "labels": dict(gated.design.labels),
        "missing": [str(key) for key in gated.missing],
        "notes": list(gated.notes),
        "deviations": [{"number": one.number, **one.deviation._asdict()} for one in deviations],
        "looks": [look.model_dump(mode="json") for look in looks],
    }
    return Report(tuple(head), gated.stamp, banner, tables, facts)


def _said(gated: Gated, deviations: Sequence[Entry], looks: Sequence[Look]) -> list[str]:
    labelled = [f"{arm}: {label}" for arm, label in gated.design.labels.items() if label]
    lines = [f"{one}, never an official score of the system that it follows" for one in labelled]
    for entry in deviations:
        said = entry.deviation
        when = f"{said.at}, {said.unsealing} unsealing"
        lines.append(f"deviation D{entry.number:03d} ({when}): {said.what}; {said.effect}")
    if not deviations:
        lines.append("no deviation is on record")
    seen = [(look, f"{look.sealed} of {look.planned} cells") for look in looks]
    lines += [f"{one.kind} at {one.at_utc} by {one.user} with {cells}: {one.reason}" for one, cells in seen]
    return lines


__all__ = ["Report", "assemble"]
