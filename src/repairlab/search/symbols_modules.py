"""What module or package a file is, from paths alone, and which files an import means."""

from __future__ import annotations

import posixpath
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from repairlab.contract.task import Language

_INIT = "__init__.py"


def module_names(paths: Sequence[str], language: Language) -> list[str]:
    """The dotted module of each Python file, or the folder of each Go file (empty for the root)."""
    if language == "go":
        return [posixpath.dirname(path) for path in paths]
    packages = {posixpath.dirname(path) for path in paths if posixpath.basename(path) == _INIT}
    return [_python_module(path, packages) for path in paths]


def _python_module(path: str, packages: set[str]) -> str:
    """Dotted name from the topmost of the packages around the file on; its stem if there is none."""
    folder, name = posixpath.split(path)
    parts = [] if name == _INIT else [name.rpartition(".")[0]]
    while folder in packages and folder:
        folder, last = posixpath.split(folder)
        parts.insert(0, last)
    return ".".join(parts)


class PythonModules:
    """Finds the files of Python modules.

    A module is known by its name in `module_names` and, so that folders without ``__init__.py`` are reached
    as well, by its whole path from the root of the repository.
    """

    __slots__ = ("_files", "_folders", "_names", "_packages")

    def __init__(self, paths: Sequence[str], names: Sequence[str]) -> None:
        self._names = names
        self._folders = [posixpath.dirname(path) for path in paths]
        self._packages = [posixpath.basename(path) == _INIT for path in paths]
        files: defaultdict[str, set[int]] = defaultdict(set)
        for number, (path, name) in enumerate(zip(paths, names, strict=True)):
            whole = path.rpartition(".")[0].replace("/", ".")
            files[name].add(number)
            files[whole.removesuffix(".__init__")].add(number)
        self._files = {name: tuple(sorted(numbers)) for name, numbers in files.items() if name}

    def files(self, module: str) -> tuple[int, ...]:
        """The files of an absolute module, ascending; several where two share its name, none if foreign."""
        return self._files.get(module, ())

    def beside(self, file: int, files: Sequence[int]) -> tuple[int, ...]:
        """Those of `files` that lie in the folder of `file`."""
        return tuple(other for other in files if self._folders[other] == self._folders[file])

    def absolute(self, file: int, module: str, level: int) -> str:
        """What `file` means by `module` with `level` leading dots; empty where they lead out of the top."""
        if level == 0:
            return module
        parts = self._names[file].split(".") if self._names[file] else []
        keep = len(parts) - level + (1 if self._packages[file] else 0)
        if keep < 0 or (keep == 0 and not module):
            return ""
        return ".".join([*parts[:keep], *([module] if module else [])])


class GoPackages:
    """Finds the folders of Go packages by their import paths.

    The module's own path is read off the imports: it is the prefix that turns the most distinct import paths
    into folders of the repository; of equal ones the longest, then the first.
    """

    __slots__ = ("_folders", "prefix")

    def __init__(self, folders: Iterable[str], imports: Iterable[str]) -> None:
        self._folders = frozenset(folders)
        votes = Counter(prefix for path in sorted(set(imports)) if (prefix := self._prefix(path)))
        self.prefix = min(votes, key=lambda prefix: (-votes[prefix], -len(prefix), prefix), default="")

    def _prefix(self, path: str) -> str:
        """What stands before the longest end of `path` that is a folder; empty if none is."""
        parts = path.split("/")
        for size in range(len(parts) - 1, 0, -1):
            if "/".join(parts[-size:]) in self._folders:
                return "/".join(parts[:-size])
        return ""

    def folder(self, path: str) -> str | None:
        """The folder that the import `path` means, None for a package of another module."""
        if not self.prefix or (path != self.prefix and not path.startswith(f"{self.prefix}/")):
            return None
        folder = path[len(self.prefix) + 1 :]
        return folder if folder in self._folders else None
