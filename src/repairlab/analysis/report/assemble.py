"""The whole report: head, tables, JSON. Everything carries the stamp of an incomplete analysis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from repairlab.analysis.confirmatory import confirmatory
from repairlab.analysis.exploratory import exploratory
from repairlab.analysis.gate import Gated, require_gated
from repairlab.analysis.hypotheses import Hypotheses
from repairlab.analysis.report.exploring import exploratory_table
from repairlab.analysis.report.flow import flow
from repairlab.analysis.report.layout import Table, markdown
from repairlab.analysis.report.rate_table import rate_table
from repairlab.analysis.report.sensitivity import sensitivity_table
from repairlab.analysis.report.verdicts import decisions_table, discordance_table, estimates_table
from repairlab.contract.canonical import Json
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
    gated: Gated, hypotheses: Hypotheses, deviations: Sequence[Entry] = (), looks: Sequence[Look] = ()
) -> Report:
    """Compute every table from gated outcomes.

    Args:
        gated: outcomes that passed the gate.
        hypotheses: as registered.
        deviations: the log's entries on this experiment.
        looks: everyone who saw outcomes before.
    """
    require_gated(gated)
    if gated.provenance.kind == "reliability":
        return _report(gated, (flow(gated), rate_table(gated)), deviations, looks, _APART)
    confirmed = confirmatory(gated, hypotheses)
    tables = (
        flow(gated),
        estimates_table(gated, confirmed),
        decisions_table(confirmed, hypotheses),
        rate_table(gated),
        discordance_table(gated, confirmed),
        exploratory_table(gated, exploratory(gated, hypotheses)),
        sensitivity_table(gated, confirmed, hypotheses),
    )
    return _report(gated, tables, deviations, looks)


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
