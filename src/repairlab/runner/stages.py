"""What a staged treatment needs of a task, and how much of the task's fix its first request can show."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from repairlab.agents.context import ContextBound
from repairlab.agents.prompts import stage_messages
from repairlab.agents.staged.measure import TokenRule
from repairlab.agents.staged.repository import StagedRepository
from repairlab.agents.staged.requests import StageRequests
from repairlab.agents.staged.skeleton import Skeleton, build_skeleton
from repairlab.contract.errors import IntegrityViolation
from repairlab.contract.study import Inputs
from repairlab.contract.task import Task
from repairlab.repositories.policy import check_production
from repairlab.runner.indexes import Indexes


def stage_requests(inputs: Inputs, task: Task, bound: ContextBound) -> StageRequests:
    """The requests of `task`."""
    messages = partial(stage_messages, task, inputs.wording)
    return StageRequests(inputs.wording.prompts.staged, inputs.shared.staged, messages, bound)


def staged_repository(inputs: Inputs, task: Task, indexes: Indexes | None) -> StagedRepository:
    """The base commit of `task` as a staged treatment sees it.

    Raises:
        IntegrityViolation: its symbols were not prepared.
    """
    if indexes is None or indexes.symbols is None:
        raise IntegrityViolation(f"{task.id}: the symbols of the base were not prepared")
    rules = inputs.shared.patch

    def protected(path: str) -> bool:
        return check_production(path, rules, task.language) is not None

    return StagedRepository(indexes.corpus, indexes.symbols, protected)


class GoldFile(NamedTuple):
    """A file of the true fix in the skeleton."""

    path: str
    created: bool
    """The fix creates it, so no skeleton can name it."""
    named: bool
    names_shown: int
    names: int


class Survey(NamedTuple):
    """The first request of a task: known to people and never to an agent."""

    skeleton: Skeleton
    cap: int
    gold: tuple[GoldFile, ...]


def survey(inputs: Inputs, task: Task, indexes: Indexes, context_tokens: int) -> Survey:
    """The skeleton that the task's cells are shown, and what of the true fix's files is in it."""
    requests = stage_requests(inputs, task, ContextBound(inputs.shared.generation, context_tokens))
    rules = inputs.shared.staged
    cap = requests.cap(requests.files(""), rules.skeleton_tokens)
    outlines = staged_repository(inputs, task, indexes).outlines()
    skeleton = build_skeleton(outlines, TokenRule(rules.light_bytes_per_token), max(0, cap))
    gold = tuple(
        GoldFile(
            path,
            path in task.created_files,
            path in skeleton.named,
            skeleton.names.get(path, 0),
            skeleton.all_names.get(path, 0),
        )
        for path in task.production_files
    )
    return Survey(skeleton, cap, gold)
