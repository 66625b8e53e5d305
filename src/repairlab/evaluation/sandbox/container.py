"""Tested code in a container of podman or docker.

A container does not end with the client that started it, so its life hangs on a pipe instead: the first
process inside (`sandbox.container_init`) holds the reading end, this process the only writing one. Whatever
ends the harness closes the pipe, and the container with it.

The result hangs on two proofs. What tested code did is in the runner's authenticated report. That the report
is whole, and the program's status, is in a trailer of the first process, under a nonce that tested code never
sees. A run without a trailer was cut by the machine, not by the code under test: that is an infrastructure
failure and never a verdict.
"""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import os
import secrets
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from repairlab.contract.errors import InfrastructureFailure, RefuseToStart
from repairlab.evaluation.sandbox import container_arguments, jobs, watch
from repairlab.evaluation.sandbox.bwrap_arguments import PLACES
from repairlab.evaluation.sandbox.container_arguments import Bounds, Channel, Setting
from repairlab.evaluation.sandbox.container_engine import Engine
from repairlab.evaluation.sandbox.container_image import Image
from repairlab.evaluation.sandbox.container_init import HEAD, TRAILER
from repairlab.evaluation.sandbox.container_life import Life
from repairlab.evaluation.sandbox.model import Finished, Job, Limits, Probe, Stop, Tree
from repairlab.evaluation.sandbox.pipes import Pipes, open_pipes
from repairlab.evaluation.sandbox.scratch import scratch_folder
from repairlab.evaluation.sandbox.supervise import Clock, Ended, supervise

_HIGH = 20
_REPAIR = (
    "install podman and runc (or crun), or start docker; for an ordinary user also uidmap and a line each in "
    "/etc/subuid and /etc/subgid"
)
_RUNTIMES: tuple[tuple[str, ...], ...] = ((), ("--runtime", "runc"), ("--runtime", "crun"))


