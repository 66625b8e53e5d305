"""Tested code that wants to look repaired, in the real runner in containers."""

from __future__ import annotations

import pytest

from repairlab.contract.outcome import TestOutcome as Outcome
from repairlab.evaluation.runs import RunEnd
from repairlab.evaluation.verdict import Reason, judge

pytestmark = pytest.mark.containers
REQUIRED = ("test_a.py::test_good", "test_a.py::test_bad")
HONEST = "def test_good():\n    pass\ndef test_bad():\n    assert False\n"
HONEST_OUTCOMES = {REQUIRED[0]: Outcome.PASSED, REQUIRED[1]: Outcome.FAILED}


@pytest.fixture
def attacked(run):
    """Run the two honest tests with `code` at the top of the module that they import."""

    def start(code, **files):
        return run({"app.py": code, "test_a.py": "import app\n" + HONEST, **files}, select=REQUIRED)

    return start


def test_an_honest_repair_is_resolved(run):
    result = run({"test_a.py": "def test_good():\n    pass\ntest_bad = test_good\n"}, select=REQUIRED)
    assert result.end is RunEnd.ALL_PASSED, result.problem
    assert judge(REQUIRED, result).resolved
    assert result.facts.leftovers == 0


def test_leaving_at_import_with_status_0(attacked):
    result = attacked("import os\nos._exit(0)\n")
    assert result.end is RunEnd.DIED
    assert not judge(REQUIRED, result).resolved


def test_a_report_that_is_printed_or_written_to_files(attacked):
    code = (
        "import os\nlines = '2 passed in 0.01s\\nOK\\n'\nprint(lines)\nos.write(1, lines.encode())\n"
        "for place in ('report.xml', 'report.json', '/tmp/report.json', '/runner/report'):\n"
        "    try:\n        open(place, 'w').write('<testsuite tests=\"2\" failures=\"0\"/>')\n"
        "    except OSError:\n        pass\n"
    )
    result = attacked(code)
    assert result.outcomes == HONEST_OUTCOMES
    assert not judge(REQUIRED, result).resolved


FORGERY = """
import json, os, struct
def frame(**fields):
    payload = json.dumps(fields).encode()
    return struct.pack(">I", len(payload)) + bytes(32) + payload
records = frame(n=2, kind="final", exit=0, phases=0, leftovers=0)
records += struct.pack(">16sBIII", bytes(16), 0, 0, 0, 0)
for descriptor in range(3, 64):
    try:
        os.write(descriptor, records)
    except OSError:
        pass
os._exit(0)
"""


def test_a_forged_report_and_trailer_written_to_every_descriptor(attacked):
    result = attacked(FORGERY)
    assert result.end is RunEnd.EVIDENCE_BROKEN
    assert judge(REQUIRED, result).reason is Reason.EVIDENCE_BROKEN


def test_no_file_of_the_tree_stands_in_for_the_runner(attacked):
    """Each would end the run with status 0 if the runner, or the container's first process, imported it."""
    names = ("pytest", "_pytest/__init__", "pluggy", "json", "hmac", "struct", "select", "sitecustomize")
    names += ("container_init", "pytest_launcher", "contextlib")
    impostors = {f"{name}.py": "import os\nos._exit(0)\n" for name in names}
    assert attacked("import hmac, json, pytest\n", **impostors).outcomes == HONEST_OUTCOMES


def test_a_daemon_that_writes_after_the_end(attacked):
    code = (
        "import os, time\n"
        "if os.fork() == 0:\n    os.setsid()\n    if os.fork():\n        os._exit(0)\n    time.sleep(1)\n"
        "    for d in range(3, 64):\n        try:\n            os.write(d, b'late')\n"
        "        except OSError:\n            pass\n    os._exit(0)\n"
    )
    result = attacked(code)
    assert result.end is RunEnd.TESTS_FAILED
    assert result.facts.leftovers == 1
