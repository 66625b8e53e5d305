"""Fixes that were used for something else, and so can never be tasks of the study."""

from __future__ import annotations

from pydantic import Field

from repairlab.contract.strict import StrictModel
from repairlab.contract.task import CommitId, Language, Name, Task


class ExcludedFix(StrictModel):
    """One fix, why it is excluded, and what it was used with."""

    id: Name
    repository: str
    language: Language
    base: CommitId
    fix: CommitId
    reason: str = Field(min_length=1)
    statement: str = Field(min_length=1)
    """What someone who meets the fault would write: a query of the localisation check."""
    name: str = Field(min_length=1)
    """A word of the statement that one would look for: the other query."""


class Exclusions(StrictModel):
    """``preregistration/excluded.toml``."""

    excluded: tuple[ExcludedFix, ...] = ()

    def of(self, task: Task) -> ExcludedFix | None:
        """The excluded fix that `task` is made of: the same id, or the same commit. A fork is no way out."""
        return next((one for one in self.excluded if task.id == one.id or task.fix == one.fix), None)
