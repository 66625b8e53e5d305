"""What a job is given and what comes back, engine by engine: the same as under every other backend."""

from __future__ import annotations

import dataclasses
import hashlib
import os
import time

import pytest

from repairlab.contract.errors import IntegrityViolation, RefuseToStart
from repairlab.evaluation.sandbox.model import Job, Limits, Tree

pytestmark = pytest.mark.containers
NUMBER = f"41{os.getpid()}"
"""Of seconds that only processes of this test session sleep."""


def test_the_tree_with_its_changes(box, outcome, home, make_job):
    template = home / "template"
    for name, text, mode in (("a/b/gone", "1", 0o644), ("a/kept", "2", 0o755), ("old", "3", 0o600)):
        (template / name).parent.mkdir(parents=True, exist_ok=True)
        (template / name).write_text(text)
        (template / name).chmod(mode | 0o044)
    (template / "link").symlink_to("a/kept")
    changes = {"a/b/gone": None, "a/kept": b"new", "old": None, "x/y/z": b"made", "old/now a folder": b"\0"}
    job = make_job("find . | LC_ALL=C sort >&9; stat -c '%a %U' a/kept x/y/z >&9; cat link x/y/z >&9\n")
    result = outcome(lambda: box.container.run(dataclasses.replace(job, tree=Tree(template, changes))))
    lines = result.report.decode().splitlines()
    assert lines[:9] == [
        ".",
        "./a",
        "./a/kept",
        "./file",
        "./link",
        "./old",
        "./old/now a folder",
        "./x",
        "./x/y",
    ]
    assert [line.split()[0] for line in lines[10:12]] == ["755", "644"]
    assert lines[12] == "newmade"
    assert (template / "a" / "kept").read_text() == "2"


def test_a_change_that_leaves_the_tree_is_refused(box, make_job):
    job = dataclasses.replace(make_job("true\n"), tree=Tree(make_job("").tree.template, {"../x": b""}))
    with pytest.raises(IntegrityViolation):
        box.container.run(job)


def test_payload_environment_and_status(box, outcome, make_job):
    job = dataclasses.replace(
        make_job(""),
        argv=(
            "/bin/bash",
            "-c",
            "printf R >&$1; sha256sum >&$1; env >&$1; pwd >&$1; exit 125",
            "bash",
            "@report",
        ),
        payload=os.urandom(300_000),
        variables={"TZ": "UTC"},
    )
    result = outcome(lambda: box.container.run(job))
    lines = result.report.decode().splitlines()
    assert result.exit_code == 125
    assert lines[0].split()[0] == hashlib.sha256(job.payload).hexdigest()
    names = {line.partition("=")[0] for line in lines[1:-1]}
    assert names - {"_", "SHLVL", "PWD"} == {"HOME", "LOGNAME", "PATH", "TMPDIR", "USER", "TZ"}
    assert lines[-1] == "/repo"


@pytest.mark.parametrize("status", [0, 1, 126, 127, 255])
def test_every_status_is_the_programs_own(hostile, status):
    assert hostile(f"exit {status}\n").exit_code == status


def test_death_by_a_signal(hostile):
    assert hostile("kill -SEGV $$\n").exit_code == 128 + 11


def test_a_big_report_beside_a_big_output_arrives_whole(hostile):
    result = hostile("yes out | head -c 8M & yes report | head -c 20000000 >&9; wait\n")
    assert len(result.report) == 20_000_000
    assert (
        hashlib.sha256(result.report).digest()
        == hashlib.sha256(b"report\n" * 2857142 + b"report"[:6]).digest()
    )


def test_a_report_that_is_too_long_is_cut_and_says_so(hostile):
    limits = Limits(30, 30, 2**28, 40, 2**22, 65536, report_bytes=1000)
    result = hostile("head -c 3M /dev/zero >&9\n", limits)
    assert result.report_overflow
    exact = hostile("head -c 1000 /dev/zero >&9\n", limits)
    assert (exact.report_overflow, len(exact.report)) == (False, 1000)


def test_a_program_that_does_not_read_its_payload(box, outcome, make_job):
    job = dataclasses.replace(
        make_job(""),
        argv=("/bin/bash", "-c", "printf R >&$1; exec <&-; exit 3", "b", "@report"),
        payload=bytes(2**21),
    )
    assert outcome(lambda: box.container.run(job)).exit_code == 3


def test_a_program_that_does_not_exist_is_a_failure_to_start(box, outcome, make_job):
    job = dataclasses.replace(make_job(""), argv=("/nowhere/python",))
    assert outcome(lambda: box.container.run(job)) == "sandbox-start"


def test_a_program_without_a_handshake_is_ended(box, outcome, make_job, alive):
    limits = Limits(20, 20, 2**28, 40, 2**22, 65536, start_seconds=1.0)
    job = dataclasses.replace(make_job(""), argv=("/bin/sleep", f"{NUMBER}.9"), limits=limits)
    began = time.monotonic()
    assert outcome(lambda: box.container.run(job)) == "sandbox-start"
    assert time.monotonic() - began < 15
    assert not alive(f"{NUMBER}.9")


def test_the_name_tells_engine_bounds_and_image(box):
    engine, _, content = box.container.name.rpartition("-")
    assert engine in {"podman", "podman-watched", "docker", "docker-watched"}
    assert content == box.container.image.content[:12]


def test_an_environment_on_another_python_of_the_system_is_refused(box, home):
    (home / "pyvenv.cfg").write_text("home = /usr/bin\nversion_info = 2.7.18\n")
    job = Job(
        Tree(home / "template"), ("/bin/true",), Limits(1, 1, 1, 1, 1, 1), b"", {}, home, (home / "..",)
    )
    job = dataclasses.replace(job, read_only=(type(home)("/usr"),))
    with pytest.raises(RefuseToStart, match=r"2\.7\.18"):
        box.container.run(job)


def test_the_folder_of_the_run_is_gone_afterwards(box, hostile):
    before = set(box.container.scratch.iterdir())
    hostile("mkdir -m 0 /repo/closed; touch /repo/x\n")
    assert set(box.container.scratch.iterdir()) == before
