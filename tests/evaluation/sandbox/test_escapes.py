"""Hostile programs under bubblewrap, as the user who runs the tests and as one without any rights.

The programs are shell scripts: the base interpreter of a test machine may lie where an ordinary user cannot
look, and what is tested is the sandbox, not Python.
"""

from __future__ import annotations

import os
import pickle
import secrets
import shutil
import signal
import socket
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from repairlab.contract.errors import InfrastructureFailure
from repairlab.evaluation.sandbox.bubblewrap import Bubblewrap
from repairlab.evaluation.sandbox.model import Finished, Job, Limits, Stop, Tree

NOBODY = 65534
LIMITS = Limits(
    wall_seconds=20,
    cpu_seconds=20,
    memory_bytes=256 * 2**20,
    processes=40,
    file_bytes=4 * 2**20,
    output_bytes=65536,
)
HANDSHAKE = 'exec 9>"/dev/fd/$1"; printf R >&9; cat >/dev/null\n'


@pytest.fixture(params=["this-user", "ordinary-user"])
def user(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def home(user: str) -> Iterator[Path]:
    """A folder that the chosen user owns and can reach (pytest's own is closed to others)."""
    folder = Path(tempfile.mkdtemp(prefix="repairlab-escape-")).resolve()
    folder.chmod(0o755)
    template = folder / "template"
    template.mkdir()
    (template / "file").write_text("base\n")
    if user == "ordinary-user" and os.geteuid() == 0:
        for path in (folder, template, template / "file"):
            os.chown(path, NOBODY, NOBODY)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def start(user: str, bubblewrap: Bubblewrap) -> Callable[[Callable[[], Any]], tuple[int, int]]:
    """Start a function in a child that has become the chosen user; its pid and a pipe with its result.

    The child can load no further module where the interpreter lies in a folder that is closed to it; the
    sandbox that is asked for here has been opened, so everything is loaded.
    """

    def begin(work: Callable[[], Any]) -> tuple[int, int]:
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            status = 1
            try:
                os.close(reading)
                if user == "ordinary-user" and os.geteuid() == 0:
                    os.setgroups([])
                    os.setgid(NOBODY)
                    os.setuid(NOBODY)
                with os.fdopen(writing, "wb") as stream:
                    stream.write(pickle.dumps(work()))
                status = 0
            except BaseException:
                os.write(2, traceback.format_exc().encode())
                raise
            finally:
                os._exit(status)
        os.close(writing)
        return child, reading

    return begin


@pytest.fixture
def hostile(home: Path, start: Any) -> Callable[..., Finished]:
    """Run a script in the sandbox as the chosen user."""

    def run(script: str, limits: Limits = LIMITS) -> Finished:
        def work() -> Finished:
            box = Bubblewrap.open(home / "scratch")
            return box.run(job(home, script, limits))

        child, reading = start(work)
        with os.fdopen(reading, "rb") as stream:
            data = stream.read()
        os.waitpid(child, 0)
        assert data, "the sandbox could not be used; see the captured output"
        result: Finished = pickle.loads(data)
        return result

    return run


def job(home: Path, script: str, limits: Limits = LIMITS) -> Job:
    argv = ("/bin/bash", "-c", HANDSHAKE + script, "bash", "@report")
    return Job(Tree(home / "template"), argv, limits, b"", {})


def test_reading_outside(hostile, home):
    secret = home / "secret"
    secret.write_text("gold patch")
    secret.chmod(0o644)
    result = hostile(
        f"cat {secret} {home}/template/file /root/.bashrc /etc/shadow /etc/hostname >&9\n"
        "ls -A / /home /etc >&9; ls -A /root /mnt /var /srv /opt /sys /run >&9\n"
    )
    assert b"gold patch" not in result.report
    listed = result.report.decode().split()
    assert "file" not in listed
    assert set(listed) <= {
        *("/:", "/home:", "/etc:", "bin", "dev", "etc", "home", "lib", "lib32", "lib64", "libx32", "proc"),
        *("repo", "runner", "sbin", "tmp", "usr", "repairlab"),
        *("alternatives", "group", "hosts", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "passwd"),
    }


def test_writing_outside_and_over_the_template(hostile, home):
    result = hostile(
        "for p in /usr/x /etc/x /x /runner/x /dev/x /proc/sys/kernel/hostname /proc/sys/vm/swappiness \\\n"
        "  /proc/self/oom_score_adj; do echo 60 >$p && echo wrote $p >&9; done\n"
        "for p in /dev/null /dev/zero /dev/tty /usr /proc/sysrq-trigger; do\n"
        "  chmod 666 $p && echo changed mode of $p >&9; done\n"
        "[ -w /proc/sysrq-trigger ] && echo the machine could be stopped >&9\n"
        "echo changed >file; echo gone >/dev/null; cat file >&9\n"
    )
    assert result.report == b"changed\n"
    assert (home / "template" / "file").read_text() == "base\n"


def test_reaching_the_network(hostile):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        result = hostile(
            f"(exec 3<>/dev/tcp/127.0.0.1/{port}) && echo reached >&9\n"
            "(exec 3<>/dev/udp/192.0.2.1/53) && echo routed >&9\n"
            "grep -c : /proc/net/dev >&9\n"
        )
    assert result.report == b"1\n"


def test_no_capability_and_no_further_namespace(hostile):
    result = hostile("grep -E 'Cap|NoNewPrivs' /proc/self/status >&9; unshare -Ur true && echo nested >&9\n")
    lines = dict(line.split(":\t") for line in result.report.decode().splitlines())
    assert lines.pop("NoNewPrivs") == "1"
    assert set(lines.values()) == {"0000000000000000"}


def test_other_processes_are_not_seen(hostile):
    result = hostile("kill -9 -1; ls -d /proc/[0-9]* >&9; echo alive >&9\n")
    assert b"alive" in result.report
    assert len(result.report.split()) <= 5


def test_memory_of_one_process(hostile):
    result = hostile("head -c 1G /dev/zero | tail -n 1 >/dev/null; echo ${PIPESTATUS[1]} >&9\n")
    assert result.stopped is None
    assert result.report.strip() not in {b"0", b""}


def test_memory_of_many_processes(hostile):
    script = "for i in 1 2 3 4 5 6; do (x=$(head -c 90M /dev/zero | tr '\\0' a); sleep 15) & done; wait\n"
    result = hostile(script)
    assert result.stopped is Stop.MEMORY
    assert result.seconds_run < 15


def test_too_many_processes(hostile):
    """The kernel refuses them to an ordinary user; root's are counted."""
    limits = Limits(2, 20, 2**28, 40, 2**22, 65536)
    result = hostile("for i in $(seq 400); do sleep 15 & echo x >&9; done; wait\n", limits)
    refused = b"Resource temporarily unavailable" in result.stdout_head + result.stdout_tail
    assert result.stopped is Stop.PROCESSES or (refused and len(result.report.split()) <= 40)


def test_cpu_time(hostile):
    limits = Limits(20, 1, 2**28, 40, 2**22, 65536)
    result = hostile("while :; do :; done\n", limits)
    assert result.stopped is None
    assert result.exit_code == 128 + signal.SIGKILL
    assert result.seconds_run < 15


@pytest.mark.parametrize("place", ["/tmp", "/repo", "/dev/shm", "/home/repairlab"])
def test_disk(hostile, place):
    result = hostile(
        f"head -c 8M /dev/zero >{place}/big; stat -c %s {place}/big >&9\n"
        f"for i in $(seq 20); do head -c 1M /dev/zero >{place}/part$i; done\n"
        f"du -s --apparent-size {place} >&9\n"
    )
    biggest, total = (int(word) for word in result.report.split()[:2])
    assert biggest <= 4 * 2**20
    assert total * 1024 <= 5 * 2**20


def test_flooding_the_output(hostile):
    result = hostile("yes | head -c 40M; echo end\n")
    assert result.dropped_bytes > 39 * 2**20
    assert len(result.stdout_head) + len(result.stdout_tail) == 65536
    assert result.stdout_tail.endswith(b"end\n")


@pytest.fixture
def marker() -> str:
    """A duration that no other run on this machine sleeps for."""
    return f"31415.{secrets.randbelow(10**12):012}"


def test_outliving_the_run(hostile, marker):
    """A daemon of its own session, twice forked, that holds no pipe."""
    result = hostile(
        f"(setsid sleep {marker} </dev/null >/dev/null 2>&1 9>&- & )\nread -t 0.3 <> <(:)\n"
        'for c in /proc/[0-9]*/comm; do read n <$c; [ "$n" = sleep ] && echo asleep >&9; done\n'
    )
    assert result.report == b"asleep\n"
    assert not running(marker)


def test_outliving_the_time_limit(hostile, marker):
    limits = Limits(1, 20, 2**28, 40, 2**22, 65536)
    result = hostile(f"trap '' TERM INT HUP; setsid sleep {marker} & sleep {marker}\n", limits)
    assert result.stopped is Stop.WALL_TIME
    assert not running(marker)


def test_nothing_outlives_a_killed_harness(home, start, marker):
    script = f"(setsid sleep {marker} </dev/null >/dev/null 2>&1 & ); touch /repo/x; sleep {marker}\n"
    child, reading = start(lambda: Bubblewrap.open(home / "scratch").run(job(home, script)))
    assert within(10, lambda: running(marker))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(reading)
    assert within(5, lambda: not running(marker))


def test_a_program_that_does_not_exist_is_a_failure_to_start(bubblewrap, tmp_path):
    with pytest.raises(InfrastructureFailure, match="No such file") as caught:
        bubblewrap.run(Job(Tree(tmp_path), ("/nowhere/python",), LIMITS, b"", {}))
    assert caught.value.kind == "sandbox-start"


def test_a_program_without_a_handshake_is_ended(bubblewrap, tmp_path, marker):
    limits = Limits(20, 20, 2**28, 40, 2**22, 65536, start_seconds=0.5)
    began = time.monotonic()
    with pytest.raises(InfrastructureFailure):
        bubblewrap.run(Job(Tree(tmp_path), ("/bin/sleep", marker), limits, b"", {}))
    assert time.monotonic() - began < 10
    assert within(5, lambda: not running(marker))


def running(marker: str) -> bool:
    """Whether any process of this machine has `marker` among its arguments."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if words[0].endswith(b"sleep") and marker.encode() in words:
                return True
    return False


def within(seconds: float, condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.05)
    return False
