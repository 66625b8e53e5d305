"""The runner's cases, each with the real pytest in each sandbox. Names begin with the fault that they pin."""

from __future__ import annotations

import time

import pytest

from repairlab.contract.outcome import TestOutcome as Outcome
from repairlab.evaluation.runs import RunEnd

PASSES = "def test_ok():\n    assert True\n"


@pytest.mark.parametrize(
    ("files", "paths", "end", "status"),
    [
        ({"test_a.py": PASSES}, (), RunEnd.ALL_PASSED, 0),
        ({"test_a.py": "def test_no():\n    assert False\n"}, (), RunEnd.TESTS_FAILED, 1),
        ({"test_a.py": "def test_stop():\n    raise KeyboardInterrupt\n"}, (), RunEnd.INTERRUPTED, 2),
        (
            {
                "conftest.py": "def pytest_runtest_protocol(item):\n    raise RuntimeError('broke')\n",
                "test_a.py": PASSES,
            },
            (),
            RunEnd.INTERNAL_ERROR,
            3,
        ),
        ({"test_a.py": PASSES}, ("test_gone.py",), RunEnd.USAGE_ERROR, 4),
        ({"test_a.py": "# nothing\n"}, (), RunEnd.NOTHING_COLLECTED, 5),
    ],
)
def test_t01_each_exit_code_has_its_own_meaning(run, files, paths, end, status):
    result = run(files, paths=paths)
    assert (result.end, result.facts.exit_code, result.complete) == (end, status, True)


def test_t01_a_failing_set_up_is_an_error_and_not_a_failure(run):
    result = run(
        {
            "test_a.py": "import pytest\n@pytest.fixture\ndef broken():\n    raise RuntimeError('no')\n"
            "def test_x(broken):\n    pass\n"
        }
    )
    assert result.outcomes == {"test_a.py::test_x": Outcome.ERROR}
    assert "RuntimeError" in result.failures["test_a.py::test_x"]


def test_t01_a_selected_test_that_is_gone_is_not_run(run):
    result = run({"test_a.py": PASSES}, select=("test_a.py::test_gone",))
    assert result.end is RunEnd.NOTHING_COLLECTED
    assert result.outcomes == {"test_a.py::test_gone": Outcome.NOT_RUN}


def test_t02_a_file_that_cannot_be_collected_is_no_pass_and_is_named(run):
    result = run(
        {
            "app/__init__.py": "",
            "app/core.py": "def total(xs):\n    return sum(xs\n",
            "tests/test_core.py": "from app.core import total\n"
            "def test_total():\n    assert total([1]) == 1\n",
            "tests/test_other.py": PASSES,
        },
        select=("tests/test_core.py::test_total", "tests/test_other.py::test_ok"),
    )
    assert result.outcomes["tests/test_core.py::test_total"] is Outcome.NOT_RUN
    assert result.outcomes["tests/test_other.py::test_ok"] is Outcome.PASSED
    assert list(result.unreadable) == ["tests/test_core.py"]
    assert "core.py" in result.unreadable["tests/test_core.py"]


IDS = """
import pytest

TEXTS = ["a b", "x/y", "p::q", "[z]", "\\u00e4", "line\\nbreak", "", "t\\tab", " - d", "100%]"]

@pytest.mark.parametrize("v", TEXTS)
def test_v(v):
    assert "q" not in v

@pytest.mark.parametrize("v", [1, "1"])
def test_same_text(v):
    assert v == 1

class TestA:
    def test_m(self):
        assert True

class TestB:
    def test_m(self):
        assert False
"""


def test_t03_identifiers_are_byte_exact_and_select_their_own_test(run):
    everything = run({"test_ids.py": IDS}).outcomes
    failed = [name for name, outcome in everything.items() if outcome is Outcome.FAILED]
    assert len(everything) == 14
    assert len(failed) == 3
    again = run({"test_ids.py": IDS}, select=tuple(everything)).outcomes
    assert again == everything
    few = ("test_ids.py::test_v[p::q]", "test_ids.py::test_v[100%]]")
    assert run({"test_ids.py": IDS}, select=few).outcomes == {name: everything[name] for name in sorted(few)}


