"""Hostile programs in a container, engine by engine."""

from __future__ import annotations

import dataclasses
import os
import signal
import socket
import threading

import pytest

from repairlab.evaluation.sandbox import watch
from repairlab.evaluation.sandbox.model import Limits, Stop

pytestmark = pytest.mark.containers
NUMBER = f"41{os.getpid()}"
"""Of seconds that only processes of this test session sleep."""
RUNS = ("ps", "--all", "--quiet", "--filter", "label=repairlab=run")
SMALL = Limits(20, 20, 2**28, 40, 2**22, 65536)


def test_reading_outside(hostile, home):
    secret = home / "secret"
    secret.write_text("gold patch")
    secret.chmod(0o644)
    result = hostile(
        f"cat {secret} {home}/template/file /etc/shadow /proc/1/environ /proc/1/mem >&9\n"
        f"ls -A {home} /root /mnt /srv /opt /home /proc/1/root/ /proc/1/fd/ >&9\n"
    )
    assert b"gold patch" not in result.report
    assert b"base" not in result.report
    words = set(result.report.decode().split())
    assert words <= {"/root:", "/mnt:", "/srv:", "/opt:", "/home:", "repairlab"}


def test_writing_outside_and_over_the_template(hostile, home):
    result = hostile(
        "for p in /usr/x /etc/x /x /runner/x /inside/x /template/x /template/file /dev/x /etc/hosts \\\n"
        "  /proc/sys/kernel/hostname /proc/sys/vm/swappiness /sys/fs/cgroup/x; do\n"
        "  echo 60 >$p && echo wrote $p >&9; done\n"
        "for p in /dev/null /dev/zero /usr /proc/sysrq-trigger /template/file; do\n"
        "  chmod 666 $p && echo changed mode of $p >&9; done\n"
        "[ -w /proc/sysrq-trigger ] && echo the machine could be stopped >&9\n"
        "echo changed >file; cat file >&9\n"
    )
    assert result.report == b"changed\n"
    assert (home / "template" / "file").read_text() == "base\n"


def test_reaching_the_network(hostile):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        result = hostile(
            f"(exec 3<>/dev/tcp/127.0.0.1/{port}) && echo reached >&9\n"
            "(exec 3<>/dev/udp/192.0.2.1/53) && echo routed >&9\n"
            "grep -v lo: /proc/net/dev | grep -c : >&9\n"
        )
    assert b"reached" not in result.report
    assert b"routed" not in result.report


def test_no_capability_and_no_further_namespace(hostile):
    result = hostile(
        "grep -E 'Cap|NoNewPrivs' /proc/self/status >&9; unshare -Ur true && echo nested >&9\n"
        "unshare -n true && echo nested >&9; mount -t tmpfs x /tmp && echo mounted >&9\n"
    )
    lines = dict(line.split(":\t") for line in result.report.decode().splitlines() if ":\t" in line)
    assert lines.pop("NoNewPrivs") == "1"
    assert set(lines.values()) == {"0000000000000000"}
    assert b"mounted" not in result.report


def test_the_first_process_can_be_neither_killed_nor_stopped_nor_limited(hostile):
    result = hostile(
        "for s in KILL STOP TERM INT HUP CHLD; do kill -$s 1 && echo sent $s >&9; done\n"
        "prlimit --pid 1 --cpu=0 && echo limited >&9; kill -9 -1; echo alive >&9; exit 7\n"
    )
    assert result.report == b"alive\n"
    assert result.exit_code == 7


def test_memory_of_one_process(hostile):
    result = hostile("head -c 1G /dev/zero | tail -n 1 >/dev/null; echo ${PIPESTATUS[1]} >&9\n")
    assert result.stopped is None
    assert result.report.strip() not in {b"0", b""}


def test_memory_of_many_processes(hostile):
    result = hostile(
        "for i in 1 2 3 4 5 6; do (x=$(head -c 90M /dev/zero | tr '\\0' a); sleep 25) & done; wait\n"
    )
    assert result.stopped is Stop.MEMORY
    assert result.seconds_run < 25


