"""One attempt at a cell: written under `incomplete/`, then sealed by one atomic rename into `raw/`."""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from repairlab.contract.canonical import Json, sha256_hex
from repairlab.contract.errors import IntegrityViolation
from repairlab.store.layout import ARTIFACTS, FAILURE, OUTCOME_SUMS, SUMS, TIMING, Layout


class Attempt:
    """Write access to one attempt folder. The transcript is appended to and flushed record by record.

    Args:
        layout: folders of the experiment.
        cell: name of the cell.
        durable: whether what is written is synced to disk before the cell counts as sealed. Only records
            that can be made again at any time, such as simulated ones, are written without.
    """

    def __init__(self, layout: Layout, cell: str, *, durable: bool = True) -> None:
        self._sync = _sync if durable else _leave
        self._layout = layout
        self._cell = cell
        self.number, self.folder = layout.next_attempt(cell)
        self.folder.mkdir(parents=True)
        self._transcript: BinaryIO = (self.folder / "transcript.jsonl").open("ab")
        self._records = 0

    def __enter__(self) -> Attempt:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._transcript.close()

    def record(self, entry: dict[str, Json]) -> None:
        """Append one record to the transcript; it gets the next sequence number."""
        line = json.dumps(
            {"n": self._records, **entry}, sort_keys=True, separators=(",", ":"), allow_nan=False
        )
        self._transcript.write(line.encode() + b"\n")  # ASCII: a model may write half of a surrogate pair
        self._transcript.flush()
        self._records += 1

    def write_json(self, name: str, value: Json) -> None:
        """Write one artifact as indented JSON with sorted keys."""
        self.write(name, json_text(value))

    def write(self, name: str, data: bytes) -> None:
        """Write one artifact."""
        (self.folder / name).write_bytes(data)

    def fail(self, kind: str, message: str) -> None:
        """Mark the attempt as ended by an infrastructure failure; it stays where it is."""
        self.write_json(FAILURE, {"kind": kind, "message": message})
        self._transcript.flush()
        for path in sorted(self.folder.iterdir()):
            self._sync(path)
        self._sync(self.folder)

    def seal(self) -> Path:
        """Checksum, fsync, rename into `raw/`, then make read-only.

        Returns:
            The folder of the sealed cell.

        Raises:
            IntegrityViolation: an artifact is missing, or the cell is sealed already.
        """
        self._transcript.close()
        expected = sorted((*ARTIFACTS, TIMING))
        found = sorted(path.name for path in self.folder.iterdir())
        if found != expected:
            raise IntegrityViolation(f"{self.folder}: holds {found}, a cell needs {expected}")
        for name, members in ((OUTCOME_SUMS, sorted(ARTIFACTS)), (SUMS, [*expected, OUTCOME_SUMS])):
            self.write(name, checksum_list(self.folder, sorted(members)))
        for path in sorted(self.folder.iterdir()):
            self._sync(path)
            path.chmod(0o444)
        self._sync(self.folder)
        target = self._layout.sealed(self._cell)
        if target.exists():
            raise IntegrityViolation(f"{target} is sealed already; this attempt stays at {self.folder}")
        self.folder.rename(target)
        self._sync(target.parent)
        target.chmod(0o555)
        self._forget_empty()
        return target

    def _forget_empty(self) -> None:
        """Drop the cell's folder under `incomplete/` when no other attempt is kept there."""
        parent = self.folder.parent
        if not any(parent.iterdir()):
            parent.rmdir()
        self._sync(parent.parent)


def json_text(value: Json) -> bytes:
    """The one spelling of JSON artifacts: sorted keys, one value a line."""
    text = json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False)
    return text.encode() + b"\n"


def checksum_list(folder: Path, names: list[str]) -> bytes:
    """A list that ``sha256sum -c`` reads: two columns, one line for each of `names`."""
    return b"".join(f"{sha256_hex((folder / name).read_bytes())}  {name}\n".encode() for name in names)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _leave(_: Path) -> None:
    """Let the system write when it likes."""
