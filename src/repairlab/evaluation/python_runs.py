"""What the runners of Python's test frameworks share: the job, the start, and what the report says.

The launchers end with the statuses that pytest documents, whichever framework they run.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from repairlab.contract import controls
from repairlab.contract.errors import InfrastructureFailure
from repairlab.evaluation import inside
from repairlab.evaluation.evidence import Evidence, read_evidence
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
_FILE_BYTES = 2**30
_CORES = 16
"""Processor time of one process may be so many times the wall time, which is what ends a run first."""


def python_job(
    request: TestRequest,
    environment: InstalledEnvironment,
    rules: controls.Evaluation,
    programs: tuple[str, ...],
    payload: Mapping[str, object],
    files: Mapping[str, bytes] = MappingProxyType({}),
    variables: Mapping[str, str] = MappingProxyType({}),
) -> Job:
    """The job that starts the first of `programs`, files of `inside`, with `payload` on its standard input.

    `files` and `variables` are the framework's own, beside those that every launcher gets.
    """
    return Job(
        tree=request.tree,
        argv=("@env/bin/python", f"@runner/{programs[0]}", "@report"),
        limits=Limits(
            wall_seconds=request.wall_seconds,
            cpu_seconds=int(request.wall_seconds * _CORES) + 1,
            memory_bytes=request.memory_bytes,
            processes=request.processes,
            file_bytes=_FILE_BYTES,
            output_bytes=rules.output_bytes,
        ),
        payload=json.dumps(payload).encode("ascii"),
        runner_files={**{name: _source(name) for name in programs}, **files},
        environment=environment.root,
        read_only=environment.interpreter_folders,
        variables={
            "LC_ALL": rules.locale,
            "TZ": rules.time_zone,
            "PYTHONHASHSEED": str(rules.hash_seed),
            # A compiled file is trusted by time stamp and size; a patched source may share both with the old.
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONNOUSERSITE": "1",
            **variables,
        },
    )


def run_job(
    job: Job, key: bytes, sandbox: Sandbox, selected: tuple[str, ...], environment: InstalledEnvironment
) -> TestRun:
    """Run `job` in `sandbox` and read the report, which is sent under `key`.

    Raises:
        InfrastructureFailure: see `sandbox.model.Sandbox`; kind ``runner-start`` when the launcher never said
            hello.
    """
    finished = sandbox.run(job)
    evidence = read_evidence(finished.report, key)
    if evidence.hello is None:
        said = (finished.stdout_head + finished.stdout_tail).decode("utf-8", "replace").strip()
        raise InfrastructureFailure(
            f"the test runner did not start in the environment {environment.key[:12]}: {said[-2000:]}",
            kind="runner-start",
        )
    return _test_run(selected, evidence, finished, sandbox.name)


def _source(name: str) -> bytes:
    return (Path(inside.__file__).parent / name).read_bytes()


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
            versions={} if hello is None else hello.versions,
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
    return end, "" if end.complete else f"the runner ended with status {finished.exit_code}"