@dataclass(frozen=True, slots=True)
class Container:
    """Runs jobs in containers of `image`; runs' folders are made under `scratch`."""

    scratch: Path
    engine: Engine
    image: Image
    channel: Channel
    bounds: Bounds
    clock: Clock = time.monotonic

    @classmethod
    def open(cls, scratch: Path, engine: Engine, image: Image, channel: Channel | None = None) -> Container:
        """The sandbox in the strictest form that works here, found by trying.

        Bounds by a control group come before bounds by looking, inherited descriptors before streams (unless
        `channel` says which), the engine's own choice of runtime before others.

        Raises:
            RefuseToStart: no form works; says why and what to do.
        """
        tries: list[str] = []
        for candidate in cls._candidates(scratch, engine, image, channel):
            probe = candidate.probe()
            if probe.usable:
                return candidate
            if probe.why_not not in tries:
                tries.append(probe.why_not)
        raise RefuseToStart(f"{engine.kind} does not work here ({'; '.join(tries)})", repair=_REPAIR)

    @classmethod
    def _candidates(
        cls, scratch: Path, engine: Engine, image: Image, channel: Channel | None
    ) -> list[Container]:
        channels: tuple[Channel, ...] = (
            ("descriptors", "streams") if engine.kind == "podman" else ("streams",)
        )
        bounds: tuple[Bounds, ...] = ("cgroup", "watch")
        runtimes = _RUNTIMES if engine.kind == "podman" and "--runtime" not in engine.options else ((),)
        return [
            cls(scratch, dataclasses.replace(engine, options=(*engine.options, *runtime)), image, way, bound)
            for way in ((channel,) if channel is not None else channels)
            for bound in bounds
            for runtime in runtimes
        ]

    @property
    def name(self) -> str:
        """Engine, image, and how all processes together are bounded: each can change what tests do."""
        watched = "" if self.bounds == "cgroup" else "-watched"
        return f"{self.engine.kind}{watched}-{self.image.content.removeprefix('sha256:')[:12]}"

    def probe(self) -> Probe:
        with scratch_folder(self.scratch) as folder:
            folder.chmod(0o755)
            (folder / "folder").mkdir()
            (folder / "folder" / "old").write_bytes(b"old")
            (folder / "folder" / "old").chmod(0o644)
            limits = Limits(20, 20, 2**28, 16, 2**22, 2**16, start_seconds=60)
            tree = Tree(folder, {"new": b"new", "folder/old": None})
            job = Job(tree, (), limits, b"payload", {})
            bounds = (container_arguments.memory_bound(job), limits.processes + 1)
            wanted = map(str, bounds if self.bounds == "cgroup" else ())
            argv = ("/bin/sh", "-c", _PROBE_SCRIPT, "sh", *wanted)
            try:
                result = self.run(dataclasses.replace(job, argv=argv))
            except InfrastructureFailure as failure:
                return Probe(usable=False, why_not=failure.message, repair=_REPAIR)
        if (result.exit_code, result.report) != (0, b"works"):
            said = result.stdout_head.decode("utf-8", "replace").strip()
            return Probe(usable=False, why_not=f"the trial run failed: {said}", repair=_REPAIR)
        return Probe(usable=True)

    def run(self, job: Job) -> Finished:
        self._check_interpreter(job)
        began = self.clock()
        kills = watch.out_of_memory_kills()
        setting = Setting(self.engine, self.image.reference, self.channel, self.bounds, os.geteuid() == 0)
        name, nonce = f"repairlab-{secrets.token_hex(8)}", secrets.token_bytes(16)
        with scratch_folder(self.scratch) as folder, open_pipes() as pipes:
            try:
                container_arguments.write_inputs(job, setting, folder)
            except OSError as error:
                raise InfrastructureFailure(
                    f"the tree could not be laid out: {error}", kind="disk"
                ) from error
            process = self._start(job, setting, folder, name, pipes)
            pipes.close_run_side()
            group = Life(self.engine, name, process, folder / "pid", pipes, os.dup(pipes.payload))
            with contextlib.closing(group):
                # The head is for the first process and may go ahead; the payload waits for the ready byte.
                os.write(pipes.payload, HEAD.pack(nonce, len(job.payload)))
                limits = _with_room_for_the_trailer(job.limits)
                ended = supervise(process, group, pipes, job.payload, limits, self.clock)
        end = _read_end(ended, process.returncode, nonce)
        if self.bounds == "watch" and end.ended.stopped is not Stop.MEMORY:
            end = dataclasses.replace(end, machine_kills=watch.out_of_memory_kills() - kills)
        return jobs.finished(
            end.ended, end.status, "copy", PLACES, began, self.clock(), memory_kills=end.machine_kills
        )

    def _start(
        self, job: Job, setting: Setting, folder: Path, name: str, pipes: Pipes
    ) -> subprocess.Popen[bytes]:
        command = container_arguments.command(job, setting, folder, name)
        if self.engine.kind == "podman":
            at = len(self.engine.command("run"))
            command = (*command[:at], "--pidfile", str(folder / "pid"), *command[at:])
        if self.channel == "streams":
            return self._client(command, pipes.run_payload, pipes.run_report, pipes.run_output)
        with contextlib.ExitStack() as stack:
            ends = (pipes.run_report, pipes.run_payload, pipes.run_output)
            passed = tuple(fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, _HIGH) for end in ends)
            for descriptor in passed:
                stack.callback(os.close, descriptor)
            command = ("/bin/sh", "-c", _HAND_ON, "sh", *map(str, passed), *command)
            return self._client(command, subprocess.DEVNULL, pipes.run_output, pipes.run_output, passed)

    def _client(
        self,
        command: tuple[str, ...],
        standard_input: int,
        output: int,
        errors: int,
        passed: tuple[int, ...] = (),
    ) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(
                command,
                cwd="/",
                env=self.engine.environment(),
                stdin=standard_input,
                stdout=output,
                stderr=errors,
                pass_fds=passed,
                start_new_session=True,
            )
        except OSError as error:
            raise InfrastructureFailure(
                f"{self.engine.kind} did not start: {error}", kind="sandbox-start"
            ) from error

    def _check_interpreter(self, job: Job) -> None:
        """What lies in this machine's system is not shown: the image has a system of its own.

        An environment may rest on the system's Python only if the image has exactly that one.
        """
        hidden = sorted(str(path) for path in job.read_only if container_arguments.of_the_system(path))
        if not hidden:
            return
        wanted = "" if job.environment is None else _version_of(job.environment)
        if not wanted or wanted != self.image.python:
            raise RefuseToStart(
                f"the environment rests on {hidden[0]} of this machine (Python {wanted or 'unknown'}), which "
                f"a container does not show; the image has Python {self.image.python or 'unknown'}",
                repair="let it rest on a toolchain outside of /usr: for Python, uv python install",
            )


