"""First process of a container: ties it to the harness, lays out the tree, starts the program, tells its end.

This one file is shown to the container and started with the image's own Python, without site packages. It
needs the standard library alone. It runs as the container's root with just the rights to become another user,
to signal it and to give it the tree; what it starts runs as an ordinary user without any right, who therefore
can neither stop, trace nor read it.

Lease: the harness holds the only writing end of one pipe. Over it comes one frame (nonce, length, and, once
the program has said that it runs, the payload); afterwards the pipe stays open and silent for as long as the
harness lives. Its end is the end of the container: the kernel closes the pipe whatever killed the harness. A
deadline stands behind that.

End: when the program has ended, everything else is killed; then one trailer goes out on the report: the
nonce, which the program never sees, the program's status, how many processes outlived it, how many the kernel
killed because the container, or the machine, was out of memory. A report without a trailer was cut.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import signal
import struct
import sys
import time
from pathlib import Path

HEAD = struct.Struct(">16sQ")
TRAILER = struct.Struct(">16sBIII")
REPORT_FD = 3
"""Where the program finds its report."""
_CHUNK = 1 << 16
_REAP_SECONDS = 10.0
_NEAR_BYTES = 1 << 20
"""What the kernel may keep back for its processors when it says how much memory a control group used."""
_HEAD_SECONDS = 10.0
"""A program may be so quick that it ends before the frame's head is here."""
_LOOK_SECONDS = 0.25
"""Between looks at what the kernel killed for want of memory: the first such kill ends the run."""
_FIRST_KILLED = 500
"""Adjustment of what the kernel kills first when memory is short: the program, not this process."""


def main() -> None:
    """Entry point: ``container_init.py (init REPORT LEASE OUTPUT | inside)`` beside ``job.json``."""
    here = Path(__file__).resolve().parent
    job = json.loads((here / "job.json").read_bytes())
    if sys.argv[1] == "inside":
        lay_out(job["layout"], here)
        os.chdir(job["layout"]["repo"])
        os.execve(job["argv"][0], job["argv"], job["variables"])
    report, lease, output = map(int, sys.argv[2:])
    os.chown(job["layout"]["repo"], job["user"], job["user"])
    os.chown(job["variables"]["HOME"], job["user"], job["user"])
    Init(report, lease, output, job).run()


def lay_out(layout: dict[str, object], here: Path) -> None:
    """Copy the template into the tree's place and carry out the changes there, as the program's user."""
    repo = Path(str(layout["repo"]))
    template = Path(str(layout["template"]))
    for entry in sorted(template.iterdir()):
        if entry.is_dir() and not entry.is_symlink():
            shutil.copytree(entry, repo / entry.name, symlinks=True)
        else:
            shutil.copy2(entry, repo / entry.name, follow_symlinks=False)
    for folder, _, _ in os.walk(repo):
        if folder != str(repo):
            Path(folder).chmod(0o755)
    plan = json.loads((here / "plan.json").read_bytes())
    for path in plan["removals"]:
        (repo / os.fsdecode(bytes.fromhex(path))).unlink()
    for path in plan["emptied"]:
        (repo / os.fsdecode(bytes.fromhex(path))).rmdir()
    for number, (path, mode) in enumerate(plan["writes"]):
        place = repo / os.fsdecode(bytes.fromhex(path))
        place.parent.mkdir(parents=True, exist_ok=True)
        if place.is_symlink() or place.exists():
            place.unlink()
        shutil.copyfile(here / "changes" / str(number), place)
        place.chmod(mode)


