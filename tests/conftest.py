"""Fixtures for every room: a small study of plain facts, independent of the repository's own study."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from repairlab.contract.study import Study, open_study

ROOT = Path(__file__).resolve().parent.parent

TASK = """
schema_version = 1
id = "{id}"
repository = "embedded:{repository}"
language = "python"
base = "{base}"
fix = "{fix}"
statement = "A statement that is long enough to be one, about {id}, and names no file."
production_files = ["pkg/a.py"]
hidden_test_files = ["tests/test_a.py"]
fail_to_pass = ["tests/test_a.py::test_new"]
pass_to_pass = ["tests/test_a.py::test_old"]
public_tests = ["tests/test_a.py"]
[environment]
python = ">=3.11"
requirements = ["pytest==8.4.2"]
[limits]
public_seconds = 60
evaluation_seconds = 120
[digests]
gold_patch = "{zero}"
hidden_tests = "{zero}"
"""

EXPERIMENT = """
schema_version = 1
name = "small"
kind = "calibration"
title = "A small experiment"
tasks = ["one-a", "one-b", "two-a"]
treatments = ["H000", "H018"]
models = ["FLOOR", "NAVIGATOR"]
seeds = [0]
host = "emulator"
allow_unsandboxed = true
[order]
seed = "small-v1"
model_offsets = [0, 1]
"""


@pytest.fixture
def study(tmp_path: Path) -> Study:
    """A study with the repository's own contracts, three tasks over two repositories, one experiment."""
    root = tmp_path / "study"
    shutil.copytree(ROOT / "contracts", root / "contracts")
    (root / "experiments").mkdir()
    (root / "experiments" / "small.toml").write_text(EXPERIMENT)
    tasks = root / "preregistration" / "tasks"
    tasks.mkdir(parents=True)
    (root / "preregistration" / "excluded.toml").write_text("")
    for number, name in enumerate(("one-a", "one-b", "two-a")):
        text = TASK.format(
            id=name, repository=name[:3], base=f"{number:040x}", fix=f"{number + 100:040x}", zero="0" * 64
        )
        (tasks / f"{name}.toml").write_text(text)
    return open_study(root)


@pytest.fixture(scope="session")
def as_ordinary_user() -> list[str]:
    """What to put before a command so that it runs without root's rights; empty for an ordinary user.

    Where a folder on the way to this interpreter or repository is closed to others, the command runs in a
    mount namespace that shows what it needs under the same paths, and nothing else of the closed folder.
    """
    if os.geteuid() != 0:
        return []
    needed = sorted({Path(sys.base_prefix).resolve(), ROOT, Path(sys.prefix).resolve()})
    lines = ["set -e", "stash=$(mktemp -d /tmp/repairlab-stash-XXXXXX)"]
    for number, closed in enumerate(sorted({c for path in needed for c in _closed_above(path)})):
        below = [path for path in needed if closed in path.parents]
        lines += [
            f"mkdir $stash/{number}-{i} && mount --bind '{p}' $stash/{number}-{i}"
            for i, p in enumerate(below)
        ]
        lines.append(f"mount -t tmpfs -o mode=755 tmpfs '{closed}'")
        lines += [f"mkdir -p '{p}' && mount --bind $stash/{number}-{i} '{p}'" for i, p in enumerate(below)]
    lines.append('exec setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all -- "$@"')
    return ["unshare", "--mount", "--propagation", "private", "sh", "-c", "\n".join(lines), "sh"]


def _closed_above(path: Path) -> list[Path]:
    """The topmost folder above `path` that others may not enter, if there is one."""
    return [p for p in reversed(path.parents) if not p.stat().st_mode & 0o001][:1]
