"""A campaign: the cells of a frozen manifest in their order, each sealed once or kept as a failed attempt."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from repairlab.contract.errors import InfrastructureFailure
from repairlab.manifest.cell import Cell
from repairlab.runner.events import (
    AttemptFailed,
    CampaignStarted,
    CellBlocked,
    CellSealed,
    CellStarted,
    Watch,
)
from repairlab.store.attempt import Attempt
from repairlab.store.carried import check_source, complete_names, source
from repairlab.store.layout import Layout
from repairlab.store.sealed import sealed_names


class CellResult(NamedTuple):
    """What a watcher may be told of a sealed cell."""

    outcome: str
    reason: str
    seconds: float


class CellRunner(Protocol):
    """Runs one attempt and seals it."""

    def __call__(self, cell: Cell, attempt: Attempt) -> CellResult: ...


class Standing(NamedTuple):
    """How far an experiment is."""

    sealed: tuple[Cell, ...]
    """Complete: sealed under this identity, or carried over to it."""
    blocked: tuple[Cell, ...]
    pending: tuple[Cell, ...]
    foreign: tuple[str, ...]
    """Sealed cells that the frozen manifest does not plan: of an earlier revision, or of nobody."""
    carried: tuple[Cell, ...]
    """Those of `sealed` that were sealed under an earlier code revision."""


def standing(layout: Layout, cells: Sequence[Cell], attempts_allowed: int) -> Standing:
    """Sort the planned cells by what the store holds. Reads folder names, no results."""
    under_this_name = set(sealed_names(layout))
    present = complete_names(layout)
    sealed = tuple(cell for cell in cells if cell.name in present)
    rest = [cell for cell in cells if cell.name not in present]
    blocked = tuple(cell for cell in rest if layout.failures(cell.name) >= attempts_allowed)
    pending = tuple(cell for cell in rest if cell not in blocked)
    foreign = tuple(sorted(under_this_name - {cell.name for cell in cells}))
    carried = tuple(cell for cell in sealed if cell.name not in under_this_name)
    return Standing(sealed, blocked, pending, foreign, carried)


def run_campaign(
    layout: Layout,
    cells: Sequence[Cell],
    attempts_allowed: int,
    run_cell: CellRunner,
    restore: Callable[[], None],
    watch: Watch,
    limit: int | None = None,
    *,
    retry_blocked: bool = False,
) -> Standing:
    """Run every pending cell in order; sealed ones are checked and left alone.

    Args:
        layout: folders of the experiment.
        cells: the frozen order.
        attempts_allowed: infrastructure attempts after which a cell is blocked.
        run_cell: runs and seals one attempt.
        restore: brings the host back to a known state after a failure; it may raise to stop the campaign.
        watch: told what happens.
        limit: stop after so many cells, sealed or blocked.
        retry_blocked: give blocked cells as many attempts again; the failed ones stay on record.

    Raises:
        IntegrityViolation: a cell sealed earlier is not what was sealed.
        RefuseToStart: a fact of the host or the machine forbids going on; attempts under way are kept.
    """
    before = standing(layout, cells, attempts_allowed)
    for cell in before.sealed:
        check_source(source(layout, cell))
    watch(CampaignStarted(len(cells), len(before.sealed)))
    unsealed = {cell.name for cell in (*before.pending, *(before.blocked if retry_blocked else ()))}
    for cell in [cell for cell in cells if cell.name in unsealed][:limit]:
        allowed = attempts_allowed + (layout.failures(cell.name) if cell in before.blocked else 0)
        _run_until_sealed_or_blocked(layout, cell, allowed, run_cell, restore, watch)
    return standing(layout, cells, attempts_allowed)


def _run_until_sealed_or_blocked(
    layout: Layout,
    cell: Cell,
    attempts_allowed: int,
    run_cell: CellRunner,
    restore: Callable[[], None],
    watch: Watch,
) -> None:
    while layout.failures(cell.name) < attempts_allowed:
        with Attempt(layout, cell.name) as attempt:
            watch(CellStarted(cell, attempt.number))
            try:
                result = run_cell(cell, attempt)
            except InfrastructureFailure as failure:
                attempt.fail(failure.kind, failure.message)
                watch(AttemptFailed(cell, attempt.number, failure.kind, failure.message))
            else:
                watch(CellSealed(cell, *result))
                return
        restore()
    watch(CellBlocked(cell, layout.failures(cell.name)))
