"""What a task needs beyond its facts, derived from the clone and held against the frozen digests.

Gold patch: the canonical diff from base to fix, restricted to the production files.
Hidden tests: the bytes of each hidden test file as the fix has it (``None`` where the fix deletes it). They
are laid over a patched base by path, so an agent's file at the same path cannot survive.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from repairlab.contract.canonical import digest_of, sha256_hex
from repairlab.contract.errors import RefuseToStart
from repairlab.contract.task import Task


class History(Protocol):
    """The part of a bare mirror that derivation needs."""

    def read(self, commit: str, path: str) -> bytes | None:
        """Bytes of a file at a commit, ``None`` where it does not exist."""

    def diff(self, base: str, fix: str, paths: Sequence[str]) -> bytes:
        """Canonical diff of `paths` between two commits."""


@dataclass(frozen=True, slots=True)
class Material:
    """Secret of the evaluation: never shown to a model, never mounted where an agent's tests run."""

    gold_patch: bytes
    hidden_files: Mapping[str, bytes | None]


def derive(task: Task, history: History) -> Material:
    """Derive the material of `task`.

    Raises:
        RefuseToStart: the clone's content does not have the frozen digests.
    """
    gold = history.diff(task.base, task.fix, sorted(task.production_files))
    hidden = {path: history.read(task.fix, path) for path in sorted(task.hidden_test_files)}
    _hold_against(task, "gold_patch", sha256_hex(gold), task.digests.gold_patch)
    _hold_against(task, "hidden_tests", hidden_digest(hidden), task.digests.hidden_tests)
    for path in task.production_files:
        exists = history.read(task.base, path) is not None
        if exists == (path in task.created_files):
            state = "exists" if exists else "does not exist"
            raise RefuseToStart(f"task {task.id}: {path} {state} at the base, contrary to created_files")
    return Material(gold, hidden)


def hidden_digest(files: Mapping[str, bytes | None]) -> str:
    """Digest of hidden test files: canonical JSON of path to SHA-256 of the bytes, null where deleted."""
    return digest_of({path: None if data is None else sha256_hex(data) for path, data in files.items()})


def _hold_against(task: Task, what: str, found: str, frozen: str) -> None:
    if found != frozen:
        raise RefuseToStart(
            f"task {task.id}: {what}: derived digest {found[:12]} is not the frozen {frozen[:12]}",
            repair="the clone, or git's diff, differs from what was frozen; compare the commits first",
        )
