"""The modules that a checkout needs, fetched once and then only read.

Only `prepare` fetches. What is fetched is held against the checkout's own ``go.sum`` by the go command, and
later against a digest over every file. A module that vendors its dependencies needs nothing.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from repairlab.contract.canonical import digest_of
from repairlab.contract.errors import BadInput, InfrastructureFailure, IntegrityViolation
from repairlab.evaluation.golang.toolchains import Toolchain
from repairlab.evaluation.sandbox.scratch import remove_tree, scratch_folder
from repairlab.repositories.locking import hold

_NAMES = ("go.mod", "go.sum", "go.work", "go.work.sum")
_MARKER = "repairlab.digest"


@dataclass(frozen=True, slots=True)
class Modules:
    """A module cache; `digest` is over every file in it."""

    root: Path
    digest: str


@dataclass(frozen=True, slots=True)
class GoModules:
    """Module caches under `root`, keyed by the module files of a checkout."""

    root: Path
    variables: Mapping[str, str]
    """Search path, home, module proxy, checksum database; passed in by the command line."""
    timeout_seconds: float = 1800.0

    def ensure(self, toolchain: Toolchain, template: Path, folders: Iterable[str]) -> Modules:
        """The modules that the packages in `folders` of `template` need. Offline when they are there.

        Raises:
            BadInput: a package lies in no module.
            InfrastructureFailure: the go command failed; kind ``environment``.
            IntegrityViolation: a module cache is not what it was when it was made.
        """
        homes = sorted({_module_of(template, folder) for folder in folders})
        files = {
            name: hashlib.sha256((template / name).read_bytes()).hexdigest()
            for name in _files(template, homes)
        }
        key = digest_of({"files": files, "toolchain": toolchain.version_text, "homes": homes})
        place = self.root / key
        self.root.mkdir(parents=True, exist_ok=True)
        with hold(self.root / f"{key}.lock"):
            if not (place / _MARKER).is_file():
                self._make(place, toolchain, template, homes)
        digest = (place / _MARKER).read_text(encoding="ascii")
        if tree_digest(place / "mod") != digest:
            raise IntegrityViolation(f"the module cache {place} was changed", repair="delete it")
        return Modules(place / "mod", digest)

    def _make(self, place: Path, toolchain: Toolchain, template: Path, homes: list[str]) -> None:
        unfinished = place.with_suffix(".unfinished")
        for left_over in (place, unfinished):
            if left_over.exists():
                remove_tree(left_over)
        (unfinished / "mod").mkdir(parents=True)
        with scratch_folder(self.root) as scratch:
            for name in _files(template, _all_modules(template)):
                (scratch / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(template / name, scratch / name)
            for home in homes:
                if not (template / home / "vendor" / "modules.txt").is_file():
                    self._download(toolchain, scratch / home, unfinished / "mod")
        (unfinished / _MARKER).write_text(tree_digest(unfinished / "mod"), encoding="ascii")
        unfinished.rename(place)

    def _download(self, toolchain: Toolchain, folder: Path, cache: Path) -> None:
        fixed = {
            "GOROOT": str(toolchain.root),
            "GOMODCACHE": str(cache),
            "GOENV": "off",
            "GOFLAGS": "",
            "GO111MODULE": "on",
            "GOTOOLCHAIN": "local",
        }
        try:
            done = subprocess.run(
                (str(toolchain.root / "bin" / "go"), "mod", "download"),
                cwd=folder,
                capture_output=True,
                timeout=self.timeout_seconds,
                check=False,
                env={**self.variables, **fixed},
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise InfrastructureFailure(f"go did not run: {error}", kind="environment") from error
        if done.returncode != 0:
            said = done.stderr.decode("utf-8", "replace").strip()
            raise InfrastructureFailure(f"modules could not be fetched: {said[-2000:]}", kind="environment")


def tree_digest(root: Path) -> str:
    """Over path, kind and content of everything below `root`."""
    files: dict[str, str] = {}
    for place, folders, names in os.walk(root):
        folders.sort()
        for name in sorted(names):
            path = Path(place, name)
            linked = path.is_symlink()
            said = os.fsencode(path.readlink()) if linked else path.read_bytes()
            files[path.relative_to(root).as_posix()] = (
                f"{'link' if linked else 'file'} {hashlib.sha256(said).hexdigest()}"
            )
    return digest_of(files)


def make_read_only(root: Path) -> None:
    """Take the right to write from every file below `root`; for the root user it stays an intention."""
    for place, _, names in os.walk(root):
        for name in names:
            path = Path(place, name)
            if not path.is_symlink():
                path.chmod(path.stat().st_mode & ~0o222)


def _module_of(template: Path, folder: str) -> str:
    """The folder of the module that `folder` belongs to, relative to the root, ``.`` for the root itself."""
    parts = [] if folder == "." else folder.split("/")
    for depth in range(len(parts), -1, -1):
        home = "/".join(parts[:depth]) or "."
        if (template / home / "go.mod").is_file():
            return home
    raise BadInput(f"the Go package {folder} lies in no module: there is no go.mod at or above it")


def _files(template: Path, homes: Iterable[str]) -> list[str]:
    wanted = {*homes, "."}
    names = {os.path.normpath(f"{home}/{name}") for home in wanted for name in _NAMES}
    return sorted(name for name in names if (template / name).is_file())


def _all_modules(template: Path) -> list[str]:
    """Every module of the checkout: a local replacement or a workspace may name another one."""
    found: list[str] = []
    for place, folders, names in os.walk(template):
        folders[:] = sorted(folder for folder in folders if folder != ".git")
        if "go.mod" in names:
            found.append(Path(place).relative_to(template).as_posix())
    return found
