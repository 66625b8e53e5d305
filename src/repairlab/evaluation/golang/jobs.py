"""The job that runs the driver."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from repairlab.contract import controls
from repairlab.evaluation.golang.selection import Package
from repairlab.evaluation.sandbox.model import Job, Limits, Tree

PARALLEL = 4
"""Tests of one program that may run at once after `t.Parallel`: the same on every machine."""


def driver_job(
    tree: Tree,
    environment: Path,
    folders: tuple[Path, ...],
    packages: Sequence[Package],
    keys: Sequence[bytes],
    key: bytes,
    limits: Limits,
    rules: controls.Evaluation,
    *,
    warm: bool,
) -> Job:
    """Build the test programs of `packages` and start them, the n-th start under the n-th of `keys`."""
    starts = iter(enumerate(keys))
    payload = {
        "key": key.hex(),
        "warm": warm,
        "parallel": PARALLEL,
        "packages": [
            {
                "dir": package.folder,
                "files": list(package.files),
                "runs": [_start(*next(starts), pattern) for pattern in package.patterns],
            }
            for package in packages
        ],
    }
    return Job(
        tree=tree,
        argv=("@env/kit/bin/driver", "@env", "@repo", "@report"),
        limits=limits,
        payload=json.dumps(payload).encode("ascii"),
        runner_files={},
        environment=environment,
        read_only=folders,
        variables={"LC_ALL": rules.locale, "TZ": rules.time_zone},
    )


def _start(number: int, key: bytes, pattern: str) -> dict[str, str | int]:
    return {"run": number, "key": key.hex(), "pattern": pattern}
