"""Running Go tests in a sandbox and reading what their programs report.

Nothing that tested code prints, writes or returns is evidence. A test passed when its program's own
`testing` package said so under a key that nothing in the checkout is given, and its run counts as clean
only when that program came to its end and ended with status 0. See ``inside/`` for the sending side.

What remains possible: tested code shares a process with the package that reports. Code that searches the
process's memory through `unsafe` for the key or for the state of a test can make it report what it likes.
On Go older than 1.23 a ``//go:linkname`` directive is enough for that. Both are plain to see in a patch.
And tested code that ran may change files of the tree that tests of a later package read (not what they are
compiled from).
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from repairlab.contract import controls
from repairlab.contract.errors import InfrastructureFailure
from repairlab.evaluation.frames import KEY_BYTES
from repairlab.evaluation.golang.environments import GoEnvironment
from repairlab.evaluation.golang.findings import Findings, find
from repairlab.evaluation.golang.jobs import driver_job
from repairlab.evaluation.golang.records import DriverReport, read_driver
from repairlab.evaluation.golang.selection import numbered, packages_of
from repairlab.evaluation.runs import RunEnd, RunFacts, TestRequest, TestRun
from repairlab.evaluation.sandbox.model import Finished, Limits, Sandbox, Stop

_STOPS = MappingProxyType(
    {Stop.WALL_TIME: RunEnd.WALL_TIME, Stop.MEMORY: RunEnd.MEMORY, Stop.PROCESSES: RunEnd.PROCESSES}
)
_FILE_BYTES = 2**30
_CORES = 16
"""Processor time of one process may be so many times the wall time, which is what ends a run first."""
_NO_EXIT = -1


@dataclass(frozen=True, slots=True)
class GoRunner:
    """Runs tests in one environment."""

    environment: GoEnvironment
    controls: controls.Evaluation
    new_key: Callable[[], bytes] = lambda: secrets.token_bytes(KEY_BYTES)

    @property
    def steering_names(self) -> frozenset[str]:
        return frozenset({"go.mod", "go.sum", "go.work", "go.work.sum", "modules.txt"})

    def run(self, request: TestRequest, sandbox: Sandbox) -> TestRun:
        """Run the tests of `request`; see `runs.Runner`."""
        packages = packages_of(request.select, request.files)
        starts = numbered(packages)
        key, keys = self.new_key(), [self.new_key() for _ in starts]
        job = driver_job(
            request.tree,
            self.environment.root,
            self.environment.folders,
            packages,
            keys,
            key,
            _limits(request, self.controls),
            self.controls,
            warm=False,
        )
        finished = sandbox.run(job)
        report = read_driver(finished.report, key)
        if report.hello is None:
            said = (finished.stdout_head + finished.stdout_tail).decode("utf-8", "replace").strip()
            raise InfrastructureFailure(
                f"the Go driver did not start in the environment {self.environment.key[:12]}: {said[-2000:]}",
                kind="runner-start",
            )
        folders = {number: folder for number, (folder, _) in starts.items()}
        findings = find(report, folders, keys, request.select or ())
        places = {**finished.places, "go": str(self.environment.folders[0])}
        return _test_run(findings, report, finished, sandbox.name, places)


def _limits(request: TestRequest, rules: controls.Evaluation) -> Limits:
    return Limits(
        wall_seconds=request.wall_seconds,
        cpu_seconds=int(request.wall_seconds * _CORES) + 1,
        memory_bytes=request.memory_bytes,
        processes=request.processes,
        file_bytes=_FILE_BYTES,
        output_bytes=rules.output_bytes,
    )


def _test_run(
    findings: Findings, report: DriverReport, finished: Finished, sandbox: str, places: Mapping[str, str]
) -> TestRun:
    end, problem = _end(findings, report, finished)
    return TestRun(
        end=end,
        problem=problem,
        outcomes=findings.outcomes,
        failures=findings.failures,
        unreadable=findings.unreadable,
        facts=RunFacts(
            sandbox=sandbox,
            materialisation=finished.materialisation,
            versions={} if report.hello is None else {"go": report.hello.go},
            exit_code=finished.exit_code,
            output_head=finished.stdout_head,
            output_tail=finished.stdout_tail,
            dropped_bytes=finished.dropped_bytes,
            leftovers=findings.leftovers + (finished.leftovers or 0),
            places=places,
            seconds_setup=finished.seconds_setup,
            seconds_run=finished.seconds_run,
            seconds_teardown=finished.seconds_teardown,
        ),
    )


def _end(findings: Findings, report: DriverReport, finished: Finished) -> tuple[RunEnd, str]:
    if finished.stopped is not None:
        return _STOPS[finished.stopped], f"the run went over its limit ({finished.stopped})"
    if finished.report_overflow:
        return RunEnd.EVIDENCE_BROKEN, "the report is longer than allowed"
    if report.broken:
        return RunEnd.EVIDENCE_BROKEN, report.broken
    if report.final is None:
        return RunEnd.DIED, f"the driver ended early, with status {finished.exit_code} and no final record"
    if report.final.exit != finished.exit_code:
        said = report.final.exit
        return (
            RunEnd.STATUS_DIFFERS,
            f"the driver reported status {said}, the process ended with {finished.exit_code}",
        )
    return findings.end, findings.problem
