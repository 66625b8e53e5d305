"""Which sealed cells are to be decided after an amendment, and what a replay of them must include."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from repairlab.manifest.amendments import recoded
from repairlab.manifest.cell import Cell
from repairlab.manifest.freeze import Frozen
from repairlab.runner.audited import Audited
from repairlab.store.carried import CarryRecord, check_source, complete_names, decided, source
from repairlab.store.layout import Layout
from repairlab.store.sealed import Seal

_OUT_OF_REACH = ("src/search/", "src/agents/", "src/hosts/")
"""Rooms that no test run and no verdict can notice: given its tree, a run never passes through them."""


class Candidate(NamedTuple):
    """A sealed cell whose identity under the code in force has no record of its own."""

    new: Cell
    old: Cell
    """As it was sealed."""
    folder: Path
    reached: str
    """A file changed since the cell was sealed that could change a test run or a verdict; empty for none."""


def candidates(layout: Layout, frozen: Frozen) -> Iterator[Candidate]:
    """Cells to decide on, in the frozen order, each from the latest revision under which it is complete.

    Raises:
        IntegrityViolation: a sealed cell, or an earlier decision on it, does not hold.
    """
    complete, refused = complete_names(layout), decided(layout, "refused")
    for cell in frozen.manifest.cells:
        if cell.name in complete or cell.name in refused:
            continue
        for revision in reversed(frozen.revisions[:-1]):
            before = recoded(cell, revision)
            if before.name in complete:
                found = source(layout, before)
                check_source(found)
                reached = reaches_tests(frozen, found.cell.identity.code)
                yield Candidate(cell, found.cell, found.folder, reached)
                break


def reaches_tests(frozen: Frozen, sealed_under: str) -> str:
    """The first file changed since the revision `sealed_under` that a test run or a verdict could notice."""
    since = frozen.revisions.index(sealed_under)
    changed = {path for amendment in frozen.amendments[since:] for path in amendment.changed}
    reaching = (
        path
        for path in sorted(changed)
        if path.startswith(("src/", "contracts/"))
        and not path.startswith(_OUT_OF_REACH)
        and not path.endswith(".md")
    )
    return next(reaching, "")


def decision(candidate: Candidate, audited: Audited, seal: Seal, frozen: Frozen, now: str) -> CarryRecord:
    """What a replay without trouble decides."""
    return CarryRecord(
        schema_version=1,
        decision="refused" if audited.difference else "carried",
        old=candidate.old,
        new=candidate.new,
        amendment=frozen.head,
        seal=seal.whole,
        seal_without_clocks=seal.outcome,
        tests_run=audited.tests_run,
        difference=audited.difference,
        decided_at=now,
    )
