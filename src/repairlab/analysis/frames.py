"""Every table of an experiment as a polars frame: the planned cells, left-joined with what is sealed."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import islice
from multiprocessing import get_context
from typing import NamedTuple

import polars as pl

from repairlab.analysis.extract import Expected, rows_of, unsealed_rows
from repairlab.analysis.plan import Plan
from repairlab.analysis.schema import KEYS, TABLES
from repairlab.contract.errors import RepairlabError
from repairlab.store.layout import Layout
from repairlab.store.sealed import sealed_names

_BATCH = 400
"""Cells read by one task of the pool: enough to hide its overhead, few enough to keep memory flat."""
_ALONE = 2000
"""Up to so many cells one process is quicker than starting others."""


@dataclass(frozen=True, slots=True)
class Frames:
    """What the store holds of one experiment. Nothing here has passed the gate."""

    plan: Plan
    tables: Mapping[str, pl.DataFrame]
    """Each table by its name, with its own columns and the cell's ``sequence``."""
    unreadable: tuple[str, ...]
    """Sealed cells whose seal or form does not hold, with the reason."""
    unplanned: tuple[str, ...]
    """Folders in `raw/` that the frozen manifest does not plan."""

    def labelled(self, name: str) -> pl.DataFrame:
        """The table `name` with the key columns in front, in the frozen order."""
        table = self.tables[name]
        keys = [column.name for column in KEYS if column.name != "sequence"]
        joined = table.join(self.plan.frame(), on="sequence", how="left", maintain_order="left")
        own = [column for column in table.columns if column != "sequence"]
        return joined.select(["sequence", *keys, *own])


class _Batch(NamedTuple):
    frames: dict[str, bytes]
    unreadable: list[str]


def read_frames(plan: Plan, layout: Layout, processes: int = 1) -> Frames:
    """Read every sealed cell once; memory holds columns, not files.

    Args:
        plan: the experiment as planned.
        layout: where its records are.
        processes: readers beside each other, for stores of thousands of cells.
    """
    present = set(sealed_names(layout))
    planned = {plan.folder_of(cell.name) for cell in plan.cells}
    wanted = list(_expected(plan, layout))
    parts: dict[str, list[pl.DataFrame]] = {table.name: [] for table in TABLES}
    unreadable: list[str] = []
    for batch in _batches(wanted, processes):
        unreadable += batch.unreadable
        for name, data in batch.frames.items():
            parts[name].append(pl.read_ipc(io.BytesIO(data)))
    tables = {
        table.name: pl.concat([pl.DataFrame(schema=table.schema), *parts[table.name]], rechunk=True)
        for table in TABLES
    }
    return Frames(plan, tables, tuple(unreadable), tuple(sorted(present - planned - plan.superseded)))


def _batches(wanted: Sequence[Expected], processes: int) -> Iterator[_Batch]:
    groups = [wanted[start : start + _BATCH] for start in range(0, len(wanted), _BATCH)]
    if processes == 1 or len(wanted) <= _ALONE:
        yield from map(_read, groups)
        return
    # A fresh interpreter for each reader: a fork would copy polars' threads in whatever state they are.
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        waiting = iter(groups)
        running = [pool.submit(_read, group) for group in islice(waiting, 2 * processes)]
        while running:
            yield running.pop(0).result()
            running += [pool.submit(_read, group) for group in islice(waiting, 1)]


def _read(group: Sequence[Expected]) -> _Batch:
    rows: dict[str, list[tuple[object, ...]]] = {table.name: [] for table in TABLES}
    unreadable: list[str] = []
    for expected in group:
        try:
            found = rows_of(expected)
        except (RepairlabError, OSError) as error:
            unreadable.append(str(error))
            found = unsealed_rows(expected)
        for name, own in found.items():
            rows[name] += [(expected.sequence, *row) for row in own]
    frames = {}
    for table in TABLES:
        buffer = io.BytesIO()
        pl.DataFrame(rows[table.name], schema=table.schema, orient="row").write_ipc(buffer)
        frames[table.name] = buffer.getvalue()
    return _Batch(frames, unreadable)


def _expected(plan: Plan, layout: Layout) -> Iterator[Expected]:
    """In the frozen order; a folder of attempts is looked for only where there is one."""
    tried = {path.name for path in layout.incomplete.iterdir()} if layout.incomplete.is_dir() else set()
    for cell in plan.cells:
        facts = plan.tasks[cell.task]
        folder = plan.folder_of(cell.name)
        yield Expected(
            sequence=cell.sequence,
            name=cell.name,
            digest=cell.digest,
            code=cell.identity.code,
            folder=layout.sealed(folder),
            attempts=layout.attempts(cell.name) if cell.name in tried else (),
            gold=facts.gold,
            fail_to_pass=facts.fail_to_pass,
            pass_to_pass=facts.pass_to_pass,
            label=plan.labels[cell.treatment],
            carried=folder != cell.name,
        )
