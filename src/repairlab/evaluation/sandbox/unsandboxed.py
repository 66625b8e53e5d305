"""No sandbox: a plain copy of the tree and a plain process. Explicit, recorded, refused for a main run.

What is kept: the scrubbed environment, a fresh tree, limits of single processes, the bounds on time and on
output. What is not: tested code sees the machine's files and its network. A child that makes a session of its
own *and* clears its environment outlives the run, and so does everything when the harness itself is killed.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from repairlab.contract.errors import InfrastructureFailure
from repairlab.evaluation.sandbox import jobs, layout, watch
from repairlab.evaluation.sandbox.limits import with_prlimit, with_ulimit
from repairlab.evaluation.sandbox.model import Finished, Job, Limits, Probe, Stop
from repairlab.evaluation.sandbox.pipes import open_pipes
from repairlab.evaluation.sandbox.scratch import scratch_folder
from repairlab.evaluation.sandbox.supervise import Clock, supervise

_KILL_ROUNDS = 20
_KILL_PAUSE = 0.02


@dataclass(frozen=True, slots=True)
class Unsandboxed:
    """Runs jobs as ordinary processes in a folder under `scratch`."""

    scratch: Path
    clock: Clock = time.monotonic
    search_path: str = "/usr/bin:/bin"

    @property
    def name(self) -> str:
        return "unsandboxed"

    def probe(self) -> Probe:
        return Probe(usable=True)

    def run(self, job: Job) -> Finished:
        began = self.clock()
        kills = watch.out_of_memory_kills()
        with scratch_folder(self.scratch) as folder, open_pipes() as pipes:
            places = _lay_out(job, folder)
            argv = self._limited(job, jobs.arguments(job, places, pipes.run_report))
            process = subprocess.Popen(
                argv,
                cwd=places["repo"],
                env=jobs.variables(job, places),
                stdin=pipes.run_payload,
                stdout=pipes.run_output,
                stderr=pipes.run_output,
                pass_fds=(pipes.run_report,),
                start_new_session=True,
            )
            pipes.close_run_side()
            group = _Session(process, marker=places["home"])
            ended = supervise(process, group, pipes, job.payload, job.limits, self.clock)
        memory_kills = watch.out_of_memory_kills() - kills
        return jobs.finished(
            ended, process.returncode, "copy", places, began, self.clock(), memory_kills=memory_kills
        )

    def _limited(self, job: Job, argv: tuple[str, ...]) -> tuple[str, ...]:
        prlimit = shutil.which("prlimit", path=self.search_path)
        if prlimit is None:
            return with_ulimit(job.limits, argv)
        return with_prlimit(prlimit, job.limits, argv, processes=False)


@dataclass(frozen=True, slots=True)
class _Session:
    """The processes of one run: its session, and what carries its home folder in the environment."""

    process: subprocess.Popen[bytes]
    marker: str

    def ready(self) -> None:
        """Nothing has to be noted."""

    def excess(self, limits: Limits) -> Stop | None:
        return watch.excess(watch.descendants(self.process.pid), limits, overhead=0)

    def kill(self) -> int | None:
        """Kill until nothing is found any more. Outside of Linux only the process group is known."""
        outlived: set[int] = set()
        for _ in range(_KILL_ROUNDS):
            living = watch.marked(self.process.pid, self.marker)
            outlived |= living - {self.process.pid}
            for pid in sorted(living):
                _signal(pid)
            if self.process.poll() is None:
                _signal_group(self.process.pid)
                self.process.wait()
            elif not living:
                break
            time.sleep(_KILL_PAUSE)
        if not Path("/proc/self").exists():
            _signal_group(self.process.pid)
            return None
        return len(outlived)


def _lay_out(job: Job, folder: Path) -> dict[str, str]:
    places = {
        "repo": str(folder / "repo"),
        "runner": str(folder),
        "home": str(folder / "home"),
        "tmp": str(folder / "tmp"),
        "env": str(job.environment or ""),
    }
    wanted = layout.plan(job.tree)
    try:
        for name in ("home", "tmp"):
            (folder / name).mkdir()
        layout.copy_tree(job.tree.template, wanted, folder / "repo")
        jobs.write_runner_files(job, folder)
    except OSError as error:
        raise InfrastructureFailure(f"the tree could not be laid out: {error}", kind="disk") from error
    return places


def _signal(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def _signal_group(leader: int) -> None:
    try:
        os.killpg(leader, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return
