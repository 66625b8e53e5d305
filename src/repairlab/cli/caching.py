"""`repairlab cache`: what was derived on this machine, and how to be rid of it."""

from __future__ import annotations

import os
from pathlib import Path

from repairlab.cli.settings import settings_for
from repairlab.cli.tables import print_table
from repairlab.contract.errors import BadInput
from repairlab.contract.study import open_study
from repairlab.evaluation.sandbox.scratch import remove_tree
from repairlab.repositories.sources import Sources
from repairlab.runner.workplace import Workplace
from repairlab.search.toolset import SearchPlaces

PARTS = (
    "mirrors",
    "templates",
    "search",
    "environments",
    "go",
    "gold-checks",
    "knowledge",
    "sandboxes",
    "scratch",
)


def cache_command(root: Path, cache: str, clear: str) -> None:
    """Show what lies in the cache, by part; remove a part, or all, when asked to.

    Raises:
        BadInput: no such part.
    """
    place = settings_for(open_study(root), os.environ, cache=cache).cache
    if clear:
        _clear(place, clear)
    rows = [(part, *_size(place / part)) for part in PARTS if (place / part).exists()]
    print_table(f"cache in {place}", ("part", "files", "MiB"), rows)
    tables = SearchPlaces(Workplace(place, Sources()).search).blobs.stats()
    if tables:
        print_table(
            "search material by content",
            ("table", "entries", "damaged", "MiB"),
            [(t.folder, str(t.entries), str(t.damaged), f"{t.size / 2**20:.1f}") for t in tables],
        )


def _clear(place: Path, part: str) -> None:
    if part not in (*PARTS, "all"):
        raise BadInput(f"--clear {part}: there are {', '.join(PARTS)}, all")
    for name in PARTS if part == "all" else (part,):
        if (place / name).exists():
            remove_tree(place / name)
            print(f"removed {place / name}")


def _size(folder: Path) -> tuple[str, str]:
    sizes = [path.lstat().st_size for path in folder.rglob("*") if not path.is_dir()]
    return str(len(sizes)), f"{sum(sizes) / 2**20:.1f}"
