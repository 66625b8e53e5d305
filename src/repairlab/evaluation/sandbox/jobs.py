"""The steps that all backends share: places, arguments, variables, the end of a run as a value."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from repairlab.contract.errors import InfrastructureFailure
from repairlab.evaluation.sandbox.model import Finished, Job, Materialisation
from repairlab.evaluation.sandbox.supervise import Ended


def arguments(job: Job, places: Mapping[str, str], report_fd: int) -> tuple[str, ...]:
    """`job.argv` with its tokens replaced."""
    return tuple(_argument(word, places, report_fd) for word in job.argv)


def variables(job: Job, places: Mapping[str, str]) -> dict[str, str]:
    """The whole environment of the program inside; nothing of the harness's own is in it."""
    path = "/usr/bin:/bin"
    if job.environment is not None:
        path = f"{places['env']}/bin:{path}"
    return {
        "HOME": places["home"],
        "LOGNAME": "repairlab",
        "PATH": path,
        "TMPDIR": places["tmp"],
        "USER": "repairlab",
        **job.variables,
    }


def write_runner_files(job: Job, folder: Path) -> None:
    """Put the runner's files into `folder`."""
    folder.mkdir(exist_ok=True)
    for name, data in sorted(job.runner_files.items()):
        (folder / name).write_bytes(data)


def finished(
    ended: Ended,
    returncode: int,
    materialisation: Materialisation,
    places: Mapping[str, str],
    began: float,
    done: float,
    memory_kills: int,
) -> Finished:
    """The value of a run that started.

    `began` and `done` are readings of the clock before the tree was laid out and after everything was gone;
    `memory_kills` counts the kernel's kills for want of memory meanwhile, anywhere on the machine.

    Raises:
        InfrastructureFailure: the program inside never ran, or the machine ran out of memory.
    """
    said = bytes(ended.output.head + ended.output.tail).decode("utf-8", "replace").strip()
    if ended.ready_at is None:
        raise InfrastructureFailure(
            f"the sandbox did not start (status {returncode}): {said[:2000] or 'it said nothing'}",
            kind="sandbox-start",
        )
    if memory_kills:  # whoever was killed: it may have been a process of this run, and not its first one
        raise InfrastructureFailure("the machine ran out of memory during a test run", kind="out-of-memory")
    exit_code = returncode if returncode >= 0 else 128 - returncode
    return Finished(
        exit_code=exit_code,
        stopped=ended.stopped,
        stdout_head=bytes(ended.output.head),
        stdout_tail=bytes(ended.output.tail),
        dropped_bytes=ended.output.dropped,
        report=ended.report,
        report_overflow=ended.report_overflow,
        materialisation=materialisation,
        places=dict(places),
        seconds_setup=ended.ready_at - began,
        seconds_run=ended.ended_at - ended.ready_at,
        seconds_teardown=done - ended.ended_at,
        leftovers=ended.leftovers,
    )


def _argument(word: str, places: Mapping[str, str], report_fd: int) -> str:
    if word == "@report":
        return str(report_fd)
    for name in ("repo", "env", "runner"):
        token = f"@{name}"
        if word == token or word.startswith(f"{token}/"):
            return places[name] + word[len(token) :]
    return word
