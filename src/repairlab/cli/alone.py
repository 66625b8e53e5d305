"""Keeping runs of a study away while a command loads and unloads models at its host."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime

from repairlab.contract.errors import RefuseToStart
from repairlab.contract.study import Study
from repairlab.store.layout import Layout
from repairlab.store.lock import writer_lock


@contextmanager
def no_run_meanwhile(study: Study) -> Iterator[None]:
    """Hold the lock of every experiment of `study` that ever ran.

    A model that is unloaded under a run voids the cell under way. Runs of another study at the same host
    are not seen.

    Raises:
        RefuseToStart: a run is under way, or a lock cannot be held.
    """
    started = datetime.now(UTC).isoformat(timespec="seconds")
    with ExitStack() as stack:
        for folder in sorted(study.incomplete.glob("*/")):
            try:
                stack.enter_context(writer_lock(Layout(study.raw / folder.name, folder), started))
            except OSError as error:
                raise RefuseToStart(
                    f"{folder}: its lock cannot be held ({error.strerror})", repair="make the folder writable"
                ) from error
        yield
