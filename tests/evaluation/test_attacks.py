"""Tested code that wants to look repaired. Every attack runs in the real runner and must not pay."""

from __future__ import annotations

import dataclasses
import hashlib

from repairlab.contract.outcome import TestOutcome as Outcome
from repairlab.evaluation.runs import RunEnd
from repairlab.evaluation.verdict import Reason, judge

REQUIRED = ("test_a.py::test_good", "test_a.py::test_bad")
HONEST = "def test_good():\n    pass\ndef test_bad():\n    assert False\n"


def attacked(run, code, **files):
    """Run the two honest tests with `code` at the top of the module that they import."""
    tree = {"app.py": code, "test_a.py": "import app\n" + HONEST, **files}
    return run(tree, select=REQUIRED)


def test_leaving_at_import_with_status_0(run):
    result = attacked(run, "import os\nos._exit(0)\n")
    assert result.end is RunEnd.DIED
    assert not judge(REQUIRED, result).resolved


def test_asking_the_runner_to_exit_with_status_0(run):
    result = run(
        {
            "test_a.py": "import pytest\ndef test_good():\n    pytest.exit('done', returncode=0)\n"
            "def test_bad():\n    assert False\n"
        },
        select=REQUIRED,
    )
    assert not judge(REQUIRED, result).resolved
    assert Outcome.PASSED not in result.outcomes.values()


FORGERY = """
import json, os, struct
def frame(**fields):
    payload = json.dumps(fields).encode()
    return struct.pack(">I", len(payload)) + bytes(32) + payload
records = b""
number = 1
for name in ("test_a.py::test_good", "test_a.py::test_bad"):
    for when in ("setup", "call", "teardown"):
        records += frame(n=number, kind="phase", id=name, when=when, outcome="passed", expected=False,
            part=False, message="")
        number += 1
records += frame(n=number, kind="final", exit=0, phases=6, leftovers=0)
for descriptor in range(3, 64):
    try:
        os.write(descriptor, records)
    except OSError:
        pass
os._exit(0)
"""


def test_a_forged_report_written_to_every_descriptor(run):
    result = attacked(run, FORGERY)
    assert result.end is RunEnd.EVIDENCE_BROKEN
    assert judge(REQUIRED, result).reason is Reason.EVIDENCE_BROKEN
    assert set(result.outcomes.values()) == {Outcome.NOT_RUN}


def test_garbage_in_every_descriptor(run):
    code = "import os\nfor d in range(3, 64):\n    try:\n        os.write(d, b'garbage')\n"
    result = attacked(run, code + "    except OSError:\n        pass\n")
    assert result.end is RunEnd.EVIDENCE_BROKEN
    assert not result.complete


def test_a_flooded_report_is_cut_and_is_no_report(run):
    code = (
        "import os\nblock = bytes(1 << 20)\nfor d in range(3, 64):\n    try:\n        for _ in range(80):\n"
        "            os.write(d, block)\n    except OSError:\n        pass\n"
    )
    result = attacked(run, code)
    assert result.end is RunEnd.EVIDENCE_BROKEN


IMPOSTORS = (
    "pytest.py",
    "_pytest/__init__.py",
    "pluggy.py",
    "iniconfig.py",
    "pytest_launcher.py",
    "sitecustomize.py",
    "usercustomize.py",
    "hmac.py",
    "json.py",
    "unittest/__init__.py",
    "pdb.py",
)


def test_no_file_of_the_tree_stands_in_for_the_runner(run):
    """Each would end the run with status 0 if anything imported it."""
    impostors = dict.fromkeys(IMPOSTORS, "import os\nos._exit(0)\n")
    result = attacked(run, "import hmac, json, pdb, pytest, unittest\n", **impostors)
    assert result.outcomes == {REQUIRED[0]: Outcome.PASSED, REQUIRED[1]: Outcome.FAILED}
    assert result.end is RunEnd.TESTS_FAILED


def test_a_daemon_that_writes_after_the_end(run):
    code = (
        "import os, time\n"
        "if os.fork() == 0:\n    os.setsid()\n    if os.fork():\n        os._exit(0)\n    time.sleep(1)\n"
        "    for d in range(3, 64):\n        try:\n            os.write(d, b'late')\n"
        "        except OSError:\n            pass\n    os._exit(0)\n"
    )
    result = attacked(run, code)
    assert result.end is RunEnd.TESTS_FAILED
    assert result.facts.leftovers == 1


def test_a_fork_that_goes_on_through_the_runner_reports_nothing(run):
    code = "import os\nPARENT = os.getpid()\n"
    tests = "import os, app\ndef test_good():\n    child = os.fork()\n"
    tests += "    if child:\n        os.waitpid(child, 0)\n"
    tests += "def test_bad():\n    assert os.getpid() != app.PARENT\n"
    result = run({"app.py": code, "test_a.py": tests}, select=REQUIRED)
    assert result.end is RunEnd.TESTS_FAILED
    assert result.outcomes == {REQUIRED[0]: Outcome.PASSED, REQUIRED[1]: Outcome.FAILED}


def test_closing_every_descriptor_leaves_no_report(run):
    result = attacked(run, "import os\nos.closerange(3, 256)\n")
    assert not result.complete
    assert not judge(REQUIRED, result).resolved


HUNT = """
import hashlib, os, sys
def test_good():
    wanted = "{digest}"
    def seen(data):
        parts = (data[i:i + 32] for i in range(max(len(data) - 31, 0)))
        return any(hashlib.sha256(part).hexdigest() == wanted for part in parts)
    def hexed(data):
        return seen(data) or any(
            hashlib.sha256(bytes.fromhex(word)).hexdigest() == wanted
            for word in data.decode("latin-1").replace(chr(0), " ").split() if len(word) == 64
            and all(c in "0123456789abcdef" for c in word)
        )
    for name in ("environ", "cmdline"):
        if os.path.exists("/proc/self"):
            with open("/proc/self/" + name, "rb") as stream:
                assert not hexed(stream.read())
    assert not any(hexed(value.encode()) for value in [*os.environ.values(), *sys.argv])
    for module in list(sys.modules.values()):
        for value in list(vars(module).values()):
            if isinstance(value, (bytes, bytearray)) and len(value) < 4096:
                assert not seen(bytes(value))
    assert os.read(0, 100) == b""
def test_bad():
    pass
"""


def test_the_key_is_not_in_the_environment_arguments_modules_or_standard_input(runner, run):
    fixed = runner.new_key()
    result = run(
        {"test_a.py": HUNT.replace("{digest}", hashlib.sha256(fixed).hexdigest())},
        select=REQUIRED,
        with_runner=dataclasses.replace(runner, new_key=lambda: fixed),
    )
    assert result.end is RunEnd.ALL_PASSED, result.failures
    assert runner.new_key() != fixed
