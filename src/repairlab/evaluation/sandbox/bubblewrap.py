"""Tested code behind Linux namespaces, by bubblewrap (0.8 or newer) and util-linux.

Two layers, both without any right that an ordinary user lacks:

1. `unshare` makes a user and a mount namespace for this one run; in them the tree is mounted as an overlay
   over the template, its upper layer in memory. The mounts die with the namespace: nothing is torn down.
2. `bwrap` makes the namespaces that tested code lives in: no network, its own processes, no capabilities, no
   further user namespaces, and of the file system only ``/usr``, the environment, its interpreter, the
   runner's files (all read-only), the tree at ``/repo`` and bounded memory file systems.

The chain of programs before `bwrap` is one process that replaces itself, `bwrap` asks the kernel to be killed
with its parent, and everything inside dies with the first process of its namespace. So nothing outlives the
harness, even when that is killed with SIGKILL; the handshake (`sandbox.model`) covers the time before.

When the harness runs as root, tested code keeps root's identity in the kernel, though without any capability.
That identity owns device nodes and most of ``/proc``: so those mounts are read-only too (a write *through* a
node is still a write to the device). And the kernel enforces no limit on root's processes; the look at all of
them (`sandbox.watch`) does.
"""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

from repairlab.contract.errors import InfrastructureFailure, RefuseToStart
from repairlab.evaluation.sandbox import bwrap_arguments, jobs, layout, watch
from repairlab.evaluation.sandbox.model import Finished, Job, Limits, Materialisation, Probe, Stop, Tree
from repairlab.evaluation.sandbox.pipes import open_pipes
from repairlab.evaluation.sandbox.scratch import scratch_folder
from repairlab.evaluation.sandbox.supervise import Clock, supervise

_DEATH_SECONDS = 10.0
_OVERHEAD = 2
"""The outer and the inner process of bubblewrap."""
_REPAIR = (
    "install bubblewrap 0.8 or newer and util-linux, and allow unprivileged user namespaces "
    "(sysctl kernel.unprivileged_userns_clone=1, kernel.apparmor_restrict_unprivileged_userns=0)"
)


@dataclass(frozen=True, slots=True)
class Tools:
    """Absolute paths of the programs that the sandbox is made of."""

    bwrap: str
    unshare: str
    mount: str
    prlimit: str

    @classmethod
    def find(cls, search_path: str) -> Tools:
        """The tools on `search_path`.

        Raises:
            RefuseToStart: names those that are missing.
        """
        found = {
            name: shutil.which(name, path=search_path) for name in ("bwrap", "unshare", "mount", "prlimit")
        }
        missing = sorted(name for name, path in found.items() if path is None)
        if missing:
            raise RefuseToStart(f"the sandbox needs {', '.join(missing)}", repair=_REPAIR)
        return cls(**{name: str(path) for name, path in found.items()})


@dataclass(frozen=True, slots=True)
class Bubblewrap:
    """Runs jobs under bubblewrap; runs' folders are made under `scratch`."""

    scratch: Path
    tools: Tools
    materialisation: Materialisation
    clock: Clock = time.monotonic

    @classmethod
    def open(cls, scratch: Path, search_path: str = "/usr/sbin:/usr/bin:/sbin:/bin") -> Bubblewrap:
        """The sandbox with the best materialisation that works here, found by trying.

        Raises:
            RefuseToStart: bubblewrap is missing or not allowed to work; says why and what to do.
        """
        tools = Tools.find(search_path)
        tries: list[str] = []
        order: tuple[Materialisation, ...] = ("overlay-memory", "overlay-disk", "copy")
        for materialisation in order:
            sandbox = cls(scratch, tools, materialisation)
            probe = sandbox.probe()
            if probe.usable:
                return sandbox
            tries.append(f"{materialisation}: {probe.why_not}")
        raise RefuseToStart(f"bubblewrap does not work here ({'; '.join(tries)})", repair=_REPAIR)

    @property
    def name(self) -> str:
        return "bubblewrap"

    def probe(self) -> Probe:
        with scratch_folder(self.scratch) as folder:
            (folder / "folder").mkdir()
            (folder / "folder" / "old").write_bytes(b"old")
            limits = Limits(20, 20, 2**30, 64, 2**24, 2**16, start_seconds=20)
            job = Job(
                Tree(folder, {"new": b"new"}),
                ("/bin/sh", "-c", _PROBE_SCRIPT, "sh", "@report"),
                limits,
                b"",
                {},
            )
            try:
                result = self.run(job)
            except InfrastructureFailure as failure:
                return Probe(usable=False, why_not=failure.message, repair=_REPAIR)
        if (result.exit_code, result.report) != (0, b"works"):
            said = result.stdout_head.decode("utf-8", "replace").strip()
            return Probe(usable=False, why_not=f"the trial run failed: {said}", repair=_REPAIR)
        return Probe(usable=True)

    def run(self, job: Job) -> Finished:
        began = self.clock()
        kills = watch.out_of_memory_kills()
        how = self._materialisation_of(job)
        with scratch_folder(self.scratch) as folder, open_pipes() as pipes:
            _lay_out(job, folder, how)
            process = subprocess.Popen(
                self._command(job, folder, pipes.run_report, how),
                cwd=folder,
                env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C"},
                stdin=pipes.run_payload,
                stdout=pipes.run_output,
                stderr=pipes.run_output,
                pass_fds=(pipes.run_report,),
                start_new_session=True,
            )
            pipes.close_run_side()
            with contextlib.closing(_Namespace(process)) as group:
                ended = supervise(process, group, pipes, job.payload, job.limits, self.clock)
        return jobs.finished(
            ended,
            process.returncode,
            how,
            bwrap_arguments.PLACES,
            began,
            self.clock(),
            memory_kills=watch.out_of_memory_kills() - kills,
        )

    def _materialisation_of(self, job: Job) -> Materialisation:
        """An overlay in a user namespace cannot change files whose owner does not exist there."""
        return self.materialisation if job.tree.template.stat().st_uid == os.geteuid() else "copy"

    def _command(self, job: Job, folder: Path, report_fd: int, how: Materialisation) -> tuple[str, ...]:
        bwrap = (self.tools.bwrap, *bwrap_arguments.options(job, folder, report_fd, self.tools.prlimit))
        size = str(job.limits.file_bytes) if how == "overlay-memory" else "0"
        return (
            *(self.tools.unshare, "--user", "--map-root-user", "--mount", "--"),
            *("/bin/sh", "-c", _SCRIPT, "sh", self.tools.mount, how, size, *bwrap),
        )


