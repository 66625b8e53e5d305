"""Running pytest in a sandbox and reading its report."""

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
class PytestRunner:
    """Runs tests of one installed environment."""

    environment: InstalledEnvironment
    facts: Environment
    controls: controls.Evaluation
    plugins: tuple[str, ...] = ()
    """Plugins to load by name; none is loaded because it happens to be installed."""
    new_key: Callable[[], bytes] = lambda: secrets.token_bytes(KEY_BYTES)

    @property
    def steering_names(self) -> frozenset[str]:
        return frozenset(
            {
                "conftest.py",
                "pytest.ini",
                "pytest.toml",
                ".pytest.ini",
                ".pytest.toml",
                "pyproject.toml",
                "tox.ini",
                "setup.cfg",
                "sitecustomize.py",
                "usercustomize.py",
            }
        )

    def run(self, request: TestRequest, sandbox: Sandbox) -> TestRun:
        """Run the tests of `request`; see `runs.Runner`."""
        key = self.new_key()
        return run_job(self._job(request, key), key, sandbox, request.select or (), self.environment)

    def _job(self, request: TestRequest, key: bytes) -> Job:
        select = None if request.select is None else list(request.select)
        files = list(request.files) or sorted({name.partition("::")[0] for name in select or ()})
        payload = {
            "key": key.hex(),
            "select": select,
            "files": files,
            "pythonpath": list(self.facts.pythonpath),
            "plugins": list(self.plugins),
        }
        return python_job(
            request,
            self.environment,
            self.controls,
            ("pytest_launcher.py", "launching.py"),
            payload,
            # An empty pytest.ini beside an unsandboxed tree ends pytest's upward search for a configuration.
            files={"pytest.ini": b"[pytest]\n"},
            variables={"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        )
