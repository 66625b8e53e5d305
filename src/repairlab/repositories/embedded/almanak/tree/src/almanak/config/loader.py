"""Settings from files.

They come from ``almanak.toml`` in the folder and in each folder above it up to one that holds a file with
``root = true``; the nearer file wins. Paths in a file are relative to its own folder.
"""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any

from almanak.config.settings import Settings, check, merge
from almanak.errors import ConfigProblem

FILE = "almanak.toml"


def load(folder: Path, overrides: dict[str, Any] | None = None) -> Settings:
    """Settings that hold in a folder.

    Args:
        folder: where to begin.
        overrides: settings that win over every file.

    Raises:
        ConfigProblem: a file cannot be read, or holds what makes no sense.
    """
    folder = folder.resolve()
    layers: list[dict[str, Any]] = []
    for place in (folder, *folder.parents):
        path = place / FILE
        if not path.is_file():
            continue
        data = read(path)
        root = data.pop("root", False)
        if not isinstance(root, bool):
            raise ConfigProblem(f"{path}: root is true or false")
        layers.append(_relative(check(data, str(path)), place, folder))
        if root:
            break
    layers.reverse()
    return merge(*layers, check(overrides or {}, "command line"))


def read(path: Path) -> dict[str, Any]:
    """One file as plain data."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ConfigProblem(f"{path}: {error}") from error
    except UnicodeDecodeError as error:
        raise ConfigProblem(f"{path}: not UTF-8") from error


def _relative(data: dict[str, Any], place: Path, folder: Path) -> dict[str, Any]:
    """Paths as seen from `folder`."""
    if place == folder:
        return data
    moved = dict(data)
    for name in ("folder", "views"):
        if name in moved:
            moved[name] = os.path.relpath(place / moved[name], folder)
    if "sources" in moved:
        moved["sources"] = {n: os.path.relpath(place / p, folder) for n, p in moved["sources"].items()}
    return moved
