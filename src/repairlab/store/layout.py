"""Where attempts and sealed cells lie, and whether the store can be written at all."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from repairlab.contract.errors import RefuseToStart

ARTIFACTS = ("cell.json", "metrics.json", "tests.json", "transcript.jsonl", "patch.diff")
"""Artifacts that depend on frozen inputs and the model's replies alone."""
TIMING = "timing.json"
"""The one artifact with clocks, process ids, host names and the attempt number."""
SUMS = "SHA256SUMS"
OUTCOME_SUMS = "SHA256SUMS.outcome"
FAILURE = "failure.json"

_ATTEMPT = re.compile(r"^attempt-(\d{2,})$")


@dataclass(frozen=True, slots=True)
class Layout:
    """The two folders of one experiment's results."""

    raw: Path
    """``raw/<experiment>``: sealed cells and nothing else."""
    incomplete: Path
    """``incomplete/<experiment>``: everything that is not, or not yet, a sealed cell."""

    @property
    def carried(self) -> Path:
        """``raw/<experiment>.carried``: which sealed cells stand under a later code revision."""
        return self.raw.with_name(f"{self.raw.name}.carried")

    def sealed(self, cell: str) -> Path:
        """Folder of a sealed cell."""
        return self.raw / cell

    def attempts(self, cell: str) -> tuple[Path, ...]:
        """Folders of the attempts at `cell` that are no sealed cell, oldest first."""
        folder = self.incomplete / cell
        if not folder.is_dir():
            return ()
        found = [
            (int(m.group(1)), p) for p in folder.iterdir() if (m := _ATTEMPT.match(p.name)) and p.is_dir()
        ]
        return tuple(path for _, path in sorted(found))

    def next_attempt(self, cell: str) -> tuple[int, Path]:
        """Number and folder of the next attempt at `cell`, counted from 1."""
        last = self.attempts(cell)
        number = int(last[-1].name.removeprefix("attempt-")) + 1 if last else 1
        return number, self.incomplete / cell / f"attempt-{number:02d}"

    def failures(self, cell: str) -> int:
        """How many attempts ended by an infrastructure failure. A killed attempt is none."""
        return sum((path / FAILURE).is_file() for path in self.attempts(cell))


def prepare_layout(layout: Layout, needed_bytes: int = 64 * 2**20) -> None:
    """Make the folders and prove that sealing will work, before any model call is paid for.

    Raises:
        RefuseToStart: read-only or full file system, or two file systems (a rename would not be atomic).
    """
    try:
        for folder in (layout.raw, layout.incomplete):
            folder.mkdir(parents=True, exist_ok=True)
        probe = layout.incomplete / f".probe-{os.getpid()}"
        target = layout.raw / probe.name
        probe.mkdir()
        (probe / "bytes").write_bytes(b"probe")
        if probe.stat().st_dev != layout.raw.stat().st_dev:
            _remove_probe(probe)
            raise RefuseToStart(
                f"{layout.raw} and {layout.incomplete} lie on two file systems",
                repair="a sealed cell appears by one atomic rename; put both folders on one file system",
            )
        probe.rename(target)
        _remove_probe(target)
    except OSError as error:
        raise RefuseToStart(
            f"the store cannot be written: {error.filename}: {error.strerror}",
            repair="make raw/ and incomplete/ of the study writable",
        ) from error
    free = os.statvfs(layout.raw)
    if free.f_bavail * free.f_frsize < needed_bytes:
        raise RefuseToStart(
            f"{layout.raw}: less than {needed_bytes // 2**20} MiB are free", repair="make room on that disk"
        )


def _remove_probe(folder: Path) -> None:
    (folder / "bytes").unlink()
    folder.rmdir()