def test_too_many_processes(hostile):
    result = hostile(
        "for i in $(seq 400); do sleep 15 & echo x >&9; done; wait\n",
        dataclasses.replace(SMALL, wall_seconds=4),
    )
    refused = b"Resource temporarily unavailable" in result.stdout_head + result.stdout_tail
    assert result.stopped is Stop.PROCESSES or (refused and len(result.report.split()) <= 40)


def test_cpu_time(hostile):
    result = hostile("while :; do :; done\n", dataclasses.replace(SMALL, cpu_seconds=1))
    assert result.stopped is None
    assert result.exit_code == 128 + signal.SIGKILL


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


def test_no_other_place_can_be_written(hostile):
    result = hostile(
        "find / -xdev -writable ! -type l 2>/dev/null\n"
        "find /dev /run /var -writable -type d >&9 2>/dev/null\n"
    )
    assert set(result.stdout_head.decode().split()) == {"/tmp", "/repo", "/home/repairlab"}
    assert set(result.report.decode().split()) <= {"/dev/shm", "/dev/mqueue"}


def test_flooding_the_output(hostile):
    result = hostile("yes | head -c 40M; echo end\n")
    assert result.dropped_bytes > 39 * 2**20
    assert len(result.stdout_head) + len(result.stdout_tail) == 65536
    assert result.stdout_tail.endswith(b"end\n")


def test_outliving_the_run(hostile, alive):
    """A daemon of its own session, twice forked, that holds no pipe."""
    result = hostile(
        f"(setsid sleep {NUMBER}.1 </dev/null >/dev/null 2>&1 9>&- & )\nsleep 0.2; echo here >&9\n"
    )
    assert result.report == b"here\n"
    assert result.leftovers == 1
    assert not alive(f"{NUMBER}.1")


def test_outliving_the_time_limit(hostile, alive):
    result = hostile(
        f"trap '' TERM INT HUP; setsid sleep {NUMBER}.2 & sleep {NUMBER}.2\n",
        dataclasses.replace(SMALL, wall_seconds=1),
    )
    assert result.stopped is Stop.WALL_TIME
    assert not alive(f"{NUMBER}.2")


DAEMON = (
    f"(setsid sleep {NUMBER}.{{n}} </dev/null >/dev/null 2>&1 & ); trap '' TERM HUP; sleep {NUMBER}.{{n}}\n"
)


def test_nothing_outlives_a_killed_harness(box, outcome, make_job, harness, alive, eventually):
    child = harness(make_job(DAEMON.format(n=3)))
    assert eventually(20, lambda: alive(f"{NUMBER}.3"))
    os.kill(child, signal.SIGKILL)
    assert eventually(10, lambda: not alive(f"{NUMBER}.3"))
    engine = box.container.engine
    assert eventually(20, lambda: outcome(lambda: engine.ask(*RUNS)) == "")


def test_nothing_outlives_a_harness_that_is_killed_with_its_client(make_job, harness, alive, eventually):
    child = harness(make_job(DAEMON.format(n=4)))
    assert eventually(20, lambda: alive(f"{NUMBER}.4"))
    for pid in sorted(watch.descendants(child)):
        os.kill(pid, signal.SIGKILL)
    assert eventually(10, lambda: not alive(f"{NUMBER}.4"))


def test_a_container_that_the_machine_took_away_is_no_verdict(box, outcome, make_job, alive, eventually):
    """A report that was cut is an infrastructure failure, whatever had been reported by then."""
    engine = box.container.engine

    def take_away():
        assert eventually(20, lambda: alive(f"{NUMBER}.5"))
        outcome(lambda: [engine.ask("kill", name) for name in engine.ask(*RUNS).split()])

    thread = threading.Thread(target=take_away)
    thread.start()
    failure = outcome(lambda: box.container.run(make_job(f"echo whole >&9; sleep {NUMBER}.5\n")))
    thread.join()
    assert isinstance(failure, str), failure
    assert failure == "sandbox-lost"
