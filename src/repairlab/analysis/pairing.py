"""Two arms paired task by task: from gated outcomes to the totals that the statistics take."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import NamedTuple

from repairlab.analysis.gate import Gated, require_gated
from repairlab.analysis.outcomes import Key
from repairlab.analysis.statistics import Contrast, NotEstimable, PartialTask, WorstCase, contrast, worst_case
from repairlab.contract.errors import BadInput


class Discordance(NamedTuple):
    """Pairs of one model by who solved them; a pair is one task and draw.

    Only tasks count that are complete in both arms and all models; `missing` counts pairs on any task.
    """

    both: int
    first_alone: int
    second_alone: int
    neither: int
    missing: int


@dataclass(frozen=True, slots=True)
class Paired:
    """What is known of two arms, by task.

    Attributes:
        arm: the first arm; differences are it minus `against`.
        against: the second arm.
        pairs: planned pairs in each task, models times draws.
        totals: of each complete task the sum of its pairs' differences. An incomplete task enters none.
        known: of every planned task what is known and how much is missing; for the bounds.
        first, second: solved cells of each arm on the complete tasks.
        by_model: the pairs of each model.
    """

    arm: str
    against: str
    pairs: int
    totals: dict[str, int]
    known: dict[str, PartialTask]
    first: int
    second: int
    by_model: dict[str, Discordance]

    @property
    def cells(self) -> int:
        """Cells of each arm on the complete tasks."""
        return self.pairs * len(self.totals)

    def result(self) -> Contrast | NotEstimable:
        """Estimate, exact test and intervals over the complete tasks."""
        return contrast(list(self.totals.values()), self.pairs)

    def bounds(self) -> WorstCase:
        """What the missing pairs allow, over all planned tasks."""
        return worst_case(list(self.known.values()), self.pairs)


def paired(
    gated: Gated,
    arm: str,
    against: str,
    *,
    models: Collection[str] | None = None,
    tasks: Collection[str] | None = None,
) -> Paired:
    """Pair `arm` with `against` on the same task, model and draw.

    Args:
        gated: outcomes that passed the gate.
        arm: first arm.
        against: second arm.
        models: only these; all of the design by default.
        tasks: only these; all of the design by default.

    Raises:
        BadInput: an arm is not in the design, or the tasks are not planned alike (a reliability design).
    """
    require_gated(gated)
    slots = _slots(gated, arm, models, tasks)
    if slots != _slots(gated, against, models, tasks) or len({len(own) for own in slots.values()}) > 1:
        raise BadInput(
            f"{arm} and {against} are not planned on the same tasks and draws: no contrast of them"
        )
    totals, known = {}, {}
    tables = {model: [0, 0, 0, 0, 0] for own in slots.values() for model, _ in own}
    for task, own in slots.items():
        pairs_known: list[tuple[str, int, int]] = []
        for model, draw in own:
            one, other = (gated.resolved.get(Key(task, name, model, draw)) for name in (arm, against))
            if one is None or other is None:
                tables[model][4] += 1
            else:
                pairs_known.append((model, one, other))
        total = sum(one - other for _, one, other in pairs_known)
        known[task] = PartialTask(total, len(own) - len(pairs_known))
        if len(pairs_known) == len(own):
            totals[task] = total
            for model, one, other in pairs_known:
                tables[model][_PLACE[one, other]] += 1
    solved = [
        sum(gated.resolved[Key(task, name, model, draw)] for task in totals for model, draw in slots[task])
        for name in (arm, against)
    ]
    pairs = len(next(iter(slots.values()))) if slots else 0
    counts = {model: Discordance(*table) for model, table in tables.items()}
    return Paired(arm, against, pairs, totals, known, solved[0], solved[1], counts)


_PLACE = {(1, 1): 0, (1, 0): 1, (0, 1): 2, (0, 0): 3}
"""Field of `Discordance` for the outcomes of first and second arm."""


def _slots(
    gated: Gated, arm: str, models: Collection[str] | None, tasks: Collection[str] | None
) -> dict[str, list[tuple[str, str]]]:
    """Model and draw of every planned cell of `arm`, by task, in one order for all arms."""
    design = gated.design
    if arm not in design.arms:
        raise BadInput(f"{arm} is no arm of {gated.provenance.experiment}")
    wanted = None if tasks is None else set(tasks)
    found = {
        task: [slot for slot in own if models is None or slot[0] in models]
        for task, own in design.slots.get(arm, {}).items()
        if wanted is None or task in wanted
    }
    return {task: own for task, own in found.items() if own}
