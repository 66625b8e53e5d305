"""Running unittest suites in a sandbox and reading their report.

Tests are named as unittest names them, `package.module.Class.test`. Suites are flattened: what a
``load_tests`` adds to a suite beside tests, such as a `run` of its own, has no effect.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass

from repairlab.contract import controls
from repairlab.contract.task import Environment
from repairlab.evaluation.frames import KEY_BYTES
from repairlab.evaluation.installed import InstalledEnvironment
from repairlab.evaluation.python_runs import python_job, run_job
from repairlab.evaluation.runs import TestRequest, TestRun
from repairlab.evaluation.sandbox.model import Job, Sandbox


@dataclass(frozen=True, slots=True)
class UnittestRunner:
    """Runs unittest suites of one installed environment."""

    environment: InstalledEnvironment
    facts: Environment
    controls: controls.Evaluation
    django_settings: str = ""
    """The settings module of a Django project, whose tests then run inside Django's own frame: its test
    environment, databases and order, in one process. Empty for plain suites. Django is 4.0 or newer."""
    new_key: Callable[[], bytes] = lambda: secrets.token_bytes(KEY_BYTES)

    @property
    def steering_names(self) -> frozenset[str]:
        return frozenset({"sitecustomize.py", "usercustomize.py"})

    def run(self, request: TestRequest, sandbox: Sandbox) -> TestRun:
        """Run the tests of `request`; see `runs.Runner`. Without `files`, identifiers name the modules."""
        key = self.new_key()
        return run_job(self._job(request, key), key, sandbox, request.select or (), self.environment)

    def _job(self, request: TestRequest, key: bytes) -> Job:
        payload = {
            "key": key.hex(),
            "select": None if request.select is None else list(request.select),
            "files": list(request.files),
            "pythonpath": list(self.facts.pythonpath),
            "django_settings": self.django_settings,
        }
        programs = ("unittest_launcher.py", "unittest_result.py", "launching.py")
        return python_job(request, self.environment, self.controls, programs, payload)