_HAND_ON = 'exec 3>"/dev/fd/$1" 4<"/dev/fd/$2" 5>"/dev/fd/$3"; shift 3; exec "$@"'
"""The engine hands on descriptors from 3 without a gap. What is passed to this script has higher numbers, so
that none is overwritten before it is read."""

_PROBE_SCRIPT = """set -eu
printf R >&3
[ "$(cat)" = payload ]
[ "$(cat new)" = new ]; [ ! -e folder ]; [ "$(id -u)" != 0 ]
if [ $# = 2 ]; then
  cd /sys/fs/cgroup
  memory=$(cat memory.max 2>/dev/null || cat memory/memory.limit_in_bytes)
  processes=$(cat pids.max 2>/dev/null || cat pids/pids.max)
  [ "$memory $processes" = "$1 $2" ] || { echo "the control group says $memory and $processes"; exit 1; }
fi
printf works >&3
"""
"""With two arguments, the control group's bounds have to be in force: some engines drop them in silence."""


def _with_room_for_the_trailer(limits: Limits) -> Limits:
    return dataclasses.replace(limits, report_bytes=limits.report_bytes + TRAILER.size)


@dataclass(frozen=True, slots=True)
class _End:
    """How a run ended, without its trailer."""

    ended: Ended
    status: int
    machine_kills: int
    """Processes of the run that the kernel killed because the machine was out of memory."""


def _read_end(ended: Ended, returncode: int, nonce: bytes) -> _End:
    """Take the trailer off the report.

    Raises:
        InfrastructureFailure: the container was lost; kind ``sandbox-lost``.
    """
    body, trailer = ended.report[: -TRAILER.size], ended.report[-TRAILER.size :]
    if len(trailer) == TRAILER.size and trailer.startswith(nonce):
        _, status, leftovers, kills, machine_kills = TRAILER.unpack(trailer)
        stopped = ended.stopped
        if kills:
            stopped = Stop.MEMORY
        elif stopped is Stop.WALL_TIME:  # it had ended already when the time was over
            stopped = None
        whole = dataclasses.replace(ended, report=body, stopped=stopped, leftovers=leftovers)
        return _End(whole, status, machine_kills)
    if ended.ready_at is not None and ended.stopped is None and not ended.report_overflow:
        said = bytes(ended.output.tail or ended.output.head).decode("utf-8", "replace").strip()
        raise InfrastructureFailure(
            f"the container was lost (status {returncode}): {said[-2000:]}", kind="sandbox-lost"
        )
    return _End(ended, returncode, 0)


def _version_of(environment: Path) -> str:
    """Version of the Python under a virtual environment, by its own account."""
    try:
        lines = (environment / "pyvenv.cfg").read_text(encoding="utf-8").split("\n")
    except OSError:
        return ""
    facts = {key.strip(): value.strip() for key, _, value in (line.partition("=") for line in lines)}
    return facts.get("version_info") or facts.get("version", "")
