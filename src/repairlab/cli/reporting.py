"""`repairlab report`: the tables of the plan, once the gate has let the records pass."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from repairlab.analysis.frames import Frames, read_frames
from repairlab.analysis.gate import Gated, admit_frames
from repairlab.analysis.hypotheses import load_hypotheses
from repairlab.analysis.plan import plan_of
from repairlab.analysis.report.assemble import Report, assemble
from repairlab.cli.opening import outcomes_opened
from repairlab.cli.tables import print_table
from repairlab.contract.study import Inputs, Study, load_inputs, open_study
from repairlab.manifest.deviations import read as read_deviations
from repairlab.manifest.freeze import Frozen, differences, read_frozen
from repairlab.store.blinding import Look
from repairlab.store.carried import decided_folders
from repairlab.store.layout import Layout


@dataclass(frozen=True, slots=True)
class Opened:
    """An experiment whose outcomes may be shown, and everybody who saw them."""

    study: Study
    inputs: Inputs
    frozen: Frozen
    looks: tuple[Look, ...]

    @property
    def layout(self) -> Layout:
        """Where its records are."""
        name = self.inputs.experiment.name
        return Layout(self.study.raw / name, self.study.incomplete / name)


def open_experiment(root: Path, experiment: str, command: str, unblind: str) -> Opened:
    """Ask for outcomes before any is read.

    Raises:
        Blinded: the outcomes stay closed.
    """
    study = open_study(root)
    inputs, frozen = load_inputs(study, experiment), read_frozen(study, experiment)
    return Opened(study, inputs, frozen, outcomes_opened(study, inputs, frozen, command, unblind))


def gated(opened: Opened, *, incomplete: bool) -> Gated:
    """Everything the store has of the experiment, through the gate.

    Raises:
        GateClosed: with every finding.
    """
    changed = differences(opened.study, opened.inputs, opened.frozen, opened.frozen.program)
    return admit_frames(frames_of(opened), changed=changed, incomplete=incomplete)


def frames_of(opened: Opened) -> Frames:
    """Every table of the experiment; nothing has passed the gate yet."""
    layout = opened.layout
    plan = plan_of(
        opened.inputs,
        opened.frozen,
        decided_folders(layout, "carried"),
        decided_folders(layout, "refused").values(),
    )
    return read_frames(plan, layout, os.cpu_count() or 1)


def report_command(
    root: Path,
    experiment: str,
    out: Path | None,
    unblind: str,
    only: Collection[str],
    without: Collection[str],
    *,
    incomplete: bool,
    json_output: bool,
) -> None:
    """Print the report; `out` also gets it as ``report.json`` and ``report.md``."""
    opened = open_experiment(root, experiment, "report", unblind)
    hypotheses = load_hypotheses(opened.study)
    passed = gated(opened, incomplete=incomplete)
    deviations = [one for one in read_deviations(opened.study) if one.deviation.experiment == experiment]
    report = assemble(passed, hypotheses, deviations, opened.looks, only, without)
    if out is not None:
        write_report(report, out)
    if json_output:
        print(json_text(report), end="")
    else:
        print_report(report)
        if out is not None:
            print(f"\nwritten to {out}")


def print_report(report: Report) -> None:
    """Head and tables, on a terminal or off it."""
    for line in report.head:
        print(line)
    for table in report.tables:
        print()
        print_table(report.titled(table), table.header, table.texts())
        for note in table.notes:
            print(f"  {note}")


def write_report(report: Report, out: Path) -> None:
    """The two files of a report."""
    out.mkdir(parents=True, exist_ok=True)
    (out / "report.json").write_text(json_text(report), encoding="utf-8")
    (out / "report.md").write_text(report.page(), encoding="utf-8")


def json_text(report: Report) -> str:
    """Sorted keys, NaN forbidden."""
    value: Mapping[str, object] = dict(report.json())  # type: ignore[arg-type]  # an object by construction
    return json.dumps(value, indent=1, sort_keys=True, allow_nan=False) + "\n"
