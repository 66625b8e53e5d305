"""Many replays at once: each in a process of its own kind, results in the frozen order.

Cells of one task go to one process, which opens that task once. Processes are started afresh, never forked:
a replay must not depend on what its parent has in memory. A process that dies costs the cell that it was at.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import groupby
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import NamedTuple, TypeAlias

from repairlab.contract.errors import InfrastructureFailure, RefuseToStart, RepairlabError
from repairlab.manifest.cell import Cell
from repairlab.runner.audited import Audited, Auditing

_STOP_SECONDS = 20.0
"""How long a process may clean up after it was told to stop."""
_MOST_FRUITLESS = 1


class Replay(NamedTuple):
    """One cell to be replayed."""

    place: int
    """Among those asked for, in the frozen order."""
    folder: Path
    cell: Cell


Open: TypeAlias = Callable[[str], Auditing]
"""Gives an auditor for the cells of one task."""
Opener: TypeAlias = Callable[[], Open]
"""Called once in each process; it has to be importable there by name."""
Seen: TypeAlias = Callable[[Replay, Audited], None]


def replay_all(replays: Sequence[Replay], jobs: int, opener: Opener, seen: Seen) -> tuple[Audited, ...]:
    """Replay cells in up to `jobs` processes.

    Args:
        replays: in the frozen order, `place` counting from 0.
        jobs: how many at once; with 1 everything happens in this process.
        opener: see `Opener`.
        seen: told of each result when it is there, in any order.

    Raises:
        RefuseToStart: a task cannot be opened here.
        InfrastructureFailure: processes die one after the other (kind ``replay-process``).

    Returns:
        One result a cell, in the frozen order whatever the order of completion.
    """
    units = deque(_units(replays, jobs))
    results: dict[int, Audited] = {}

    def keep(replay: Replay, audited: Audited) -> None:
        results[replay.place] = audited
        seen(replay, audited)

    if min(jobs, len(units)) <= 1:
        for replay, audited in _replayed(replays, opener()):
            keep(replay, audited)
    else:
        with _pool(min(jobs, len(units)), opener) as workers:
            _drive(workers, units, keep)
    return tuple(results[replay.place] for replay in replays)


def _units(replays: Sequence[Replay], jobs: int) -> Iterator[tuple[Replay, ...]]:
    """Runs of cells of one task, smaller where tasks are too few for `jobs` processes."""
    runs = [tuple(run) for _, run in groupby(replays, key=lambda replay: replay.cell.task)]
    parts = 1 if len(runs) >= 2 * jobs else 2 * jobs
    for run in runs:
        size = -(-len(run) // parts)
        yield from (run[start : start + size] for start in range(0, len(run), size))


def _replayed(replays: Sequence[Replay], open_task: Open) -> Iterator[tuple[Replay, Audited]]:
    for task, run in groupby(replays, key=lambda replay: replay.cell.task):
        auditor = open_task(task)
        for replay in run:
            yield replay, auditor.audit(replay.folder, replay.cell)


@dataclass(slots=True)
class _Worker:
    opener: Opener
    connection: Connection = field(init=False)
    process: SpawnProcess = field(init=False)
    left: deque[Replay] = field(default_factory=deque)
    """Cells handed out and not answered yet."""
    fruitless: int = 0
    """How often in a row its process died without one result."""

    def start(self) -> None:
        """Start the process; an interrupt of the terminal is for the parent alone."""
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=(theirs, self.opener), daemon=True)
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            self.process.start()
        finally:
            signal.signal(signal.SIGINT, before)
        theirs.close()

    def give(self, unit: Sequence[Replay]) -> None:
        self.left = deque(unit)
        self.connection.send(tuple(unit))

    def stop(self) -> None:
        self.connection.close()
        self.process.terminate()
        self.process.join(_STOP_SECONDS)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()


@contextmanager
def _pool(count: int, opener: Opener) -> Iterator[list[_Worker]]:
    workers = [_Worker(opener) for _ in range(count)]
    started: list[_Worker] = []
    try:
        for worker in workers:
            worker.start()
            started.append(worker)
        yield workers
    finally:
        for worker in started:
            worker.stop()


def _drive(workers: list[_Worker], units: deque[tuple[Replay, ...]], keep: Seen) -> None:
    for worker in workers:
        worker.give(units.popleft())
    while busy := {worker.connection: worker for worker in workers if worker.left}:
        for ready in wait(list(busy)):
            worker = next(one for connection, one in busy.items() if connection is ready)
            _receive(worker, units, keep)
            if not worker.left and units:
                worker.give(units.popleft())


def _receive(worker: _Worker, units: deque[tuple[Replay, ...]], keep: Seen) -> None:
    """Take one result; where the process died instead, its cell is troubled, the rest goes to a new one."""
    try:
        said: Audited | _Refused = worker.connection.recv()
    except (EOFError, ConnectionResetError):
        worker.process.join()
        lost = worker.left.popleft()
        died = f"the process of the replay died with exit status {worker.process.exitcode}"
        worker.fruitless += 1
        if worker.fruitless > _MOST_FRUITLESS:
            raise InfrastructureFailure(f"{lost.folder.name}: {died}", kind="replay-process") from None
        keep(lost, Audited(lost.folder.name, "", False, died))
        if worker.left:
            units.appendleft(tuple(worker.left))
            worker.left.clear()
        worker.connection.close()
        worker.start()
    else:
        if isinstance(said, _Refused):
            raise RefuseToStart(said.message, repair=said.repair)
        worker.fruitless = 0
        keep(worker.left.popleft(), said)


class _Refused(NamedTuple):
    """Why a process cannot open what its cells need: the same holds for all others."""

    message: str
    repair: str


class _Stop(BaseException):
    """The parent wants no more results: unwind, so that scratch folders are removed."""


def _stop(_signal: int, _frame: object) -> None:
    raise _Stop


def _work(connection: Connection, opener: Opener) -> None:
    """Life of a process. SIGINT gets a handler that does nothing: tests that it starts have the default."""
    signal.signal(signal.SIGINT, lambda _signal, _frame: None)
    try:
        signal.signal(signal.SIGTERM, _stop)
        try:
            _serve(connection, opener)
        finally:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)  # the parent's last word may come late
    except _Stop:
        return


def _serve(connection: Connection, opener: Opener) -> None:
    """Replay what comes until the parent hangs up."""
    try:
        open_task = _last_task(opener())
        while True:
            unit: tuple[Replay, ...] = connection.recv()
            for _, audited in _replayed(unit, open_task):
                connection.send(audited)
    except RepairlabError as error:
        connection.send(_Refused(error.message, error.repair))
    except (EOFError, BrokenPipeError):
        return


def _last_task(open_task: Open) -> Open:
    """`open_task`, which opens the task that it opened last only once."""
    kept: dict[str, Auditing] = {}

    def opened(task: str) -> Auditing:
        if task not in kept:
            auditor = open_task(task)
            kept.clear()
            kept[task] = auditor
        return kept[task]

    return opened
