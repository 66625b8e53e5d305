"""What a campaign tells whoever watches it. Values only; a watcher cannot change a run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from repairlab.manifest.cell import Cell


@dataclass(frozen=True, slots=True)
class StepDone:
    """One step of the preparation."""

    text: str
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class CampaignStarted:
    """How much there is to do."""

    planned: int
    sealed: int


@dataclass(frozen=True, slots=True)
class CellStarted:
    """An attempt begins."""

    cell: Cell
    attempt: int


@dataclass(frozen=True, slots=True)
class CellSealed:
    """A cell is complete."""

    cell: Cell
    outcome: str
    reason: str
    seconds: float


@dataclass(frozen=True, slots=True)
class AttemptFailed:
    """An infrastructure failure: no outcome, kept under ``incomplete/``."""

    cell: Cell
    attempt: int
    kind: str
    message: str


@dataclass(frozen=True, slots=True)
class CellBlocked:
    """The cell has used up its attempts."""

    cell: Cell
    failures: int


Event: TypeAlias = StepDone | CampaignStarted | CellStarted | CellSealed | AttemptFailed | CellBlocked
Watch: TypeAlias = Callable[[Event], None]