_SCRIPT = """set -eu
mount=$1 how=$2 size=$3; shift 3
for node in nodes/*; do
  [ ! -e "$node" ] || "$mount" -o bind,ro,nosuid,noexec "/dev/${node#nodes/}" "$node"
done
[ "$how" != copy ] || exec "$@"
[ "$size" = 0 ] || "$mount" -t tmpfs -o "size=$size,mode=0755" tmpfs layer
mkdir layer/upper layer/work
layers=lowerdir=changes:template,upperdir=layer/upper,workdir=layer/work
"$mount" -t overlay overlay -o "$layers,userxattr" tree
cd tree
[ ! -e ../locked ] || find . -type d ! -perm -u+w -exec chmod u+w {} +
xargs -0 -r -a ../removals rm -f --
xargs -0 -r -a ../emptied rmdir --
cd ..
exec "$@"
"""
"""Runs in the folder of the run, with names relative to it: no path needs quoting for the mount options."""

_PROBE_SCRIPT = """set -eu
printf R >"/dev/fd/$1"; cat >/dev/null
cat new >/dev/null; rm -r folder; mkdir folder
[ ! -e folder/old ]; printf works >"/dev/fd/$1"
"""
"""A folder that comes back after its removal must be empty: some systems cannot say so in an upper layer.
The report is reached by a name, because some shells know no descriptor above 9."""


def _lay_out(job: Job, folder: Path, how: Materialisation) -> None:
    wanted = layout.plan(job.tree)
    try:
        bwrap_arguments.write_inputs(job, folder)
        if how == "copy":
            layout.copy_tree(job.tree.template, wanted, folder / "tree")
        else:
            _prepare_overlay(job.tree.template, wanted, folder)
    except OSError as error:
        raise InfrastructureFailure(f"the tree could not be laid out: {error}", kind="disk") from error


def _prepare_overlay(template: Path, wanted: layout.Plan, folder: Path) -> None:
    for name in ("changes", "layer", "tree"):
        (folder / name).mkdir()
    (folder / "template").symlink_to(template.resolve())
    layout.write_files(wanted, folder / "changes")
    removals = [p for p in wanted.removals if not layout.under_written(p, wanted.writes)]
    emptied = [p for p in wanted.emptied if not layout.under_written(p, wanted.writes)]
    (folder / "removals").write_bytes(_null_separated(removals))
    (folder / "emptied").write_bytes(_null_separated(emptied))
    if not template.stat().st_mode & 0o200:
        (folder / "locked").touch()


def _null_separated(paths: list[str]) -> bytes:
    return b"".join(os.fsencode(path) + b"\0" for path in paths)


@dataclass(slots=True)
class _Namespace:
    """The processes of one run: all below the outer bubblewrap process, and dead once the inner one is."""

    process: subprocess.Popen[bytes]
    _inner: list[int] = field(default_factory=list)
    """Descriptors of the processes that `process` had as children when the program began to run."""

    def ready(self) -> None:
        for pid in sorted(watch.descendants(self.process.pid) - {self.process.pid}):
            with contextlib.suppress(ProcessLookupError):
                self._inner.append(os.pidfd_open(pid))

    def excess(self, limits: Limits) -> Stop | None:
        return watch.excess(watch.descendants(self.process.pid), limits, _OVERHEAD)

    def kill(self) -> int | None:
        """Kill the outer process; the kernel ends the rest, and this waits until it has."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        poll = select.poll()
        for descriptor in self._inner:
            poll.register(descriptor, select.POLLIN)
            if not poll.poll(_DEATH_SECONDS * 1000):
                raise InfrastructureFailure("a test run survived its kill", kind="sandbox-survivor")
            poll.unregister(descriptor)
        return None

    def close(self) -> None:
        for descriptor in self._inner:
            os.close(descriptor)
        self._inner.clear()
