"""The outcomes of a complete matrix, as the registered analyses take them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from repairlab.contract.errors import BadInput


@dataclass(frozen=True, slots=True, eq=False)
class Outcomes:
    """`resolved_at_1` of every task, arm and model. Complete by construction: there is no room for a gap.

    Attributes:
        tasks: task of each row, each once. Rows are sorted by repository and task, so that no order of input
            can change a seeded result.
        repositories: repository of each row.
        arms: treatment of each column.
        models: model of each layer.
        resolved: zeros and ones, shape (tasks, arms, models).
    """

    tasks: tuple[str, ...]
    repositories: tuple[str, ...]
    arms: tuple[str, ...]
    models: tuple[str, ...]
    resolved: npt.NDArray[np.int64]

    def __post_init__(self) -> None:
        """Refuse labels that repeat, a shape that does not fit them, and values that are no outcome."""
        if any(len(set(labels)) != len(labels) for labels in (self.tasks, self.arms, self.models)):
            raise BadInput("a task, an arm or a model is named twice")
        shape = (len(self.tasks), len(self.arms), len(self.models))
        if self.resolved.shape != shape or len(self.repositories) != len(self.tasks):
            raise BadInput(f"outcomes of shape {self.resolved.shape}, but labels for {shape}")
        if not np.isin(self.resolved, (0, 1)).all():
            raise BadInput("an outcome is 0 or 1")
        rows = list(zip(self.repositories, self.tasks, strict=True))
        if rows != sorted(rows):
            raise BadInput("rows are not sorted by repository and task")

    def totals(self, arm: str, against: str, model: str | None = None) -> list[int]:
        """For each task: `arm` minus `against`, summed over the models or for one of them."""
        differences = self.resolved[:, self.arm(arm), :] - self.resolved[:, self.arm(against), :]
        layers = slice(None) if model is None else [self.models.index(model)]
        return [int(total) for total in differences[:, layers].sum(axis=1)]

    def discordant(self, arm: str, against: str, model: str | None = None) -> tuple[int, int]:
        """Pairs that `arm` alone solved, and pairs that `against` alone solved."""
        layers = slice(None) if model is None else [self.models.index(model)]
        first = self.resolved[:, self.arm(arm), layers]
        second = self.resolved[:, self.arm(against), layers]
        return int((first > second).sum()), int((first < second).sum())

    def arm(self, name: str) -> int:
        """Column of an arm.

        Raises:
            BadInput: there is no such arm.
        """
        if name not in self.arms:
            raise BadInput(f"no outcomes of arm {name}")
        return self.arms.index(name)


def outcomes_of(cells: Sequence[tuple[str, str, str, str, int]]) -> Outcomes:
    """Outcomes of cells given as (repository, task, arm, model, resolved), in any order.

    Raises:
        BadInput: a cell is there twice or is missing, or a task stands in two repositories.
    """
    found = {(task, arm, model): (repository, resolved) for repository, task, arm, model, resolved in cells}
    rows = sorted({(cell[0], cell[1]) for cell in cells})
    arms = tuple(sorted({arm for _, _, arm, _, _ in cells}))
    models = tuple(sorted({model for _, _, _, model, _ in cells}))
    if len(found) != len(cells) or len({task for _, task in rows}) != len(rows):
        raise BadInput("a cell is there twice, or a task in two repositories")
    wanted = [[[(task, arm, model) for model in models] for arm in arms] for _, task in rows]
    if missing := [key for plane in wanted for line in plane for key in line if key not in found]:
        raise BadInput(f"{len(missing)} cells are missing, such as {' '.join(missing[0])}")
    resolved = [[[found[key][1] for key in line] for line in plane] for plane in wanted]
    shaped = np.array(resolved, dtype=np.int64).reshape(len(rows), len(arms), len(models))
    return Outcomes(tuple(t for _, t in rows), tuple(r for r, _ in rows), arms, models, shaped)
