"""What laying changes over a template takes: pure planning, and the plain copy that needs no rights.

A patch policy stands before this and lets no such path through; the checks here are the second lock, because
a path that leaves the tree would be written by the harness itself.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from repairlab.contract.errors import IntegrityViolation
from repairlab.evaluation.sandbox.model import Tree


@dataclass(frozen=True, slots=True)
class Plan:
    """Operations on a template. Paths are relative, in sorted order."""

    writes: Mapping[str, tuple[bytes, int]]
    """Path to content and permission bits; those of the file that is replaced, 0644 for a new one."""
    removals: tuple[str, ...]
    """Files that exist in the template and go."""
    emptied: tuple[str, ...]
    """Folders that hold nothing afterwards, deepest first. Git keeps no empty folder, and an empty folder can
    be imported as a namespace package."""


def plan(tree: Tree) -> Plan:
    """How `tree` differs from its template.

    Raises:
        IntegrityViolation: a path is absolute, leaves the tree, passes through a link or into ``.git``, or a
            file and a folder are wanted in one place.
    """
    root = tree.template
    for path in tree.changes:
        _check_contained(root, path)
    writes = {path: data for path, data in sorted(tree.changes.items()) if data is not None}
    removals = tuple(p for p in sorted(tree.changes) if tree.changes[p] is None and os.path.lexists(root / p))
    for path in removals:
        if (root / path).is_dir() and not (root / path).is_symlink():
            raise IntegrityViolation(f"a change deletes the folder {path} as if it were a file")
    emptied = _emptied(root, writes, removals)
    _check_places(root, writes, removals, emptied)
    return Plan({p: (data, _mode(root / p)) for p, data in writes.items()}, removals, emptied)


def copy_tree(template: Path, wanted: Plan, target: Path) -> None:
    """Copy `template` to the new folder `target` and carry out `wanted` there. Links stay links."""
    shutil.copytree(template, target, symlinks=True)
    for folder, _, _ in os.walk(target):
        Path(folder).chmod(0o755)
    for path in wanted.removals:
        (target / path).unlink()
    for path in wanted.emptied:
        (target / path).rmdir()
    write_files(wanted, target)


def write_files(wanted: Plan, target: Path) -> None:
    """Write the changed files under `target`, making folders (0755) as needed."""
    for path, (data, mode) in wanted.writes.items():
        place = target / path
        place.parent.mkdir(parents=True, exist_ok=True)
        if place.is_symlink() or place.exists():
            place.unlink()
        place.write_bytes(data)
        place.chmod(mode)


def under_written(path: str, writes: Iterable[str]) -> bool:
    """Whether an overlay's upper entry at or above `path` hides it already, or makes it a folder."""
    return any(path == w or path.startswith(f"{w}/") or w.startswith(f"{path}/") for w in writes)


def _check_contained(root: Path, path: str) -> None:
    parts = path.split("/")
    if "\0" in path or any(part in {"", ".", ".."} for part in parts) or parts[0] == ".git":
        raise IntegrityViolation(f"a change leaves the tree or enters its repository: {path!r}")
    for depth in range(1, len(parts)):
        if (root / "/".join(parts[:depth])).is_symlink():
            raise IntegrityViolation(f"a change passes through a symbolic link: {path!r}")


def _emptied(root: Path, writes: Mapping[str, bytes], removals: tuple[str, ...]) -> tuple[str, ...]:
    gone = set(removals)
    kept = {parent for path in writes for parent in _parents(path)}
    found: list[str] = []
    candidates = {parent for path in removals for parent in _parents(path)} - kept
    for folder in sorted(candidates, key=lambda f: (-f.count("/"), f)):
        if all(f"{folder}/{entry.name}" in gone for entry in (root / folder).iterdir()):
            found.append(folder)
            gone.add(folder)
    return tuple(found)


def _check_places(
    root: Path, writes: Mapping[str, bytes], removals: tuple[str, ...], emptied: tuple[str, ...]
) -> None:
    for path in writes:
        if any(parent in writes for parent in _parents(path)):
            raise IntegrityViolation(f"a change wants a folder where another wants a file: {path}")
        place = root / path
        if place.is_dir() and not place.is_symlink() and path not in emptied:
            raise IntegrityViolation(f"a change puts a file where a folder stands: {path}")
        for parent in _parents(path):
            if (root / parent).is_file() and parent not in removals:
                raise IntegrityViolation(f"a change puts a folder where the file {parent} stands")


def _parents(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:depth]) for depth in range(1, len(parts))]


def _mode(path: Path) -> int:
    if path.is_symlink() or not path.is_file():
        return 0o644
    return stat.S_IMODE(path.stat().st_mode) | stat.S_IWUSR
