"""Watching a campaign: a live display on a terminal, plain lines everywhere else."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from repairlab.runner.events import (
    AttemptFailed,
    CampaignStarted,
    CellBlocked,
    CellSealed,
    CellStarted,
    Event,
    StepDone,
    Watch,
)


@contextmanager
def watching(*, plain: bool) -> Iterator[Watch]:
    """A watcher for the time of a command. Outcomes are never shown: a run may be blinded."""
    if plain or not sys.stderr.isatty():
        yield lambda event: print(line_of(event), file=sys.stderr, flush=True)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=False) as progress:
        preparing = progress.add_task("prepare", total=None)
        running = progress.add_task("cells", total=None, visible=False)

        def watch(event: Event) -> None:
            match event:
                case StepDone(text, done, total):
                    progress.update(preparing, description=f"prepare {text}", completed=done, total=total)
                case CampaignStarted(planned, sealed):
                    progress.update(running, total=planned, completed=sealed, visible=True)
                case CellStarted(cell, _):
                    label = f"{cell.task} {cell.treatment} {cell.model}"
                    progress.update(running, description=label)
                case CellSealed():
                    progress.advance(running)
                case AttemptFailed() | CellBlocked():
                    progress.console.print(line_of(event))

        yield watch


def line_of(event: Event) -> str:
    """One line of plain text."""
    match event:
        case StepDone(text, done, total):
            return f"prepare [{done}/{total}] {text}"
        case CampaignStarted(planned, sealed):
            return f"{planned} cells planned, {sealed} sealed already"
        case CellStarted(cell, attempt):
            return f"cell {cell.sequence + 1}: {cell.name} (attempt {attempt})"
        case CellSealed(cell, _, _, seconds):
            return f"cell {cell.sequence + 1}: sealed after {seconds:.2f} s"
        case AttemptFailed(cell, attempt, kind, message):
            return f"cell {cell.sequence + 1}: attempt {attempt} failed: {kind}: {message}"
        case CellBlocked(cell, failures):
            return f"cell {cell.sequence + 1}: blocked after {failures} infrastructure failures"
