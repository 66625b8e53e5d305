"""Sealed cells that stand under a later code revision, and those that do not.

After an amendment each sealed cell is replayed under the new code. One that comes out byte-identical is
*carried*: it counts as complete under its new identity. One that does not is *refused*: its new identity is
run again. Either decision is one file in ``raw/<experiment>.carried/``, written once, named after the new
identity. The sealed cell itself is never moved or changed.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Literal, NamedTuple

from repairlab.contract.errors import IntegrityViolation
from repairlab.contract.strict import StrictModel, load_json
from repairlab.contract.task import Sha256
from repairlab.manifest.cell import Cell
from repairlab.store.layout import Layout
from repairlab.store.sealed import check_seal, read_cell, sealed_names

Decision = Literal["carried", "refused"]


class CarryRecord(StrictModel):
    """One decision on one sealed cell."""

    schema_version: Literal[1]
    decision: Decision
    old: Cell
    """As it was sealed."""
    new: Cell
    """Its identity under the amended code."""
    amendment: Sha256
    """Digest of the amendment that brought the new code."""
    seal: Sha256
    """SHA-256 of the sealed cell's ``SHA256SUMS``."""
    seal_without_clocks: Sha256
    tests_run: bool
    """False when the replay took test runs from the record, which only code beyond their reach allows."""
    difference: str
    """The first one, of a refused cell; empty for a carried one."""
    decided_at: str
    """UTC."""


class Source(NamedTuple):
    """Where the record of a complete cell lies."""

    folder: Path
    cell: Cell
    """As it was sealed: another identity than the planned one where it was carried over."""
    carried: CarryRecord | None = None


def decision_file(layout: Layout, new: str, decision: Decision) -> Path:
    """Where a decision on the cell named `new` stands."""
    return layout.carried / f"{new}.{decision}.json"


def decided(layout: Layout, decision: Decision) -> frozenset[str]:
    """New names of all cells with this decision; no file is opened."""
    ending = f".{decision}.json"
    if not layout.carried.is_dir():
        return frozenset()
    return frozenset(p.name.removesuffix(ending) for p in layout.carried.iterdir() if p.name.endswith(ending))


def complete_names(layout: Layout) -> frozenset[str]:
    """Names of all cells with a result: sealed under that name, or carried over to it."""
    return decided(layout, "carried") | frozenset(sealed_names(layout))


def decided_folders(layout: Layout, decision: Decision) -> dict[str, str]:
    """New name of each cell with this decision to the name of the folder that was decided on.

    Raises:
        IntegrityViolation: a decision, or the seal that it names, does not hold.
    """
    found = {}
    for name in sorted(decided(layout, decision)):
        record = _read(layout, name, decision)
        check_source(Source(layout.sealed(record.old.name), record.old, record))
        found[name] = record.old.name
    return found


def write_decision(layout: Layout, record: CarryRecord) -> Path:
    """Write one decision, synced, read-only, whole or not at all.

    Raises:
        IntegrityViolation: the cell is decided already.
    """
    name = record.new.name
    path = decision_file(layout, name, record.decision)
    if any(decision_file(layout, name, either).exists() for either in ("carried", "refused")):
        raise IntegrityViolation(f"{path}: {name} is decided already")
    layout.carried.mkdir(parents=True, exist_ok=True)
    scratch = path.with_name(f".{path.name}.new")
    text = json.dumps(record.model_dump(mode="json"), indent=1, sort_keys=True) + "\n"
    with scratch.open("w", encoding="ascii") as file:
        file.write(text)
        file.flush()
        os.fchmod(file.fileno(), 0o444)
        os.fsync(file.fileno())
    scratch.rename(path)
    folder = os.open(layout.carried, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
    return path


def source(layout: Layout, cell: Cell) -> Source:
    """Where the record of a complete cell lies; its seal is not checked yet.

    Raises:
        IntegrityViolation: a decision's file is not about this cell, or about one that differs in more than
            the code revision.
    """
    folder = layout.sealed(cell.name)
    if folder.exists() or not decision_file(layout, cell.name, "carried").exists():
        return Source(folder, cell)
    record = _read(layout, cell.name, "carried")
    if record.new.identity != cell.identity:
        path = decision_file(layout, cell.name, "carried")
        raise IntegrityViolation(f"{path}: is about another cell than is planned under this name")
    return Source(layout.sealed(record.old.name), record.old, record)


def check_source(found: Source) -> None:
    """Hold a complete cell against its seal, and a carried one against the seal that was replayed.

    Raises:
        IntegrityViolation: something differs.
    """
    seal, record = check_seal(found.folder), read_cell(found.folder)
    if record.cell.identity != found.cell.identity:
        raise IntegrityViolation(f"{found.folder}: cell.json: is another cell than is planned")
    if found.carried and (seal.whole, seal.outcome) != (
        found.carried.seal,
        found.carried.seal_without_clocks,
    ):
        raise IntegrityViolation(f"{found.folder}: its seal is not the one that was carried over")


def faults_of_decisions(layout: Layout) -> tuple[str, ...]:
    """One line for each decision that does not hold; refused ones are held against their seals as well."""
    found: list[str] = []
    either: tuple[Decision, ...] = ("carried", "refused")
    for decision in either:
        for name in sorted(decided(layout, decision)):
            try:
                record = _read(layout, name, decision)
                check_source(Source(layout.sealed(record.old.name), record.old, record))
            except (IntegrityViolation, OSError) as error:
                found.append(str(error))
    return tuple(found)


def _read(layout: Layout, name: str, decision: Decision) -> CarryRecord:
    path = decision_file(layout, name, decision)
    record = load_json(CarryRecord, path)
    same = record.old.identity.model_copy(update={"code": record.new.identity.code})
    if (
        record.decision != decision
        or record.new.name != name
        or record.new.identity.digest() != record.new.digest
        or same != record.new.identity
    ):
        raise IntegrityViolation(f"{path}: does not say what its name says")
    return record
