"""Plain unittest suites, run by the real framework in each sandbox. Names begin with the fault they pin."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from repairlab.contract import controls
from repairlab.contract.outcome import TestOutcome as Outcome
from repairlab.contract.task import Environment
from repairlab.evaluation.environments import PythonEnvironments
from repairlab.evaluation.runs import RunEnd, TestRequest, TestRun
from repairlab.evaluation.sandbox.model import Sandbox, Tree
from repairlab.evaluation.unittest_runner import UnittestRunner
from repairlab.evaluation.verdict import Reason, judge

HEAD = "import unittest\nclass T(unittest.TestCase):\n"
PASSES = HEAD + "    def test_ok(self):\n        pass\n"


@pytest.fixture(scope="session")
def plain(environments: PythonEnvironments, rules: controls.Evaluation) -> UnittestRunner:
    """An environment in which nothing is installed."""
    facts = Environment(python=">=3.11")
    return UnittestRunner(environments.ensure(facts), facts, rules)


@pytest.fixture
def unittests(
    plain: UnittestRunner, sandbox: Sandbox, make_tree: Callable[..., Path]
) -> Callable[..., TestRun]:
    """Run all test files of a mapping, or exactly the tests in `select`."""

    def start(
        files: Mapping[str, str],
        *select: str,
        paths: tuple[str, ...] = (),
        seconds: float = 30.0,
        runner: UnittestRunner = plain,
    ) -> TestRun:
        tests = tuple(sorted(name for name in files if name.rpartition("/")[2].startswith("test_")))
        request = TestRequest(
            tree=Tree(make_tree(files)),
            select=select or None,
            files=() if select else paths or tests,
            wall_seconds=seconds,
            memory_bytes=2**30,
            processes=64,
        )
        return runner.run(request, sandbox)

    return start


LABELS = """
import logging, sys, unittest

class Labels(unittest.TestCase):
    def test_first(self):
        "One sentence for two tests."

    def test_second(self):
        "One sentence for two tests."
        self.assertEqual(1, 2)

    def test_third(self):
        "Told far from its result ... ok"
        sys.stderr.write("  Applying app.0001_start... OK\\n")
        sys.stderr.write("ERROR: no more than a line of a log (test_labels.Labels.test_first)\\n")
        logging.getLogger("x").error("FAILED (errors=9)")

    @unittest.expectedFailure
    def test_known(self):
        self.assertEqual(1, 2)

    @unittest.expectedFailure
    def test_known_no_more(self):
        pass

    @unittest.skip("for a reason ... ok")
    def test_off(self):
        self.fail()

class NoDatabase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        raise RuntimeError("no database")

    def test_one(self):
        pass

    def test_two(self):
        pass
"""


def test_t10_each_test_is_reported_by_its_full_name(unittests):
    result = unittests({"app/__init__.py": "", "app/test_labels.py": LABELS})
    assert {name.removeprefix("app.test_labels."): seen for name, seen in result.outcomes.items()} == {
        "Labels.test_first": Outcome.PASSED,
        "Labels.test_second": Outcome.FAILED,
        "Labels.test_third": Outcome.PASSED,
        "Labels.test_known": Outcome.XFAILED,
        "Labels.test_known_no_more": Outcome.XPASSED,
        "Labels.test_off": Outcome.SKIPPED,
        "NoDatabase.test_one": Outcome.ERROR,
        "NoDatabase.test_two": Outcome.ERROR,
    }
    assert (result.end, result.facts.exit_code) == (RunEnd.TESTS_FAILED, 1)
    assert "no database" in result.failures["app.test_labels.NoDatabase.test_two"]
    assert "1 != 2" in result.failures["app.test_labels.Labels.test_second"]


@pytest.mark.parametrize("name", ["test_known", "test_known_no_more", "test_off"])
def test_t10_an_expected_failure_an_unexpected_success_and_a_skip_are_no_pass(unittests, name):
    required = (f"test_labels.Labels.{name}",)
    result = unittests({"test_labels.py": LABELS}, *required)
    assert set(result.outcomes) == set(required)
    assert not judge(required, result).resolved
    assert (result.end is RunEnd.ALL_PASSED) == (name != "test_known_no_more")


FIXTURES = """
import unittest

