"""Sources by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from almanak.config.loader import FILE as SETTINGS_FILE
from almanak.engine.evaluate import Record
from almanak.errors import SourceProblem
from almanak.sources.files import READERS, read


class Catalogue:
    """Finds the records of a source: first among the named ones, then as a file of the folder.

    Args:
        folder: where files of that name are looked for.
        named: paths by name, relative to the folder.
    """

    def __init__(self, folder: Path, named: Mapping[str, str] | None = None) -> None:
        self._folder = folder
        self._named = dict(named or {})
        self._memory: dict[str, list[Record]] = {}

    def add(self, name: str, records: Iterable[Record]) -> None:
        """Make records known that are in no file."""
        self._memory[name] = list(records)

    def lookup(self, name: str) -> list[Record]:
        """Records of a source.

        Raises:
            SourceProblem: there is none of that name, or its file cannot be read.
        """
        if name not in self._memory:
            self._memory[name] = read(self._path(name))
        return self._memory[name]

    def names(self) -> list[str]:
        """Every name that `lookup` knows, sorted."""
        files = {
            path.stem
            for path in self._folder.iterdir()
            if path.suffix.lower() in READERS and path.name != SETTINGS_FILE
        }
        return sorted(files | set(self._named) | set(self._memory))

    def _path(self, name: str) -> Path:
        if name in self._named:
            return self._folder / self._named[name]
        paths = [self._folder / f"{name}{suffix}" for suffix in sorted(READERS)]
        found = [path for path in paths if path.is_file() and path.name != SETTINGS_FILE]
        if not found:
            raise SourceProblem(f"there is no source {name!r}")
        if len(found) > 1:
            raise SourceProblem(f"{name!r} may be {' or '.join(path.name for path in found)}")
        return found[0]
