"""What an experiment planned: its cells, its strata, its labels. The left side of every join."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import polars as pl

from repairlab.analysis.schema import KEYS
from repairlab.contract.controls import Budgets
from repairlab.contract.study import Inputs
from repairlab.manifest.cell import Cell
from repairlab.manifest.freeze import Frozen


@dataclass(frozen=True, slots=True)
class TaskFacts:
    """What the analysis needs of a task."""

    repository: str
    language: str
    gold: frozenset[str]
    fail_to_pass: frozenset[str]
    pass_to_pass: frozenset[str]


@dataclass(frozen=True, slots=True)
class Plan:
    """One frozen experiment. Plans are never added to each other."""

    experiment: str
    title: str
    kind: str
    design: str
    """``factorial``, or ``reliability``: its arms hold different tasks and are never contrasted."""
    manifest: str
    """Digest of the frozen manifest."""
    recomputed: str
    """Digest of the manifest as it stands; the gate holds both equal."""
    freezes: tuple[str, ...]
    """Digests of the freeze records under which a cell may have run."""
    cells: tuple[Cell, ...]
    tasks: Mapping[str, TaskFacts]
    labels: Mapping[str, str]
    """Label of each arm, empty for most."""
    calibration: Mapping[str, bool]
    """Of each model."""
    budgets: Budgets
    carried: Mapping[str, str] = field(default_factory=dict)
    """Planned cell to the folder of the record that was carried over to it."""
    superseded: frozenset[str] = frozenset()
    """Folders of records that an amended code revision did not reproduce: their cells are run again."""

    @property
    def arms(self) -> tuple[str, ...]:
        """The arms, in the order of the labels: the same in every table and figure."""
        return tuple(self.labels)

    @property
    def models(self) -> tuple[str, ...]:
        return tuple(self.calibration)

    @property
    def simulated(self) -> bool:
        """Whether outcomes were drawn by a random generator."""
        return self.kind == "simulation"

    def named(self, arm: str) -> str:
        """An arm as it is shown anywhere: with its label, where it has one."""
        label = self.labels[arm]
        return f"{arm} ({label})" if label else arm

    def folder_of(self, cell: str) -> str:
        """Name of the folder in `raw/` that holds, or would hold, the record of a planned cell."""
        return self.carried.get(cell, cell)

    def frame(self) -> pl.DataFrame:
        """The key columns, one row for each planned cell."""
        rows = [
            (
                cell.sequence,
                cell.name,
                cell.task,
                self.tasks[cell.task].repository,
                self.tasks[cell.task].language,
                cell.treatment,
                self.labels[cell.treatment],
                cell.model,
                self.calibration[cell.model],
                self.simulated,
                cell.identity.seed,
                cell.identity.repetition,
            )
            for cell in self.cells
        ]
        return pl.DataFrame(rows, schema={column.name: column.type for column in KEYS}, orient="row")


def plan_of(
    inputs: Inputs,
    frozen: Frozen,
    carried: Mapping[str, str] | None = None,
    superseded: Collection[str] = (),
) -> Plan:
    """The plan of a frozen experiment; see `Plan` for `carried` and `superseded`."""
    experiment = inputs.experiment
    tasks = {
        name: TaskFacts(
            task.repository,
            task.language,
            frozenset(task.production_files),
            frozenset(task.fail_to_pass),
            frozenset(task.pass_to_pass),
        )
        for name, task in inputs.tasks.items()
    }
    return Plan(
        experiment=experiment.name,
        title=experiment.title,
        kind=experiment.kind,
        design=experiment.design,
        manifest=frozen.manifest_digest,
        recomputed=frozen.manifest.digest(),
        freezes=frozen.chain,
        cells=frozen.manifest.cells,
        tasks=tasks,
        labels={name: inputs.treatments[name].label for name in experiment.treatments},
        calibration={name: inputs.models[name].calibration for name in experiment.models},
        budgets=inputs.shared.budgets,
        carried=carried or {},
        superseded=frozenset(superseded),
    )
