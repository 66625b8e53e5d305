"""Run the real ``git apply`` over just the files that a diff names, away from everything else."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Mapping
from pathlib import Path

from repairlab.contract.errors import IntegrityViolation
from repairlab.repositories import git
from repairlab.repositories.canonical import State, make_store


def apply_strictly(patch: bytes, before: State, place: Path) -> Mapping[str, bytes] | None:
    """Files after ``git apply`` of `patch` to `before`, all of them; None when git refuses.

    Git gets no option that loosens anything: no fuzz, no recounting, no rejects, no white-space rules.

    Args:
        patch: the normalised diff.
        before: the files that it names, as far as they exist.
        place: an existing folder for the scratch tree, which is removed again.
    """
    with tempfile.TemporaryDirectory(prefix="apply-", dir=place) as folder:
        store, tree = Path(folder) / "git", Path(folder) / "tree"
        make_store(store)
        tree.mkdir()
        for path, (mode, content) in before.items():
            target = tree / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
            target.chmod(0o755 if mode == "100755" else 0o644)
        ended = git.attempt(
            ["apply", "--whitespace=nowarn", "-"],
            git_dir=store,
            cwd=tree,
            stdin=patch,
            environment={"GIT_WORK_TREE": os.fspath(tree.absolute())},
        )
        return _collect(tree) if ended.status == 0 else None


def _collect(tree: Path) -> dict[str, bytes]:
    """Every file below `tree`, by what is there and not by what the patch said."""
    found: dict[str, bytes] = {}
    for folder, folders, names in os.walk(tree):
        for name in [*folders, *names]:
            path = Path(folder) / name
            mode = path.lstat().st_mode
            if stat.S_ISREG(mode):
                found[path.relative_to(tree).as_posix()] = path.read_bytes()
            elif not stat.S_ISDIR(mode):
                raise IntegrityViolation(f"a patch that passed the policy made {path.name}, which is no file")
    return found
