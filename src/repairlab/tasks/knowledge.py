"""What the calibration engines are told: a file for the host's process, never for an agent."""

from __future__ import annotations

import json
from collections.abc import Mapping

from repairlab.contract.task import Task
from repairlab.tasks.material import Material


def knowledge(material_of: Mapping[str, Material], task_of: Mapping[str, Task]) -> bytes:
    """JSON text: for the SHA-256 of each statement, the gold patch and the names of its files."""
    tasks = {
        task_of[name].statement_digest: {
            "task": name,
            "gold_patch": material.gold_patch.decode("utf-8", "surrogateescape"),
            "production_files": list(task_of[name].production_files),
            "created_files": list(task_of[name].created_files),
        }
        for name, material in sorted(material_of.items())
    }
    return json.dumps({"schema_version": 1, "tasks": tasks}, indent=1, sort_keys=True).encode() + b"\n"
