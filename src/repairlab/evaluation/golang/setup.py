"""One call for whoever prepares tasks."""

from __future__ import annotations

from pathlib import Path

from repairlab.contract import controls
from repairlab.contract.task import Task
from repairlab.evaluation.golang.environments import GoEnvironments
from repairlab.evaluation.golang.runner import GoRunner
from repairlab.evaluation.sandbox.model import Sandbox


def go_setup(
    task: Task, template: Path, environments: GoEnvironments, sandbox: Sandbox, rules: controls.Evaluation
) -> GoRunner:
    """A runner for `task`; its environment is made and verified first. See `GoEnvironments.ensure`."""
    return GoRunner(environments.ensure(task, template, sandbox, rules), rules)
