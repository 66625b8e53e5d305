"""What a sandbox is given and what it gives back. No backend knows what a test is; no runner knows a backend.

The handshake, the same for every backend and runner: the first program inside writes one byte ``R`` to the
report descriptor when it runs, and then reads its standard input to the end. Only after that byte is the
payload written. So a payload never reaches a process that is not yet tied to the life of the harness, and a
sandbox that did not start is told apart from a program that failed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Literal, Protocol

READY = b"R"

Materialisation = Literal["overlay-memory", "overlay-disk", "copy"]
"""How the tree is laid out: an overlay on the template, its upper layer in memory or on disk; or a copy."""


@dataclass(frozen=True, slots=True)
class Tree:
    """A checkout to materialise: the template's files with `changes` laid over them.

    Keys of `changes` are paths relative to the root; ``None`` deletes the file.
    """

    template: Path
    changes: Mapping[str, bytes | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one run. Where a backend cannot keep one, it says so in its documentation."""

    wall_seconds: float
    cpu_seconds: int
    """CPU time of one process."""
    memory_bytes: int
    """Private memory of one process. All together may hold half as much again: so a single process that asks
    for too much always meets its own limit first, and fails in the same way every time."""
    processes: int
    file_bytes: int
    """Size of one file, and of each writable place (the tree's new layer, ``/tmp``, ``/dev/shm``)."""
    output_bytes: int
    """What is kept of standard output and error; the rest is read and dropped."""
    report_bytes: int = 64 * 2**20
    start_seconds: float = 120.0
    """From the start of the backend to the ready byte."""


@dataclass(frozen=True, slots=True)
class Job:
    """One program to run on one tree.

    In `argv` a leading ``@repo``, ``@env`` or ``@runner`` stands for the place where the sandbox shows the
    tree, the environment and the runner's files; the argument ``@report`` for the report descriptor's number.
    """

    tree: Tree
    argv: tuple[str, ...]
    limits: Limits
    payload: bytes
    runner_files: Mapping[str, bytes]
    """File name to content; read-only inside where the backend can, and outside of the tree everywhere."""
    environment: Path | None = None
    read_only: tuple[Path, ...] = ()
    """Folders that are shown, read-only, under their own absolute path."""
    variables: Mapping[str, str] = field(default_factory=dict)


class Stop(StrEnum):
    """Why the harness ended a run itself."""

    WALL_TIME = "wall-time"
    MEMORY = "memory"
    PROCESSES = "processes"


@dataclass(frozen=True, slots=True)
class Finished:
    """How a job ended."""

    exit_code: int
    """As a shell gives it: 128 + n for death by signal n. Without meaning when `stopped` is set."""
    stopped: Stop | None
    stdout_head: bytes
    stdout_tail: bytes
    dropped_bytes: int
    report: bytes
    """Everything after the ready byte, at most ``limits.report_bytes``."""
    report_overflow: bool
    materialisation: Materialisation
    places: Mapping[str, str]
    """Where tested code saw the tree, the environment and so on: for whoever cleans paths out of texts."""
    seconds_setup: float
    seconds_run: float
    seconds_teardown: float
    leftovers: int | None
    """Processes that outlived the program and were killed; None where the backend cannot count them."""


@dataclass(frozen=True, slots=True)
class Probe:
    """Whether a backend works on this machine."""

    usable: bool
    why_not: str = ""
    repair: str = ""


class Sandbox(Protocol):
    """A way to run a job apart from the rest of the machine."""

    @property
    def name(self) -> str:
        """Short stable word that is recorded in the cell."""

    def probe(self) -> Probe:
        """Try the backend for real, on a small tree."""

    def run(self, job: Job) -> Finished:
        """Run `job`; afterwards nothing of it is alive, as far as the backend can see to it.

        Raises:
            InfrastructureFailure: kind ``sandbox-start`` without a ready byte, ``disk`` when the tree cannot
                be laid out, ``out-of-memory`` when the kernel killed for the machine's sake.
            IntegrityViolation: `changes` would leave the tree.
        """