def test_t03_two_tests_with_one_identifier_are_an_error_and_not_last_wins(run):
    result = run(
        {
            "conftest.py": "def pytest_collection_modifyitems(items):\n    items.append(items[0])\n",
            "test_a.py": PASSES,
        }
    )
    assert result.end is RunEnd.DUPLICATE_IDS
    assert result.outcomes["test_a.py::test_ok"] is not Outcome.PASSED
    assert not result.complete


def test_t04_text_that_looks_like_results_is_no_evidence(run):
    noise = (
        "import sys\n"
        "def test_real_failure():\n"
        "    print('PASSED test_noise.py::test_real_failure')\n"
        "    print('test_noise.py::test_real_failure PASSED     [100%]')\n"
        "    sys.stderr.write('=========== 2 passed in 0.01s ===========\\n')\n"
        "    assert 1 == 2\n"
        "def test_bare_words():\n"
        "    print('PASSED')\n    print('FAILED')\n"
    )
    assert run({"test_noise.py": noise}).outcomes == {
        "test_noise.py::test_bare_words": Outcome.PASSED,
        "test_noise.py::test_real_failure": Outcome.FAILED,
    }


MARKS = """
import pytest

@pytest.mark.xfail(reason="known")
def test_xfail_ran():
    assert False

@pytest.mark.xfail(run=False, reason="not run")
def test_xfail_not_run():
    assert False

@pytest.mark.xfail(reason="fixed now")
def test_xpass():
    assert True

@pytest.mark.xfail(strict=True, reason="strict")
def test_xpass_strict():
    assert True

@pytest.mark.skip(reason="off")
def test_skipped():
    assert False

def test_skips_itself():
    pytest.skip("at run time")

@pytest.fixture
def bad_end():
    yield
    raise RuntimeError("teardown broke")

def test_passes_then_teardown_error(bad_end):
    assert True

def test_fails_then_teardown_error(bad_end):
    assert False
"""


def test_t05_only_ran_and_passed_with_set_up_and_teardown_is_a_pass(run):
    outcomes = {name.partition("::")[2]: o for name, o in run({"test_marks.py": MARKS}).outcomes.items()}
    assert outcomes == {
        "test_xfail_ran": Outcome.XFAILED,
        "test_xfail_not_run": Outcome.NOT_RUN,
        "test_xpass": Outcome.XPASSED,
        "test_xpass_strict": Outcome.FAILED,
        "test_skipped": Outcome.SKIPPED,
        "test_skips_itself": Outcome.SKIPPED,
        "test_passes_then_teardown_error": Outcome.ERROR,
        "test_fails_then_teardown_error": Outcome.FAILED,
    }


def test_t06_a_test_with_a_failed_subtest_has_failed(run):
    result = run(
        {
            "test_sub.py": "import unittest\nclass Parts(unittest.TestCase):\n    def test_parts(self):\n"
            "        for i in range(3):\n            with self.subTest(i=i):\n"
            "                self.assertNotEqual(i, 1)\n"
            "    def test_good(self):\n        with self.subTest(i=1):\n            pass\n",
            "test_fixture.py": "def test_parts(subtests):\n    for i in range(3):\n"
            "        with subtests.test(i=i):\n            assert i != 1\n"
            "def test_good(subtests):\n    with subtests.test(i=1):\n        pass\n",
        }
    )
    assert result.outcomes == {
        "test_fixture.py::test_good": Outcome.PASSED,
        "test_fixture.py::test_parts": Outcome.FAILED,
        "test_sub.py::Parts::test_good": Outcome.PASSED,
        "test_sub.py::Parts::test_parts": Outcome.FAILED,
    }


def test_t07_leaving_in_mid_test_with_status_0_is_a_death(run):
    result = run(
        {
            "test_a.py": "import os\ndef test_a():\n    pass\ndef test_b():\n    os._exit(0)\n"
            "def test_c():\n    assert False\n"
        },
        select=("test_a.py::test_a", "test_a.py::test_b", "test_a.py::test_c"),
    )
    assert (result.end, result.complete, result.facts.exit_code) == (RunEnd.DIED, False, 0)
    assert list(result.outcomes.values()) == [Outcome.PASSED, Outcome.NOT_RUN, Outcome.NOT_RUN]


