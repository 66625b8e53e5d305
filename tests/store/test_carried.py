"""Decisions on sealed cells: complete under a new identity, never touched, never decided twice."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from repairlab.contract.errors import IntegrityViolation
from repairlab.manifest.amendments import recoded
from repairlab.manifest.cell import Cell
from repairlab.runner.campaign import standing
from repairlab.store.carried import (
    CarryRecord,
    Decision,
    check_source,
    complete_names,
    decided,
    decided_folders,
    decision_file,
    faults_of_decisions,
    source,
    write_decision,
)
from repairlab.store.layout import Layout
from repairlab.store.sealed import check_seal

NEW_CODE = "d" * 64


@pytest.fixture
def decide(layout: Layout, seal: Callable[[Cell], Path]) -> Callable[[Cell, Decision], Cell]:
    """Seals a cell, and decides on it; the cell under the new code."""

    def run(cell: Cell, decision: Decision) -> Cell:
        folder = seal(cell)
        new, digests = recoded(cell, NEW_CODE), check_seal(folder)
        difference = "" if decision == "carried" else "transcript record 3"
        record = CarryRecord(
            schema_version=1, decision=decision, old=cell, new=new, amendment="f" * 64, seal=digests.whole,
            seal_without_clocks=digests.outcome, tests_run=True, difference=difference,
            decided_at="2026-01-01T00:00:00Z",
        )  # fmt: skip
        write_decision(layout, record)
        return new

    return run


Decide = Callable[[Cell, Decision], Cell]


def test_a_carried_cell_is_complete_under_its_new_identity(
    layout: Layout, cells: tuple[Cell, ...], decide: Decide
) -> None:
    new = [recoded(cell, NEW_CODE) for cell in cells]
    assert decide(cells[0], "carried") == new[0]
    assert decide(cells[1], "refused") == new[1]
    now = standing(layout, new, 3)
    assert (now.sealed, now.carried) == ((new[0],), (new[0],))
    assert now.pending == tuple(new[1:])
    found = source(layout, new[0])
    assert (found.folder, found.cell) == (layout.sealed(cells[0].name), cells[0])
    check_source(found)
    assert decided_folders(layout, "refused") == {new[1].name: cells[1].name}
    assert complete_names(layout) == {cells[0].name, cells[1].name, new[0].name}


def test_under_the_old_manifest_everything_is_as_before(
    layout: Layout, cells: tuple[Cell, ...], decide: Decide
) -> None:
    decide(cells[0], "refused")
    now = standing(layout, cells, 3)
    assert (now.sealed, now.carried) == ((cells[0],), ())


def test_a_decision_is_made_once(layout: Layout, cells: tuple[Cell, ...], decide: Decide) -> None:
    new = decide(cells[0], "refused")
    path = decision_file(layout, new.name, "refused")
    assert path.stat().st_mode & 0o222 == 0
    record = CarryRecord.model_validate_json(path.read_text())
    for decision in ("carried", "refused"):
        with pytest.raises(IntegrityViolation, match="is decided already"):
            write_decision(layout, record.model_copy(update={"decision": decision}))


def test_a_sealed_cell_that_changed_after_its_decision_is_found(
    layout: Layout, cells: tuple[Cell, ...], decide: Decide
) -> None:
    """Even with checksums that were made to fit again."""
    new = decide(cells[0], "carried")
    path = decision_file(layout, new.name, "carried")
    path.chmod(0o644)
    path.write_text(path.read_text().replace(check_seal(layout.sealed(cells[0].name)).whole, "0" * 64))
    with pytest.raises(IntegrityViolation, match="is not the one that was carried over"):
        check_source(source(layout, new))
    assert "is not the one that was carried over" in "".join(faults_of_decisions(layout))


@pytest.mark.parametrize(
    ("where", "value"),
    [
        (("decision",), "refused"),
        (("old", "identity", "task"), "9" * 64),
        (("new", "identity", "seed"), 7),
        (("new", "digest"), "9" * 64),
    ],
)
def test_a_forged_decision_is_refused(
    layout: Layout, cells: tuple[Cell, ...], decide: Decide, where: tuple[str, ...], value: object
) -> None:
    new = decide(cells[0], "carried")
    path = decision_file(layout, new.name, "carried")
    record = json.loads(path.read_text())
    place = record
    for name in where[:-1]:
        place = place[name]
    place[where[-1]] = value
    path.chmod(0o644)
    path.write_text(json.dumps(record))
    with pytest.raises(IntegrityViolation, match="does not say what its name says"):
        source(layout, new)


def test_a_half_written_decision_is_none(layout: Layout, cells: tuple[Cell, ...], decide: Decide) -> None:
    new = decide(cells[0], "carried")
    path = decision_file(layout, new.name, "carried")
    path.rename(path.with_name(f".{path.name}.new"))
    assert decided(layout, "carried") == frozenset()
    assert standing(layout, [new], 3).pending == (new,)
