"""A folder that lives as long as one run, whatever tested code leaves in it."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_ATTEMPTS = 5


@contextmanager
def scratch_folder(parent: Path) -> Iterator[Path]:
    """A new private folder under `parent`, removed at the end.

    Its name is random and says nothing about task or cell, because tested code may see it.
    """
    parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="run-", dir=parent)).resolve()
    try:
        yield folder
    finally:
        remove_tree(folder)


def remove_tree(folder: Path) -> None:
    """Remove `folder` although its owner took away his own permissions inside. Links are not followed."""
    for attempt in range(_ATTEMPTS):
        for place, folders, _ in os.walk(folder):
            for name in folders:
                child = Path(place, name)
                if not child.is_symlink():
                    _open_up(child)
        try:
            shutil.rmtree(folder)
        except OSError:  # something that is just being killed may still have made a file
            if attempt + 1 == _ATTEMPTS:
                raise
            time.sleep(0.1)
        else:
            return


def _open_up(folder: Path) -> None:
    if stat.S_IMODE(folder.stat().st_mode) & stat.S_IRWXU != stat.S_IRWXU:
        folder.chmod(0o700)
