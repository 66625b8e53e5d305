"""From the reports of all test programs of a run to outcomes. Pure.

=======================================================  ==============
seen                                                     outcome
=======================================================  ==============
the test ended                                           what it ended with
it began, and its program ended before it did            ``failed``
it began, and the harness ended the run                  ``not-run``
it did not begin                                         ``not-run``
=======================================================  ==============
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from repairlab.contract.outcome import TestOutcome
from repairlab.evaluation.golang.records import (
    Begin,
    DriverReport,
    End,
    Ended,
    ProgramReport,
    Ran,
    Unreadable,
    read_program,
)
from repairlab.evaluation.runs import RunEnd

_KILLED = 128 + 9
_SILENT = "the test program ended before this test did"


@dataclass(frozen=True, slots=True)
class Findings:
    """What the programs of a run showed; the fields are those of `runs.TestRun`."""

    end: RunEnd
    problem: str
    outcomes: Mapping[str, TestOutcome]
    failures: Mapping[str, str]
    unreadable: Mapping[str, str]
    leftovers: int


@dataclass(slots=True)
class _Sum:
    outcomes: dict[str, TestOutcome] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    unreadable: dict[str, str] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)
    killed: list[str] = field(default_factory=list)
    bad: bool = False
    leftovers: int = 0


def find(
    report: DriverReport, folders: Mapping[int, str], keys: Sequence[bytes], select: Sequence[str]
) -> Findings:
    """Judge every start: the n-th ran a test program of the package ``folders[n]`` under ``keys[n]``."""
    total = _Sum()
    for record in report.records:
        if isinstance(record, Unreadable):
            total.unreadable[record.id] = record.message
    for number, folder in sorted(folders.items()):
        program = read_program(report.of(number), keys[number])
        _add(total, folder, program, report.end_of(number))
    for name in select:
        total.outcomes.setdefault(name, TestOutcome.NOT_RUN)
    end, problem = _end(total)
    return Findings(
        end,
        problem,
        dict(sorted(total.outcomes.items())),
        dict(sorted(total.failures.items())),
        dict(sorted(total.unreadable.items())),
        total.leftovers,
    )


def _add(total: _Sum, folder: str, program: ProgramReport, ended: Ended | None) -> None:
    if program.broken:
        total.broken.append(f"{folder}: {program.broken}")
    seen = _seen(folder, program, ended)
    total.outcomes.update(seen)
    total.counts.update(f"{folder}::{r.id}" for r in program.records if isinstance(r, End))
    messages = {f"{folder}::{r.id}": r.message for r in program.records if isinstance(r, End)}
    output = "" if ended is None else ended.output.strip("\n")
    for name, outcome in seen.items():
        if outcome is TestOutcome.FAILED:
            total.failures[name] = messages.get(name) or output or _SILENT
    if ended is None:
        return
    total.leftovers += ended.leftovers
    if ended.status == _KILLED:
        total.killed.append(folder)
    if _clean(program, ended):
        return
    total.bad = True
    if TestOutcome.FAILED not in seen.values():
        total.unreadable[folder] = output or f"the test program ended early, with status {ended.status}"


def _seen(folder: str, program: ProgramReport, ended: Ended | None) -> dict[str, TestOutcome]:
    unfinished = TestOutcome.NOT_RUN if ended is None else TestOutcome.FAILED
    found: dict[str, TestOutcome] = {}
    for record in program.records:
        if isinstance(record, Begin):
            found[f"{folder}::{record.id}"] = unfinished
        elif isinstance(record, End):
            found[f"{folder}::{record.id}"] = TestOutcome(record.outcome)
    return found


def _clean(program: ProgramReport, ended: Ended) -> bool:
    codes = [record.code for record in program.records if isinstance(record, Ran)]
    return program.ran and ended.status == 0 and not any(codes)


def _end(total: _Sum) -> tuple[RunEnd, str]:
    if total.broken:
        return RunEnd.EVIDENCE_BROKEN, total.broken[0]
    if total.killed:
        return RunEnd.DIED, f"the test program of {total.killed[0]} was killed"
    twice = sorted(name for name, count in total.counts.items() if count > 1)
    if twice:
        return RunEnd.DUPLICATE_IDS, f"several tests are called {twice[0]}"
    if total.bad or total.unreadable:
        return RunEnd.TESTS_FAILED, ""
    return (RunEnd.ALL_PASSED if total.counts else RunEnd.NOTHING_COLLECTED), ""
