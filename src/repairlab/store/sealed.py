"""Reading sealed cells, and proving that they are what was sealed."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from repairlab.contract.canonical import sha256_hex
from repairlab.contract.errors import IntegrityViolation, RepairlabError
from repairlab.contract.strict import load_json, parse_json
from repairlab.manifest.cell import Cell
from repairlab.store.artifacts import CellRecord, Metrics, TestResults, Timing
from repairlab.store.attempt import checksum_list
from repairlab.store.layout import ARTIFACTS, OUTCOME_SUMS, SUMS, TIMING, Layout
from repairlab.store.transcript import read_transcript


class Seal(NamedTuple):
    """The two digests of a sealed cell."""

    whole: str
    """SHA-256 of ``SHA256SUMS``: every artifact."""
    outcome: str
    """SHA-256 of ``SHA256SUMS.outcome``: every artifact but clocks. Equal for equal replies."""


def sealed_names(layout: Layout) -> tuple[str, ...]:
    """Names of the folders in `raw/` of the experiment, sorted."""
    if not layout.raw.is_dir():
        return ()
    return tuple(sorted(path.name for path in layout.raw.iterdir() if not path.name.startswith(".")))


def check_seal(folder: Path) -> Seal:
    """Hold every artifact against its checksum.

    Raises:
        IntegrityViolation: naming the first artifact that is missing, foreign, no regular file or different.
    """
    expected = {*ARTIFACTS, TIMING, SUMS, OUTCOME_SUMS}
    if folder.is_symlink() or not folder.is_dir():
        raise IntegrityViolation(f"{folder}: is no folder but a link or a file")
    found = {path.name for path in folder.iterdir()}
    if found != expected:
        odd = min(found ^ expected)
        raise IntegrityViolation(
            f"{folder}: {odd} is {'foreign to a sealed cell' if odd in found else 'missing'}"
        )
    for name in sorted(expected):  # a link would let the bytes lie where no seal protects them
        if not stat.S_ISREG((folder / name).lstat().st_mode):
            raise IntegrityViolation(f"{folder}: {name} is no regular file")
    for name, members in ((SUMS, sorted(expected - {SUMS})), (OUTCOME_SUMS, sorted(ARTIFACTS))):
        listed = (folder / name).read_bytes()
        actual = checksum_list(folder, members)
        if listed != actual:
            raise IntegrityViolation(f"{folder}: {_first_difference(listed, actual, name)}")
    return Seal(sha256_hex((folder / SUMS).read_bytes()), sha256_hex((folder / OUTCOME_SUMS).read_bytes()))


def read_cell(folder: Path) -> CellRecord:
    """``cell.json`` of a sealed cell, its identity recomputed.

    Raises:
        IntegrityViolation: the identity is not the digest of its fields, or the folder has another's name.
    """
    return _identified(load_json(CellRecord, folder / "cell.json"), folder)


def _identified(record: CellRecord, folder: Path) -> CellRecord:
    cell = record.cell
    if cell.identity.digest() != cell.digest:
        raise IntegrityViolation(f"{folder}: cell.json: the identity is not the digest of its fields")
    if cell.name != folder.name:
        raise IntegrityViolation(f"{folder}: holds the cell {cell.name}")
    return record


class SealedCell(NamedTuple):
    """Everything of a sealed cell but its transcript and patch, read and validated."""

    record: CellRecord
    metrics: Metrics
    tests: TestResults
    timing: Timing


def read_sealed(folder: Path) -> SealedCell:
    """A sealed cell whose seal holds.

    Raises:
        IntegrityViolation: see `check_seal` and `read_cell`.
        BadInput: an artifact is not of its form.
    """
    check_seal(folder)
    return SealedCell(
        read_cell(folder),
        load_json(Metrics, folder / "metrics.json"),
        load_json(TestResults, folder / "tests.json"),
        load_json(Timing, folder / TIMING),
    )


class Opened(NamedTuple):
    """A sealed cell whose seal holds, each file read once."""

    seal: Seal
    record: CellRecord
    metrics: Metrics
    tests: TestResults
    timing: Timing
    files: dict[str, bytes]
    """Every artifact by its name."""


def open_sealed(folder: Path) -> Opened:
    """As `read_sealed`, with the bytes of all artifacts; each file is read and hashed once.

    Raises:
        IntegrityViolation: see `check_seal` and `read_cell`.
        BadInput: an artifact is not of its form.
    """
    with os.scandir(folder) as entries:
        found = sorted(entries, key=lambda entry: entry.name)
    if folder.is_symlink() or not all(entry.is_file(follow_symlinks=False) for entry in found):
        check_seal(folder)
        raise IntegrityViolation(f"{folder}: changed while it was read")
    files = {entry.name: Path(entry.path).read_bytes() for entry in found}
    sums = {name: sha256_hex(data) for name, data in files.items()}
    listed = (
        (SUMS, (*ARTIFACTS, TIMING, OUTCOME_SUMS)),
        (OUTCOME_SUMS, ARTIFACTS),
    )
    for name, members in listed:
        if set(files) != {*ARTIFACTS, TIMING, SUMS, OUTCOME_SUMS} or files[name] != b"".join(
            f"{sums[member]}  {member}\n".encode() for member in sorted(members)
        ):
            check_seal(folder)
            raise IntegrityViolation(f"{folder}: changed while it was read")
    return Opened(
        Seal(sums[SUMS], sums[OUTCOME_SUMS]),
        _identified(parse_json(CellRecord, files["cell.json"], str(folder / "cell.json")), folder),
        parse_json(Metrics, files["metrics.json"], str(folder / "metrics.json")),
        parse_json(TestResults, files["tests.json"], str(folder / "tests.json")),
        parse_json(Timing, files[TIMING], str(folder / TIMING)),
        files,
    )


def faults(layout: Layout, planned: dict[str, Cell]) -> Iterator[str]:
    """One line for each sealed cell that is not as sealed, or differs from the plan of the same name."""
    for name in sealed_names(layout):
        folder = layout.sealed(name)
        try:
            record = read_sealed(folder).record
            for _ in read_transcript(folder / "transcript.jsonl"):
                pass
        except (RepairlabError, OSError) as error:
            yield str(error)
            continue
        if name in planned and record.cell != planned[name]:
            yield f"{folder}: cell.json: differs from the frozen manifest"


def _first_difference(listed: bytes, actual: bytes, source: str) -> str:
    for ours, theirs in zip(actual.splitlines(), listed.splitlines(), strict=False):
        if ours != theirs:
            return f"{ours.split(b'  ', 1)[-1].decode()} is not what {source} says"
    return f"{source} does not list what the folder holds"