class Init:
    """The life of one container."""

    def __init__(self, report: int, lease: int, output: int, job: dict[str, object]) -> None:
        self.report, self.lease, self.output, self.job = report, lease, output, job
        self.received = bytearray()
        self.nonce: bytes | None = None
        self.wanted = 0
        self.payload = bytearray()
        self.status: int | None = None
        self.deadline = time.monotonic() + float(str(job["seconds"]))

    def run(self) -> None:
        """Serve until the program or the lease ends. Does not return."""
        wake, wake_in = os.pipe()
        os.set_blocking(wake, False)
        os.set_blocking(wake_in, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake_in, warn_on_full_buffer=False)
        program, feed = self._start()
        os.set_blocking(feed, False)
        waiting = True
        while self.status is None:
            left = self.deadline - time.monotonic()
            if left <= 0:
                self._give_up()
            readable, writable, _ = select.select(
                [self.lease, wake], [feed] if waiting and self.payload else [], [], min(left, _LOOK_SECONDS)
            )
            if self.status is None and self._memory_kills() != (0, 0):
                self.status = 128 + signal.SIGKILL
            if wake in readable:
                os.read(wake, _CHUNK)
                self._reap(program)
            if self.lease in readable:
                self._take()
            if writable:
                self._feed(feed)
            if waiting and self.nonce is not None and not self.payload and self.wanted == 0:
                os.close(feed)
                waiting = False
        self._finish()

    def _start(self) -> tuple[int, int]:
        """Start the program; its process and the writing end of its standard input."""
        read, write = os.pipe()
        program = os.fork()
        if program == 0:
            try:
                self._become_program(read)
            finally:
                os._exit(127)
        os.close(read)
        return program, write

    def _become_program(self, standard_input: int) -> None:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        Path("/proc/self/oom_score_adj").write_text(str(_FIRST_KILLED))
        os.setsid()
        wanted = [standard_input, self.output, self.output, self.report]
        high = [os.dup(descriptor) for descriptor in wanted]
        while min(high) <= REPORT_FD:
            high = [os.dup(descriptor) for descriptor in high]
        for target, source in enumerate(high):
            os.dup2(source, target)
        os.closerange(REPORT_FD + 1, 256)
        user = str(self.job["user"])
        words = ["setpriv", "--reuid", user, "--regid", user, "--clear-groups", "--inh-caps=-all"]
        words += [
            "--bounding-set=-all",
            "--no-new-privs",
            "--",
            sys.executable,
            "-I",
            "-S",
            __file__,
            "inside",
        ]
        os.execve("/usr/bin/setpriv", words, {"PATH": "/usr/bin:/bin", "LC_ALL": "C"})

    def _take(self) -> None:
        """Read from the lease. Its end before the program's is the death of the harness."""
        data = os.read(self.lease, _CHUNK)
        if not data:
            self._give_up()
        self.received += data
        if self.nonce is None:
            if len(self.received) < HEAD.size:
                return
            self.nonce, self.wanted = HEAD.unpack(bytes(self.received[: HEAD.size]))
            del self.received[: HEAD.size]
        room = self.received[: self.wanted]
        self.payload += room
        self.wanted -= len(room)
        self.received.clear()

    def _feed(self, feed: int) -> None:
        """Hand on what has come."""
        try:
            del self.payload[: os.write(feed, self.payload[:_CHUNK])]
        except BlockingIOError:
            return
        except BrokenPipeError:  # the program does not want its payload; its report will be missing
            self.payload.clear()
            self.wanted = 0

    def _reap(self, program: int) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid == program:
                code = os.waitstatus_to_exitcode(status)
                self.status = code if code >= 0 else 128 - code

    def _finish(self) -> None:
        leftovers = len(_others())
        _kill_others()
        deadline = time.monotonic() + _HEAD_SECONDS
        while self.nonce is None:
            if not select.select([self.lease], [], [], max(deadline - time.monotonic(), 0))[0]:
                os._exit(1)
            self._take()
        status = self.status if self.status is not None else 255
        trailer = TRAILER.pack(self.nonce, status, leftovers, *self._memory_kills())
        os.set_blocking(self.report, True)
        while trailer:
            trailer = trailer[os.write(self.report, trailer) :]
        os._exit(status)

    def _memory_kills(self) -> tuple[int, int]:
        """Processes of this container that the kernel killed: for its own bound, for the machine's sake."""
        if not self.job["cgroup"]:
            return 0, 0
        kills = _counter("memory.events", "oom_kill") or _counter("memory/memory.oom_control", "oom_kill")
        most, bound = (_counter(f"memory/memory.{name}_in_bytes", "") for name in ("max_usage", "limit"))
        reached = _counter("memory.events", "oom") or most + _NEAR_BYTES >= bound > 0
        return (kills, 0) if reached else (0, kills)

    def _give_up(self) -> None:
        _kill_others()
        os._exit(1)


def _counter(file: str, name: str) -> int:
    """A number out of a file of this container's control group; 0 where that is not shown.

    With a name it stands behind that in a line of its own, without one it is all that the file holds.
    """
    try:
        lines = (Path("/sys/fs/cgroup") / file).read_text().split("\n")
    except OSError:
        return 0
    words = (line.split() for line in lines)
    return next((int(found[-1]) for found in words if found and found[:-1] == name.split()), 0)


def _others() -> list[int]:
    """Living processes of this container but this one."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and entry.name != str(os.getpid()):
            try:
                state = (entry / "stat").read_bytes().rpartition(b")")[2].split()[0]
            except OSError:  # it ended while it was looked at
                continue
            if state not in {b"Z", b"X"}:
                found.append(int(entry.name))
    return found


def _kill_others() -> None:
    """Kill all of this process namespace and wait until they are gone."""
    deadline = time.monotonic() + _REAP_SECONDS
    while time.monotonic() < deadline:
        with contextlib.suppress(ProcessLookupError):
            os.kill(-1, signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            if not _others():
                return
            time.sleep(0.01)


if __name__ == "__main__":
    main()
