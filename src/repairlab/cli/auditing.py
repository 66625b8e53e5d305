"""`repairlab audit`: replay sealed cells from their recorded replies."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

from repairlab.cli.opening import veil
from repairlab.cli.running import Options, Plan, make_plan, preparation
from repairlab.contract.errors import BadInput, InfrastructureFailure, IntegrityViolation
from repairlab.manifest.cell import Cell
from repairlab.runner.audit import Auditor
from repairlab.runner.audited import Audited
from repairlab.runner.campaign import standing
from repairlab.runner.replaying import Open, Replay, Seen, replay_all
from repairlab.store.carried import source


def audit_command(options: Options, start: str, *, every: bool, run_tests: bool, jobs: int | None) -> None:
    """Replay one cell, or every sealed cell; the first difference in the frozen order is named last.

    Raises:
        BadInput: no cell is named and not all are asked for, or the name fits none.
        IntegrityViolation: a replay differs.
        InfrastructureFailure: a cell could not be replayed; nothing is said about it.
    """
    plan = make_plan(options)
    cells = _chosen(plan, start, every=every)
    replays = [Replay(place, *source(plan.layout, cell)[:2]) for place, cell in enumerate(cells)]
    results = replay(options, plan, replays, run_tests=run_tests, jobs=jobs)
    tests = "tests run again" if run_tests else "test runs taken from the record"
    different = [one for one in results if one.difference]
    troubled = [one for one in results if one.trouble]
    print(f"{options.experiment}: {len(cells)} cells replayed, {len(different)} differ ({tests})")
    if different:
        raise IntegrityViolation(
            f"{len(different)} of {len(cells)} replays differ from what was sealed; the first:"
            f"\n  {different[0].cell}: {veil_of(plan)(different[0].difference)}"
        )
    if troubled:
        raise InfrastructureFailure(
            f"{len(troubled)} cells could not be replayed; the first:\n  {troubled[0].cell}:"
            f" {troubled[0].trouble}",
            kind="replay",
        )


def replay(
    options: Options,
    plan: Plan,
    replays: Sequence[Replay],
    *,
    run_tests: bool,
    jobs: int | None,
    done: Seen | None = None,
) -> tuple[Audited, ...]:
    """Replay cells in parallel with a display; one job a core unless `jobs` says otherwise.

    `done` is told of each result when it is there, in any order.
    """
    opener = partial(open_auditor, options, run_tests)
    own = partial(_auditors, plan, run_tests)
    count, hide = jobs or _cores(), veil_of(plan)
    with _shown(len(replays), plain=options.plain) as shown:

        def seen(replay: Replay, audited: Audited) -> None:
            if done is not None:
                done(replay, audited)
            if audited.difference:
                audited = replace(audited, difference=hide(audited.difference))
            shown(replay, audited)

        return replay_all(replays, count, own if count == 1 else opener, seen)


def veil_of(plan: Plan) -> Callable[[str], str]:
    """What is printed of a difference while the plan's outcomes are closed."""
    return veil(plan.study, plan.inputs, plan.frozen)


def open_auditor(options: Options, run_tests: bool) -> Open:
    """In a process of its own: the plan anew, then auditors task by task."""
    return _auditors(make_plan(options), run_tests)


def _auditors(plan: Plan, run_tests: bool) -> Open:
    material = preparation(plan, lambda _event: None)

    def open_task(task: str) -> Auditor:
        ready = {task: material.reopen(task)}
        return Auditor(plan.inputs, ready, plan.sandbox, plan.workplace.scratch, run_tests)

    return open_task


def _cores() -> int:
    """Cores that this process may use."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def _shown(count: int, *, plain: bool) -> Iterator[Seen]:
    """A bar on a terminal, with differences above it; else one line a cell, in the frozen order."""
    if plain or not sys.stderr.isatty():
        yield _in_order(count)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        bar = progress.add_task("replay", total=count)

        def seen(replay: Replay, audited: Audited) -> None:
            progress.advance(bar)
            if audited.difference or audited.trouble:
                progress.console.print(_line(replay, audited, count), markup=False, highlight=False)

        yield seen


def _in_order(count: int) -> Seen:
    waiting: dict[int, str] = {}
    printed = 0

    def seen(replay: Replay, audited: Audited) -> None:
        nonlocal printed
        waiting[replay.place] = _line(replay, audited, count)
        while printed in waiting:
            print(waiting.pop(printed), flush=True)
            printed += 1

    return seen


def _line(replay: Replay, audited: Audited, count: int) -> str:
    verdict = f"DIFFERS: {audited.difference}" if audited.difference else "equal"
    if audited.trouble:
        verdict = f"NOT REPLAYED: {audited.trouble}"
    return f"[{replay.place + 1}/{count}] {replay.folder.name}: {verdict}"


def _chosen(plan: Plan, start: str, *, every: bool) -> Sequence[Cell]:
    attempts = plan.inputs.shared.infrastructure.attempts
    sealed = standing(plan.layout, plan.frozen.manifest.cells, attempts).sealed
    if every:
        return sealed
    if not start:
        raise BadInput("name a cell to audit, or give --all")
    fitting = [cell for cell in sealed if cell.name.startswith(start)]
    if not fitting:
        raise BadInput(f"no sealed cell of {plan.inputs.experiment.name} begins with {start!r}")
    return fitting
