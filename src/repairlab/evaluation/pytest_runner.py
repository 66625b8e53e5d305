"""Running pytest in a sandbox and reading its report."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from repairlab.contract import controls
from repairlab.contract.errors import InfrastructureFailure
from repairlab.contract.task import Environment
from repairlab.evaluation import inside
from repairlab.evaluation.evidence import Evidence, read_evidence
from repairlab.evaluation.frames import KEY_BYTES
from repairlab.evaluation.installed import InstalledEnvironment
from repairlab.evaluation.outcomes import failure_texts, fold
from repairlab.evaluation.runs import RunEnd, RunFacts, TestRequest, TestRun
from repairlab.evaluation.sandbox.model import Finished, Job, Limits, Sandbox, Stop

EXIT_CODES = MappingProxyType(
    {
        0: RunEnd.ALL_PASSED,
        1: RunEnd.TESTS_FAILED,
        2: RunEnd.INTERRUPTED,
        3: RunEnd.INTERNAL_ERROR,
        4: RunEnd.USAGE_ERROR,
        5: RunEnd.NOTHING_COLLECTED,
    }
)
"""pytest's documented exit codes."""

_STOPS = MappingProxyType(
    {Stop.WALL_TIME: RunEnd.WALL_TIME, Stop.MEMORY: RunEnd.MEMORY, Stop.PROCESSES: RunEnd.PROCESSES}
)
_LAUNCHER = "pytest_launcher.py"
_FILE_BYTES = 2**30
_CORES = 16
"""Processor time of one process may be so many times the wall time, which is what ends a run first."""


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
        finished = sandbox.run(self._job(request, key))
        evidence = read_evidence(finished.report, key)
        if evidence.hello is None:
            said = (finished.stdout_head + finished.stdout_tail).decode("utf-8", "replace").strip()
            raise InfrastructureFailure(
                f"pytest did not start in the environment {self.environment.key[:12]}: {said[-2000:]}",
                kind="runner-start",
            )
        return _test_run(request.select or (), evidence, finished, sandbox.name)

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
        return Job(
            tree=request.tree,
            argv=("@env/bin/python", f"@runner/{_LAUNCHER}", "@report"),
            limits=Limits(
                wall_seconds=request.wall_seconds,
                cpu_seconds=int(request.wall_seconds * _CORES) + 1,
                memory_bytes=request.memory_bytes,
                processes=request.processes,
                file_bytes=_FILE_BYTES,
                output_bytes=self.controls.output_bytes,
            ),
            payload=json.dumps(payload).encode("ascii"),
            # An empty pytest.ini beside an unsandboxed tree ends pytest's upward search for a configuration.
            runner_files={_LAUNCHER: launcher_source(), "pytest.ini": b"[pytest]\n"},
            environment=self.environment.root,
            read_only=self.environment.interpreter_folders,
            variables=self._variables(),
        )

    def _variables(self) -> dict[str, str]:
        return {
            "LC_ALL": self.controls.locale,
            "TZ": self.controls.time_zone,
            "PYTHONHASHSEED": str(self.controls.hash_seed),
            # A compiled file is trusted by time stamp and size; a patched source may share both with the old.
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONNOUSERSITE": "1",
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        }


def launcher_source() -> bytes:
    """The program that runs inside the sandbox."""
    return (Path(inside.__file__).parent / _LAUNCHER).read_bytes()


def _test_run(selected: tuple[str, ...], evidence: Evidence, finished: Finished, sandbox: str) -> TestRun:
    end, problem = _end(evidence, finished)
    outcomes = fold(evidence.phases, selected)
    hello, final = evidence.hello, evidence.final
    leftovers = finished.leftovers if finished.leftovers is not None or final is None else final.leftovers
    return TestRun(
        end=end,
        problem=problem,
        outcomes=outcomes,
        failures=failure_texts(evidence.phases, outcomes),
        unreadable={record.id: record.message for record in sorted(evidence.unreadable, key=lambda r: r.id)},
        facts=RunFacts(
            sandbox=sandbox,
            materialisation=finished.materialisation,
            versions={} if hello is None else {"python": hello.python, "pytest": hello.pytest},
            exit_code=finished.exit_code,
            output_head=finished.stdout_head,
            output_tail=finished.stdout_tail,
            dropped_bytes=finished.dropped_bytes,
            leftovers=leftovers,
            places=finished.places,
            seconds_setup=finished.seconds_setup,
            seconds_run=finished.seconds_run,
            seconds_teardown=finished.seconds_teardown,
        ),
    )


def _end(evidence: Evidence, finished: Finished) -> tuple[RunEnd, str]:
    if finished.stopped is not None:
        return _STOPS[finished.stopped], f"the run went over its limit ({finished.stopped})"
    if finished.report_overflow:
        return RunEnd.EVIDENCE_BROKEN, "the report is longer than allowed"
    if evidence.broken:
        return RunEnd.EVIDENCE_BROKEN, evidence.broken
    if evidence.final is None:
        return RunEnd.DIED, f"the runner ended early, with status {finished.exit_code} and no final record"
    if evidence.final.exit != finished.exit_code:
        reported = evidence.final.exit
        return (
            RunEnd.STATUS_DIFFERS,
            f"the runner reported status {reported}, the process ended with {finished.exit_code}",
        )
    if evidence.twice:
        return RunEnd.DUPLICATE_IDS, f"several tests are called {evidence.twice[0]}"
    end = EXIT_CODES.get(finished.exit_code, RunEnd.UNKNOWN_STATUS)
    return end, "" if end.complete else f"pytest ended with status {finished.exit_code}"
