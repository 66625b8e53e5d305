"""One writer for one experiment. The lock dies with its process, whatever ended it."""

from __future__ import annotations

import fcntl
import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager

from repairlab.contract.errors import RefuseToStart
from repairlab.store.layout import Layout


@contextmanager
def writer_lock(layout: Layout, started: str) -> Iterator[None]:
    """Hold the experiment's lock.

    Args:
        layout: folders of the experiment; they exist.
        started: a label for the holder's start, shown to whoever is refused.

    Raises:
        RefuseToStart: another process holds it; the message names that process.
    """
    path = layout.incomplete / ".lock"
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.read(descriptor, 4096).decode(errors="replace") or "unknown"
            raise RefuseToStart(
                f"another runner works on {layout.raw.name}: {holder}",
                repair="wait for it, or stop it; a killed runner releases the lock by itself",
            ) from error
        os.ftruncate(descriptor, 0)
        holder = json.dumps({"pid": os.getpid(), "host": socket.gethostname(), "since": started})
        os.pwrite(descriptor, holder.encode(), 0)
        yield
    finally:
        os.close(descriptor)