def {function}():
    raise {problem}

class A(unittest.TestCase):
    def test_a(self):
        pass

class B(unittest.TestCase):
    def test_b(self):
        pass
"""


@pytest.mark.parametrize(
    ("function", "problem", "outcome"),
    [
        ("setUpModule", "RuntimeError('no server')", Outcome.ERROR),
        ("tearDownModule", "RuntimeError('no end')", Outcome.ERROR),
        ("setUpModule", "unittest.SkipTest('not here')", Outcome.SKIPPED),
    ],
)
def test_t10_a_fixture_of_a_module_is_told_for_each_of_its_tests(unittests, function, problem, outcome):
    text = FIXTURES.format(function=function, problem=problem)
    result = unittests({"test_a.py": text, "test_b.py": PASSES})
    assert result.outcomes == {
        "test_a.A.test_a": outcome,
        "test_a.B.test_b": outcome,
        "test_b.T.test_ok": Outcome.PASSED,
    }
    assert (result.end is RunEnd.ALL_PASSED) == (outcome is Outcome.SKIPPED)


STEPS = """
import unittest

class BadStart(unittest.TestCase):
    def setUp(self):
        self.fail("not ready")
    def test_x(self):
        pass

class BadEnd(unittest.TestCase):
    def tearDown(self):
        raise RuntimeError("left open")
    def test_passes(self):
        pass
    def test_fails(self):
        self.fail()

class BadCleanup(unittest.TestCase):
    def test_x(self):
        self.addCleanup(self.fail, "left open")

class OwnCleanup(unittest.TestCase):
    def test_x(self):
        self.addCleanup(self.fail, "in the body")
        self.doCleanups()
        raise RuntimeError("in the body")

