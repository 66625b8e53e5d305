"""Outcomes by key, and the design that says which keys there must be. The gate compares both."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from repairlab.analysis.csv_lines import read_lines
from repairlab.analysis.frames import Frames
from repairlab.analysis.plan import Plan
from repairlab.contract.errors import BadInput


class Key(NamedTuple):
    """One draw of one arm on one task."""

    task: str
    arm: str
    model: str
    draw: str
    """Seed and repetition."""

    def __str__(self) -> str:
        return ".".join(part for part in self if part)


@dataclass(frozen=True, slots=True)
class Design:
    """Every planned key, and the stratum of every task."""

    planned: tuple[Key, ...]
    strata: Mapping[str, str]
    """Task to stratum."""
    arms: tuple[str, ...]
    models: tuple[str, ...]
    labels: Mapping[str, str]
    slots: Mapping[str, Mapping[str, tuple[tuple[str, str], ...]]] = field(
        init=False, repr=False, compare=False
    )
    """Arm to task to the model and draw of each planned cell, all sorted: the same order for every arm."""

    def __post_init__(self) -> None:
        """Index the planned keys once: a report asks for every pair of arms."""
        found: dict[str, dict[str, list[tuple[str, str]]]] = {}
        for key in sorted(self.planned):
            found.setdefault(key.arm, {}).setdefault(key.task, []).append((key.model, key.draw))
        slots = {arm: {task: tuple(own) for task, own in tasks.items()} for arm, tasks in found.items()}
        object.__setattr__(self, "slots", slots)

    @property
    def stratum_names(self) -> tuple[str, ...]:
        """Every planned stratum, sorted; one without a single record keeps its line."""
        return tuple(sorted(set(self.strata.values())))


class Outcome(NamedTuple):
    """One record: scored, or an attempt without an outcome."""

    key: Key
    resolved: int | None
    infrastructure: bool = False


def crossed(
    strata: Mapping[str, Sequence[str]], arms: Sequence[str], models: Sequence[str], draws: Sequence[str]
) -> Design:
    """The design in which every task of every stratum meets every arm, model and draw."""
    tasks = {task: stratum for stratum, names in sorted(strata.items()) for task in names}
    planned = tuple(Key(t, a, m, d) for t in tasks for m in models for a in arms for d in draws)
    return Design(planned, tasks, tuple(arms), tuple(models), dict.fromkeys(arms, ""))


def design_of(plan: Plan) -> Design:
    """The design of a frozen experiment; strata are repositories."""
    return Design(
        planned=tuple(
            Key(c.task, c.treatment, c.model, f"s{c.identity.seed}.r{c.identity.repetition}")
            for c in plan.cells
        ),
        strata=_short({name: facts.repository for name, facts in plan.tasks.items()}),
        arms=plan.arms,
        models=plan.models,
        labels=plan.labels,
    )


def _short(repositories: Mapping[str, str]) -> dict[str, str]:
    """Each task's repository as people call it, such as ``owner/name``; whole where two are called alike."""
    short = {address: urlsplit(address).path.strip("/") for address in set(repositories.values())}
    alike = len(set(short.values())) < len(short)
    return {task: address if alike else short[address] for task, address in repositories.items()}


def outcomes_of(frames: Frames) -> tuple[Outcome, ...]:
    """One record for each planned cell that is sealed, or that was tried and gave no outcome."""
    keys = {
        cell.sequence: key
        for cell, key in zip(frames.plan.cells, design_of(frames.plan).planned, strict=True)
    }
    cells = frames.tables["cells"].select("sequence", "sealed", "resolved_at_1", "infrastructure_attempts")
    return tuple(
        Outcome(keys[sequence], resolved, infrastructure=not sealed)
        for sequence, sealed, resolved, failed in cells.iter_rows()
        if sealed or failed
    )


_COLUMNS = ("task", "stratum", "arm", "rep", "resolved", "infra")
_LABEL = re.compile(r"[^\s,](?:[^,\n\r]*[^\s,])?")


class _Row(NamedTuple):
    outcome: Outcome
    stratum: str


def load_outcomes(path: Path, design: Design) -> tuple[Outcome, ...]:
    """Outcomes from a CSV table with the columns task, stratum, arm, rep, resolved, infra.

    Identifiers are text: nothing is trimmed, folded or taken for a number. `resolved` is 0 or 1, or empty
    where `infra` is 1. Rows are not compared with the design here, but for their stratum: that is the gate's.

    Raises:
        BadInput: every row that is not of this form, with its line and what is wrong.
    """
    rows, faults = [], []
    for number, fields in enumerate(read_lines(path, _COLUMNS), start=2):
        wrong = list(_wrong(fields, design))
        faults += [f"{path}:{number}: {fault}" for fault in wrong]
        if not wrong:
            rows.append(_row(fields))
    if faults:
        raise BadInput(f"{len(faults)} faults:\n  " + "\n  ".join(faults))
    return tuple(rows)


def _wrong(fields: Sequence[str], design: Design) -> Iterable[str]:
    if len(fields) != len(_COLUMNS):
        yield f"{len(fields)} fields instead of {len(_COLUMNS)}"
        return
    row = dict(zip(_COLUMNS, fields, strict=True))
    for name in ("task", "stratum", "arm"):
        if not _LABEL.fullmatch(row[name]):
            yield f"{name}: {row[name]!r} is empty or has space around it"
    planned = design.strata.get(row["task"])
    if planned is not None and row["stratum"] != planned and row["stratum"]:
        yield f"stratum: {row['stratum']!r}, and the task {row['task']} was planned in {planned!r}"
    if not re.fullmatch(r"[0-9]{1,9}", row["rep"]):
        yield f"rep: {row['rep']!r} is no number of a draw"
    if row["infra"] not in ("0", "1"):
        yield f"infra: {row['infra']!r} is neither 0 nor 1"
    if row["resolved"] not in (("0", "1", "") if row["infra"] == "1" else ("0", "1")):
        yield f"resolved: {row['resolved']!r} is neither 0 nor 1"


def _row(fields: Sequence[str]) -> Outcome:
    task, _, arm, draw, resolved, infrastructure = fields
    return Outcome(Key(task, arm, "", draw), int(resolved) if resolved else None, infrastructure == "1")