def test_t07_an_exit_hook_does_not_turn_the_status(run):
    result = run(
        {"test_a.py": "import atexit, os\natexit.register(os._exit, 0)\ndef test_x():\n    assert False\n"}
    )
    assert (result.end, result.facts.exit_code) == (RunEnd.TESTS_FAILED, 1)
    assert result.outcomes == {"test_a.py::test_x": Outcome.FAILED}


def test_t08_an_endless_test_ends_at_the_limit_and_earlier_passes_stand(run):
    began = time.monotonic()
    result = run(
        {"test_a.py": "import time\ndef test_a():\n    pass\ndef test_b():\n    time.sleep(3600)\n"},
        select=("test_a.py::test_a", "test_a.py::test_b"),
        seconds=2.0,
    )
    assert time.monotonic() - began < 20
    assert result.end is RunEnd.WALL_TIME
    assert list(result.outcomes.values()) == [Outcome.PASSED, Outcome.NOT_RUN]


def test_t08_a_child_that_holds_the_pipes_does_not_hold_the_run(run):
    began = time.monotonic()
    result = run(
        {
            "pytest.ini": "[pytest]\naddopts = -s\n",
            "test_a.py": "import subprocess\ndef test_leaves():\n    subprocess.Popen(['sleep', '45'])\n",
        }
    )
    assert time.monotonic() - began < 20
    assert (result.end, result.facts.leftovers) == (RunEnd.ALL_PASSED, 1)


def test_t09_a_flood_of_bytes_that_are_no_text_is_capped_and_the_verdict_stands(run):
    result = run(
        {
            "pytest.ini": "[pytest]\naddopts = -s\n",
            "test_big.py": "import os\ndef test_big():\n"
            "    chunk = ('\\u20ac' * 341).encode() + b'\\xff\\xfe\\x00\\x1b[31m\\n'\n"
            "    for _ in range(20 * 1024):\n        os.write(1, chunk)\n"
            "    assert False, 'big output above'\n"
            "def test_after_big():\n    pass\n",
        }
    )
    assert result.outcomes == {
        "test_big.py::test_big": Outcome.FAILED,
        "test_big.py::test_after_big": Outcome.PASSED,
    }
    kept = len(result.facts.output_head) + len(result.facts.output_tail)
    assert kept == 65536
    assert result.facts.dropped_bytes > 15 * 2**20


def test_a_configuration_above_the_checkout_is_not_read(run, unsandboxed):
    """Found by a search that climbs from the tests to the root of the file system."""
    (unsandboxed.scratch / "pytest.ini").write_text("[pytest]\npython_functions = nothing_*\n")
    assert run({"test_a.py": PASSES}).end is RunEnd.ALL_PASSED
    (unsandboxed.scratch / "pytest.ini").unlink()


def test_what_a_test_sees_of_time_locale_and_hashing_is_fixed(run):
    probe = (
        "import os, sys, time\n"
        "def test_seen():\n"
        "    assert os.environ['PYTHONHASHSEED'] == '0' and sys.flags.hash_randomization == 0\n"
        "    assert time.tzname == ('UTC', 'UTC') and os.environ['LC_ALL'] == 'C.UTF-8'\n"
        "    known = {'HOME', 'LOGNAME', 'PATH', 'TMPDIR', 'USER', 'LC_ALL', 'TZ', 'PYTHONHASHSEED', 'PWD',\n"
        "        'PYTHONDONTWRITEBYTECODE', 'PYTHONNOUSERSITE', 'PYTEST_DISABLE_PLUGIN_AUTOLOAD',\n"
        "        'PYTEST_CURRENT_TEST', 'PYTEST_VERSION', 'PYTHONPATH', '_'}\n"
        "    assert set(os.environ) <= known, set(os.environ) - known\n"
    )
    assert run({"test_a.py": probe}).end is RunEnd.ALL_PASSED


def test_an_interpreter_that_a_test_starts_finds_the_checkout(run):
    code = (
        "import subprocess, sys\ndef test_child(tmp_path):\n"
        "    subprocess.run([sys.executable, '-c', 'import app'], cwd=tmp_path, check=True)\n"
    )
    assert run({"app.py": "", "test_a.py": code}).end is RunEnd.ALL_PASSED
