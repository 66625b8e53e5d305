"""Repositories that repairlab carries as package data, built into git with the same SHAs on every machine.

A folder holds ``tree/**``, the content of the base commit, and ``fixes/TASK.patch``, each a git diff of one
repair with its tests. Built: branch ``main`` at the base, and for each fix ``refs/heads/fix/TASK``, a single
commit on the base. Author, dates, messages and modes are constants, so neither umask, user configuration,
git's version nor the file system's order can move a SHA.

``python -m repairlab.repositories.embedded NAME`` prints the SHAs, for whoever freezes facts about them.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from repairlab.contract.canonical import sha256_hex
from repairlab.contract.errors import BadInput, RepairlabError
from repairlab.repositories import git
from repairlab.repositories.canonical import quoted

PREFIX: Final = "embedded:"
DATA: Final = Path(__file__).parent / "embedded"

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]{1,60}")
_WHO: Final = "repairlab <repairlab@example.invalid>"
_BASE_TIME: Final = 1_704_067_200  # 2024-01-01T00:00:00Z
_FIX_TIME: Final = _BASE_TIME + 86_400
_IGNORED: Final = frozenset({"__pycache__", ".DS_Store"})


@dataclass(frozen=True, slots=True)
class EmbeddedFacts:
    """SHAs of a built repository: `base`, and the fix commit of each task by its id."""

    base: str
    fixes: Mapping[str, str]


def folder_of(name: str) -> Path:
    """Folder of package data of ``embedded:NAME``.

    Raises:
        BadInput: no repository of that name is carried.
    """
    folder = DATA / name
    if not _NAME.fullmatch(name) or not (folder / "tree").is_dir():
        known = sorted(path.parent.name for path in DATA.glob("*/tree"))
        raise BadInput(f"no embedded repository is called {name}", repair=f"Known: {', '.join(known)}")
    return folder


def build(folder: Path, target: Path) -> EmbeddedFacts:
    """Build the repository of `folder` as a new bare repository at `target`.

    Raises:
        BadInput: a link or an odd name in the data, or a patch that does not apply to the base.
    """
    git.init_bare(target)
    git.run(["fast-import", "--quiet", "--done"], git_dir=target, stdin=_base_stream(folder / "tree"))
    base = git.run(["rev-parse", "--verify", "refs/heads/main"], git_dir=target).decode().strip()
    fixes = {
        patch.stem: _commit_fix(target, base, patch) for patch in sorted((folder / "fixes").glob("*.patch"))
    }
    return EmbeddedFacts(base, fixes)


def digest_of_data(folder: Path) -> str:
    """SHA-256 over the paths and contents of everything that `build` reads."""
    parts = [*_files(folder / "tree")]
    parts += [(path.name.encode(), path.read_bytes()) for path in sorted((folder / "fixes").glob("*.patch"))]
    return sha256_hex(b"".join(b"%d:%s%d:%s" % (len(path), path, len(data), data) for path, data in parts))


def _base_stream(tree: Path) -> bytes:
    """The base commit in the language of ``git fast-import``."""
    parts = [
        b"feature done\ncommit refs/heads/main\n",
        f"committer {_WHO} {_BASE_TIME} +0000\n".encode(),
        _data(b"Base\n"),
    ]
    for path, content in _files(tree):
        parts += [b"M 100644 inline ", quoted(path), b"\n", _data(content)]
    return b"".join([*parts, b"done\n"])


def _files(tree: Path) -> Iterator[tuple[bytes, bytes]]:
    """Path below `tree` and content of every file, in the order of the paths' bytes."""
    found: list[tuple[bytes, Path]] = []
    for folder, folders, names in os.walk(tree):
        folders[:] = [name for name in folders if name not in _IGNORED]
        for name in [*folders, *names]:
            if (Path(folder) / name).is_symlink():
                raise BadInput(f"{Path(folder) / name}: a link cannot be part of an embedded repository")
        files = [Path(folder) / name for name in names if name not in _IGNORED and not name.endswith(".pyc")]
        found += [(os.fsencode(path.relative_to(tree).as_posix()), path) for path in files]
    if not found:
        raise BadInput(f"{tree}: no files")
    for relative, path in sorted(found):
        yield relative, path.read_bytes()


def _data(content: bytes) -> bytes:
    return b"data %d\n%s\n" % (len(content), content)


def _commit_fix(repository: Path, base: str, patch: Path) -> str:
    """Commit `patch` on `base` as ``refs/heads/fix/TASK`` and return the new SHA."""
    task = patch.stem
    if not _NAME.fullmatch(task):
        raise BadInput(f"{patch}: the file's name must be the task's id (lower case, digits, hyphens)")
    with tempfile.TemporaryDirectory(dir=repository) as scratch:
        index = {"GIT_INDEX_FILE": os.fspath(Path(scratch).absolute() / "index")}
        git.run(["read-tree", base], git_dir=repository, environment=index)
        apply = ["apply", "--cached", "--whitespace=nowarn", "-"]
        ended = git.attempt(apply, git_dir=repository, stdin=patch.read_bytes(), environment=index)
        if ended.status != 0:
            raise BadInput(f"{patch}: does not apply to the base: {ended.complaint}")
        tree = git.run(["write-tree"], git_dir=repository, environment=index).decode().strip()
    stamp = f"{_FIX_TIME} +0000"
    dates = {"GIT_AUTHOR_DATE": stamp, "GIT_COMMITTER_DATE": stamp}
    commit_tree = ["commit-tree", tree, "-p", base]
    message = f"Repair {task}\n".encode()
    commit = git.run(commit_tree, git_dir=repository, stdin=message, environment=dates).decode().strip()
    git.run(["update-ref", f"refs/heads/fix/{task}", commit], git_dir=repository)
    return commit


def main(arguments: Sequence[str]) -> int:
    """Print the SHAs of the embedded repositories (or folders) named; 2 when one cannot be built."""
    for argument in arguments:
        try:
            folder = Path(argument) if "/" in argument else folder_of(argument)
            with tempfile.TemporaryDirectory() as scratch:
                facts = build(folder, Path(scratch) / "repository.git")
        except RepairlabError as error:
            sys.stderr.write(f"{error}\n")
            return error.exit_status
        lines = [f"base {facts.base}", *(f"fix/{task} {commit}" for task, commit in facts.fixes.items())]
        sys.stdout.write("".join(f"{line}\n" for line in lines))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
