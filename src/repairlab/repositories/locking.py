"""A lock between processes of one machine, freed by the kernel when its holder dies."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def hold(path: Path) -> Iterator[None]:
    """Hold the exclusive lock of the file at `path` (created when absent), waiting as long as it takes."""
    with path.open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
