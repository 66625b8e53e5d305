"""What a calibration model was told: the true fix of each task, by the digest of the task's statement.

It lives in the host's process alone and never passes through the harness.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from repairlab.contract.errors import BadInput
from repairlab.hosts.emulator.engines.history import statement_digest
from repairlab.hosts.emulator.fields import Fields, read_json

_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class TaskKnowledge:
    """The true fix of one task."""

    task: str
    gold_patch: str
    production_files: tuple[str, ...]
    created_files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Knowledge:
    """All tasks, by statement digest."""

    tasks: Mapping[str, TaskKnowledge]

    def of(self, statement: str | None) -> TaskKnowledge | None:
        """What is known of the task with this statement."""
        return None if statement is None else self.tasks.get(statement_digest(statement))


def load_knowledge(path: Path) -> Knowledge:
    """Read ``{"schema_version": 1, "tasks": {"<digest>": {...}}}``.

    Raises:
        BadInput: naming file and key.
    """
    fields = Fields(read_json(path), str(path))
    if fields.integer("schema_version") != 1:
        raise BadInput(f"{path}: schema_version: only 1 is known")
    tasks = fields.mapping("tasks")
    fields.close()
    return Knowledge({digest: _task(digest, tasks[digest], str(path)) for digest in sorted(tasks)})


def _task(digest: str, item: object, where: str) -> TaskKnowledge:
    if _SHA256.fullmatch(digest) is None:
        raise BadInput(f"{where}: tasks: {digest!r} is no SHA-256")
    fields = Fields(item, f"{where}: tasks.{digest[:12]}")
    known = TaskKnowledge(
        task=fields.text("task"),
        gold_patch=fields.text("gold_patch"),
        production_files=fields.texts("production_files"),
        created_files=fields.texts("created_files"),
    )
    fields.close()
    return known
