"""The result of replaying one cell."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from repairlab.manifest.cell import Cell


@dataclass(frozen=True, slots=True)
class Audited:
    """What came of one replay; `difference` is empty when everything is equal."""

    cell: str
    difference: str
    tests_run: bool
    """False when test runs were taken from the record instead of being made again."""
    trouble: str = ""
    """Why there was no replay, if there was none; nothing is said about the cell then."""


class Auditing(Protocol):
    """Whatever replays sealed cells: see `repairlab.runner.audit.Auditor`."""

    def audit(self, folder: Path, planned: Cell) -> Audited: ...