class Asynchronous(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        if self._testMethodName == "test_not_ready":
            raise RuntimeError("not ready")
    async def test_not_ready(self):
        pass
    async def test_good(self):
        pass
    async def test_bad(self):
        raise RuntimeError("in the body")

class BadClassEnd(unittest.TestCase):
    @classmethod
    def tearDownClass(cls):
        raise RuntimeError("left open")
    def test_x(self):
        pass
"""


def test_t05_a_failing_set_up_or_teardown_is_an_error_and_a_failing_body_a_failure(unittests):
    outcomes = unittests({"test_steps.py": STEPS}).outcomes
    assert {name.removeprefix("test_steps."): outcome for name, outcome in outcomes.items()} == {
        "BadStart.test_x": Outcome.ERROR,
        "BadEnd.test_passes": Outcome.ERROR,
        "BadEnd.test_fails": Outcome.FAILED,
        "BadCleanup.test_x": Outcome.ERROR,
        "OwnCleanup.test_x": Outcome.FAILED,
        "Asynchronous.test_not_ready": Outcome.ERROR,
        "Asynchronous.test_good": Outcome.PASSED,
        "Asynchronous.test_bad": Outcome.FAILED,
        "BadClassEnd.test_x": Outcome.ERROR,
    }


PARTS = """
import unittest

class Parts(unittest.TestCase):
    def test_one_fails(self):
        for i in range(3):
            with self.subTest(i=i):
                self.assertNotEqual(i, 1)

    def test_one_is_skipped(self):
        for i in range(3):
            with self.subTest(i=i):
                if i == 1:
                    self.skipTest("not this one")

    def test_all_pass(self):
        for i in range(3):
            with self.subTest(i=i):
                pass
"""


def test_t06_a_unittest_with_a_failed_subtest_has_failed(unittests):
    result = unittests({"test_parts.py": PARTS})
    assert result.outcomes == {
        "test_parts.Parts.test_all_pass": Outcome.PASSED,
        "test_parts.Parts.test_one_fails": Outcome.FAILED,
        "test_parts.Parts.test_one_is_skipped": Outcome.SKIPPED,
    }
    assert "(i=1)" in result.failures["test_parts.Parts.test_one_fails"]


@pytest.mark.parametrize(
    ("text", "paths", "end", "status"),
    [
        (PASSES, (), RunEnd.ALL_PASSED, 0),
        (HEAD + "    def test_no(self):\n        self.fail()\n", (), RunEnd.TESTS_FAILED, 1),
        (HEAD + "    def test_stop(self):\n        raise KeyboardInterrupt\n", (), RunEnd.INTERRUPTED, 2),
        (PASSES + "    setUpClass = exit\n", (), RunEnd.INTERNAL_ERROR, 3),
        (PASSES, ("test_gone.py",), RunEnd.USAGE_ERROR, 4),
        ("# nothing\n", (), RunEnd.NOTHING_COLLECTED, 5),
    ],
)
def test_t01_each_end_of_a_unittest_run_has_its_own_status(unittests, text, paths, end, status):
    result = unittests({"test_a.py": text}, paths=paths)
    assert (result.end, result.facts.exit_code, result.complete) == (end, status, True)
    assert (Outcome.PASSED in result.outcomes.values()) == (status == 0)


@pytest.mark.parametrize(
    ("name", "end"),
    [("test_a.T.test_gone", RunEnd.NOTHING_COLLECTED), ("test_gone.T.test_ok", RunEnd.USAGE_ERROR)],
)
def test_t01_a_selected_unittest_that_is_gone_is_not_run(unittests, name, end):
    result = unittests({"test_a.py": PASSES}, name)
    assert (result.end, result.outcomes) == (end, {name: Outcome.NOT_RUN})


@pytest.mark.parametrize(
    ("core", "said"),
    [
        ("def total(xs):\n    return sum(xs\n", "SyntaxError"),
        ("raise SystemExit(0)\n", "SystemExit"),
        ("class Odd(BaseException):\n    pass\nraise Odd\n", "core.Odd"),
    ],
)
def test_t02_a_module_that_cannot_be_imported_is_named(unittests, core, said):
    required = ("tests.test_core.T.test_total", "tests.test_other.T.test_ok")
    core_test = "from app.core import total\n" + HEAD + "    def test_total(self):\n        pass\n"
    files = {"app/core.py": core, "tests/test_core.py": core_test, "tests/test_other.py": PASSES}
    result = unittests(files, *required)
    assert list(result.outcomes.values()) == [Outcome.NOT_RUN, Outcome.PASSED]
    assert list(result.unreadable) == ["tests/test_core.py"]
    assert said in result.unreadable["tests/test_core.py"]
    assert "unittest_launcher" not in result.unreadable["tests/test_core.py"]
    assert judge(required, result).reason is Reason.UNREADABLE_TESTS


def test_t02_a_load_tests_that_fails_is_named(unittests):
    result = unittests({"test_a.py": PASSES + "def load_tests(*_):\n    raise ValueError('broke')\n"})
    assert result.end is RunEnd.TESTS_FAILED
    assert result.outcomes == {}
    assert "broke" in result.unreadable["test_a.py"]


def test_t03_two_unittests_with_one_name_are_an_error_and_not_last_wins(unittests):
    twins = "def load_tests(*_):\n    return unittest.TestSuite([T('test_ok'), T('test_ok')])\n"
    result = unittests({"test_a.py": PASSES + twins})
    assert result.end is RunEnd.DUPLICATE_IDS
    assert result.outcomes == {"test_a.T.test_ok": Outcome.NOT_RUN}


def test_t03_a_class_that_two_files_import_is_run_once(unittests):
    result = unittests({"test_a.py": PASSES, "test_b.py": "from test_a import T\n"})
    assert (result.end, result.outcomes) == (RunEnd.ALL_PASSED, {"test_a.T.test_ok": Outcome.PASSED})


def test_t03_twins_that_another_file_makes_are_not_taken_for_one_test(unittests):
    made = "import unittest\nfrom test_a import T\ndef load_tests(*_):\n"
    made += "    return unittest.TestSuite([T('test_ok')])\n"
    assert unittests({"test_a.py": PASSES, "test_b.py": made}).end is RunEnd.DUPLICATE_IDS


def test_t04_text_that_looks_like_unittest_results_is_no_evidence(unittests):
    noise = (
        "import sys\n" + HEAD + "    def test_bad(self):\n"
        "        sys.stderr.write('test_bad (test_noise.T.test_bad) ... ok\\n\\nRan 1 test\\n\\nOK\\n')\n"
        "        print('test_noise.T.test_more ... ok')\n        self.fail()\n"
        "    def test_good(self):\n        sys.stderr.write('FAIL: test_good\\nFAILED (failures=1)\\n')\n"
    )
    assert unittests({"test_noise.py": noise}).outcomes == {
        "test_noise.T.test_bad": Outcome.FAILED,
        "test_noise.T.test_good": Outcome.PASSED,
    }


NAMES = ("test_a.T.test_a", "test_a.T.test_b", "test_a.T.test_c")


def test_t07_leaving_a_unittest_with_status_0_is_a_death(unittests):
    text = "import os\n" + HEAD + "    def test_a(self):\n        pass\n"
    text += "    def test_b(self):\n        os._exit(0)\n    def test_c(self):\n        pass\n"
    result = unittests({"test_a.py": text}, *NAMES)
    assert (result.end, result.complete, result.facts.exit_code) == (RunEnd.DIED, False, 0)
    assert list(result.outcomes.values()) == [Outcome.PASSED, Outcome.NOT_RUN, Outcome.NOT_RUN]


def test_t07_an_exit_hook_does_not_turn_the_status_of_unittest(unittests):
    text = "import atexit, os\natexit.register(os._exit, 0)\n" + HEAD
    result = unittests({"test_a.py": text + "    def test_a(self):\n        self.fail()\n"})
    assert (result.end, result.facts.exit_code) == (RunEnd.TESTS_FAILED, 1)


def test_t08_an_endless_unittest_ends_at_the_limit_and_earlier_passes_stand(unittests):
    text = "import time\n" + HEAD + "    def test_a(self):\n        pass\n"
    began = time.monotonic()
    result = unittests(
        {"test_a.py": text + "    def test_b(self):\n        time.sleep(3600)\n"}, *NAMES[:2], seconds=1.5
    )
    assert time.monotonic() - began < 20
    assert result.end is RunEnd.WALL_TIME
    assert list(result.outcomes.values()) == [Outcome.PASSED, Outcome.NOT_RUN]


def test_t08_a_child_of_a_unittest_that_holds_the_pipes_does_not_hold_the_run(unittests):
    text = "import subprocess\n" + HEAD + "    def test_a(self):\n        subprocess.Popen(['sleep', '45'])\n"
    began = time.monotonic()
    result = unittests({"test_a.py": text})
    assert time.monotonic() - began < 20
    assert (result.end, result.facts.leftovers) == (RunEnd.ALL_PASSED, 1)


def test_t09_a_message_that_is_no_text_breaks_no_report(unittests, run):
    """A record holds UTF-8; a lone surrogate is none, and comes from every file name that is not."""
    problem = "raise ValueError('\\udcff' + 'x' * 50_000)\n"
    plain = unittests({"test_a.py": HEAD + f"    def test_a(self):\n        {problem}"})
    with_pytest = run({"test_a.py": f"def test_a():\n    {problem}"})
    for result, name in ((plain, "test_a.T.test_a"), (with_pytest, "test_a.py::test_a")):
        assert (result.end, result.outcomes) == (RunEnd.TESTS_FAILED, {name: Outcome.FAILED})
        assert "\\udcff" in result.failures[name]
        assert "characters left out" in result.failures[name]


def test_no_file_of_the_tree_stands_in_for_unittest(unittests):
    """Each would end the run with status 0 if the runner imported it."""
    names = ("unittest/__init__", "unittest_launcher", "traceback", "difflib", "sitecustomize", "json")
    impostors = {f"{name}.py": "import os\nos._exit(0)\n" for name in names}
    assert unittests({**impostors, "test_a.py": PASSES}).end is RunEnd.ALL_PASSED


def test_the_launcher_leaves_its_names_to_the_checkout(unittests):
    files = {f"{name}.py": "HERE = 1\n" for name in ("launching", "unittest_result")}
    text = "import launching, unittest_result\n" + HEAD
    text += "    def test_a(self):\n        assert launching.HERE and unittest_result.HERE\n"
    assert unittests({**files, "test_a.py": text}).end is RunEnd.ALL_PASSED


DJANGO = ("asgiref==3.13.0", "django==5.2.19", "sqlparse==0.6.1")
PROJECT = {
    "shop/__init__.py": "",
    "shop/settings.py": "SECRET_KEY = 'none'\nINSTALLED_APPS = ['shop']\nUSE_TZ = True\n"
    "DEFAULT_AUTO_FIELD = 'django.db.models.BigAutoField'\n"
    "DATABASES = {'default': {'ENGINE': 'django.db.backends.sqlite3', 'NAME': ':memory:'}}\n",
    "shop/models.py": "from django.db import models\n\nclass Item(models.Model):\n"
    "    name = models.CharField(max_length=9)\n",
    "shop/tests/__init__.py": "",
    "shop/tests/test_items.py": """
from django.test import SimpleTestCase, TestCase, TransactionTestCase
from shop.models import Item

class Flushing(TransactionTestCase):
    def test_item(self):
        Item.objects.create(name="kept")

class Stored(TestCase):
    @classmethod
    def setUpTestData(cls):
        cls.item = Item.objects.create(name="nut")

    def test_found(self):
        self.assertEqual(list(Item.objects.all()), [self.item])

    def test_lost(self):
        "The same sentence."
        self.assertEqual(Item.objects.count(), 2)

class BadData(TestCase):
    @classmethod
    def setUpTestData(cls):
        Item.objects.create(colour="red")

    def test_not_reached(self):
        pass

class NoFixture(TransactionTestCase):
    fixtures = ["nowhere"]

    def test_not_reached(self):
        pass

class NoDatabase(SimpleTestCase):
    def test_query(self):
        Item.objects.count()
""",
}
ITEMS = {
    "BadData.test_not_reached": Outcome.ERROR,
    "Flushing.test_item": Outcome.PASSED,
    "NoDatabase.test_query": Outcome.FAILED,
    "NoFixture.test_not_reached": Outcome.ERROR,
    "Stored.test_found": Outcome.PASSED,
    "Stored.test_lost": Outcome.FAILED,
}


@pytest.fixture(scope="session")
def django(environments: PythonEnvironments, rules: controls.Evaluation) -> UnittestRunner:
    facts = Environment(python=">=3.11", requirements=DJANGO)
    return UnittestRunner(environments.ensure(facts), facts, rules, django_settings="shop.settings")


def test_t10_tests_of_a_django_project_are_reported_by_their_full_names(unittests, django):
    result = unittests(PROJECT, runner=django)
    assert result.outcomes == {f"shop.tests.test_items.{name}": seen for name, seen in ITEMS.items()}
    assert result.end is RunEnd.TESTS_FAILED
    assert result.facts.versions["django"] == "5.2.19"


def test_t10_one_test_of_a_django_project_is_run_by_its_name(unittests, django):
    required = ("shop.tests.test_items.Stored.test_found",)
    result = unittests(PROJECT, *required, runner=django)
    assert result.outcomes == {required[0]: Outcome.PASSED}
    assert judge(required, result).resolved


def test_t02_a_django_project_that_cannot_be_set_up_is_no_pass(unittests, django):
    required = ("shop.tests.test_items.Stored.test_found",)
    result = unittests({**PROJECT, "shop/models.py": "import nowhere\n"}, *required, runner=django)
    assert (result.end, result.outcomes) == (RunEnd.INTERNAL_ERROR, {required[0]: Outcome.NOT_RUN})
    assert not judge(required, result).resolved
