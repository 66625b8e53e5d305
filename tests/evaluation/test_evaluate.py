"""Whole evaluations of a small task, in both sandboxes."""

from __future__ import annotations

import dataclasses

import pytest

from repairlab.contract.errors import InfrastructureFailure, IntegrityViolation
from repairlab.contract.outcome import TestOutcome as Outcome
from repairlab.evaluation.evaluate import evaluate, settle
from repairlab.evaluation.goldcheck import FaultKind, gold_check
from repairlab.evaluation.public import run_public_tests
from repairlab.evaluation.runs import RunEnd
from repairlab.evaluation.verdict import Reason

BROKEN = "def total(xs):\n    return sum(xs[1:])\n\ndef name():\n    return 'shop'\n"
FIXED = BROKEN.replace("xs[1:]", "xs").encode()
OLD_TESTS = "from shop.core import name\n\ndef test_name():\n    assert name() == 'shop'\n"
HIDDEN = (
    "from shop.core import name, total\n\ndef test_name():\n    assert name() == 'shop'\n\n"
    "def test_total():\n    assert total([1, 2]) == 3\n"
)
FILES = {"shop/__init__.py": "", "shop/core.py": BROKEN, "tests/test_core.py": OLD_TESTS}
HIDDEN_FILES = {"tests/test_core.py": HIDDEN.encode()}


@pytest.fixture
def score(task, make_tree, runner, sandbox, rules):
    template = make_tree(FILES)

    def go(changes, *, hidden=HIDDEN_FILES, chosen=task):
        return evaluate(chosen, template, changes, hidden, runner, sandbox, rules)

    return go


def limited(task, seconds):
    return task.model_copy(update={"limits": task.limits.model_copy(update={"evaluation_seconds": seconds})})


def test_the_true_fix_resolves(score, task):
    result = score({"shop/core.py": FIXED})
    assert (result.resolved_at_1, result.reason, result.runs) == (1, Reason.ALL_REQUIRED_PASSED, 1)
    assert list(result.per_test.items()) == [(name, Outcome.PASSED) for name in task.required_tests]


def test_the_base_does_not_resolve_and_says_what_failed(score):
    result = score({})
    assert (result.resolved_at_1, result.reason) == (0, Reason.REQUIRED_FAILED)
    assert result.per_test == {
        "tests/test_core.py::test_total": Outcome.FAILED,
        "tests/test_core.py::test_name": Outcome.PASSED,
    }


def test_hidden_tests_win_over_a_file_of_the_repair_in_their_place(score):
    weak = b"def test_total():\n    pass\n\ndef test_name():\n    pass\n"
    assert score({"tests/test_core.py": weak}).resolved_at_1 == 0


def test_a_file_that_steers_the_runner_is_a_violation(score):
    hook = b"def pytest_runtest_makereport():\n    pass\n"
    for path in ("conftest.py", "shop/conftest.py", "pytest.ini", "setup.cfg"):
        with pytest.raises(IntegrityViolation, match="steers"):
            score({path: hook})


def test_other_hidden_files_than_the_tasks_are_a_violation(score):
    with pytest.raises(IntegrityViolation, match="hidden test files"):
        score({}, hidden={**HIDDEN_FILES, "tests/test_more.py": b""})


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("def total(xs:\n", Reason.UNREADABLE_TESTS),
        ("import os\nos._exit(0)\n", Reason.DIED),
        ("import os\nos.kill(os.getpid(), 9)\n", Reason.DIED),
        ("raise KeyboardInterrupt\n", Reason.INTERRUPTED),
        ("while True:\n    pass\n", Reason.WALL_TIME),
    ],
)
def test_what_a_repair_breaks_is_an_outcome_and_no_infrastructure(score, task, code, reason):
    seconds = 4 if reason is Reason.WALL_TIME else 30  # the runner itself must have started by then
    result = score({"shop/core.py": code.encode()}, chosen=limited(task, seconds))
    assert (result.resolved_at_1, result.reason) == (0, reason)
    assert Outcome.PASSED not in result.per_test.values()
    assert result.runs == (1 if result.run.complete else 2)


def test_too_much_memory_is_an_outcome_and_the_same_every_time(score, task):
    greedy = FIXED.replace(b"return sum", b"return bytearray(8 << 30) and sum")
    result = score({"shop/core.py": greedy})
    assert (result.resolved_at_1, result.reason) == (0, Reason.REQUIRED_FAILED)
    assert "MemoryError" in result.run.failures["tests/test_core.py::test_total"]


def test_a_broken_environment_is_infrastructure_and_never_a_0(
    task, make_tree, runner, sandbox, rules, installed, tmp_path
):
    elsewhere = tmp_path / "environment"
    (elsewhere / "bin").mkdir(parents=True)
    (elsewhere / "bin" / "python").symlink_to((installed.root / "bin" / "python").resolve())
    broken = dataclasses.replace(runner, environment=dataclasses.replace(installed, root=elsewhere))
    with pytest.raises(InfrastructureFailure) as caught:
        evaluate(task, make_tree(FILES), {}, HIDDEN_FILES, broken, sandbox, rules)
    assert caught.value.kind == "runner-start"


class Scripted:
    """A runner whose runs end as told, for the rule of repetition alone."""

    steering_names = frozenset()

    def __init__(self, runs):
        self.runs = iter(runs)

    def run(self, request, sandbox):
        return next(self.runs)


@pytest.mark.parametrize(
    ("ends", "end", "count"),
    [
        ([RunEnd.ALL_PASSED], RunEnd.ALL_PASSED, 1),
        ([RunEnd.WALL_TIME, RunEnd.WALL_TIME], RunEnd.WALL_TIME, 2),
        ([RunEnd.WALL_TIME, RunEnd.ALL_PASSED], RunEnd.ALL_PASSED, 2),
        ([RunEnd.WALL_TIME, RunEnd.DIED, RunEnd.WALL_TIME], RunEnd.WALL_TIME, 3),
        ([RunEnd.WALL_TIME, RunEnd.DIED, RunEnd.MEMORY, RunEnd.TESTS_FAILED], RunEnd.TESTS_FAILED, 4),
    ],
)
def test_a_time_out_counts_only_when_it_is_reproduced(made_run, ends, end, count):
    runner = Scripted([made_run(end=e, outcomes={}) for e in ends])
    run, runs = settle(None, runner, None, 2)
    assert (run.end, runs) == (end, count)


def test_runs_that_keep_ending_in_other_ways_are_infrastructure(made_run):
    ends = [RunEnd.WALL_TIME, RunEnd.DIED, RunEnd.MEMORY, RunEnd.PROCESSES, RunEnd.EVIDENCE_BROKEN]
    runner = Scripted([made_run(end=e, outcomes={}) for e in ends])
    with pytest.raises(InfrastructureFailure) as caught:
        settle(None, runner, None, 2)
    assert caught.value.kind == "evaluation-unstable"


@pytest.fixture
def checked(task, make_tree, runner, bubblewrap):
    def go(gold=None, hidden=None, chosen=task, files=None):
        return gold_check(
            chosen,
            make_tree(files or FILES),
            gold or {"shop/core.py": FIXED},
            hidden or HIDDEN_FILES,
            runner,
            bubblewrap,
            repetitions=2,
        )

    return go


def test_a_sound_task(checked):
    result = checked()
    assert result.sound, result.faults
    assert len(result.base_runs) == len(result.gold_runs) == 2
    assert result.slowest_seconds > 0


def faults(result):
    return [(fault.kind, fault.detail.partition(" (")[0]) for fault in result.faults]


def test_a_test_that_passes_before_the_fix_is_a_fault(checked, task):
    both = task.model_copy(update={"fail_to_pass": task.required_tests, "pass_to_pass": ()})
    assert faults(checked(chosen=both)) == [(FaultKind.ALREADY_PASSES, "tests/test_core.py::test_name")]


def test_a_regression_test_that_fails_at_the_base_is_a_fault(checked, task):
    none = task.model_copy(
        update={"pass_to_pass": task.required_tests[:1], "fail_to_pass": task.required_tests[1:]}
    )
    assert faults(checked(chosen=none)) == [
        (FaultKind.ALREADY_PASSES, "tests/test_core.py::test_name"),
        (FaultKind.BROKEN_AT_BASE, "tests/test_core.py::test_total"),
    ]


def test_a_fix_that_does_not_fix_is_a_fault(checked):
    assert [kind for kind, _ in faults(checked(gold={"shop/other.py": b""}))] == [FaultKind.GOLD_NOT_RESOLVED]


def test_a_test_that_flips_between_runs_is_a_fault(checked, task):
    """Thirty coins: two runs agree on all of them once in a thousand million times."""
    names = tuple(f"tests/test_core.py::test_flip{number}" for number in range(30))
    named = task.model_copy(update={"pass_to_pass": (*task.pass_to_pass, *names)})
    body = "import secrets\n" + HIDDEN
    for number in range(30):
        body += f"\ndef test_flip{number}():\n    assert secrets.randbelow(2)\n"
    kinds = {kind for kind, _ in faults(checked(hidden={"tests/test_core.py": body.encode()}, chosen=named))}
    assert FaultKind.UNSTABLE in kinds


def test_a_base_on_which_the_runner_fails_is_a_fault_and_no_fail_to_pass(checked):
    files = {**FILES, "conftest.py": "def pytest_runtest_protocol(item):\n    raise RuntimeError('broke')\n"}
    result = checked(files=files)
    assert (FaultKind.BASE_RUN, "internal-error: the runner did not get to the tests") in faults(result)
    assert FaultKind.GOLD_NOT_RESOLVED in [kind for kind, _ in faults(result)]


def test_public_tests_give_the_same_text_in_every_run(task, make_tree, runner, sandbox, rules):
    noisy = (
        "import os, random, tempfile, time\n\ndef total(xs):\n"
        "    folder = tempfile.mkdtemp()\n    seed = random.randrange(10**9)\n"
        "    raise ValueError(f'{object()} in {folder} with seed={seed} after {time.monotonic():.6f} s')\n\n"
        "def name():\n    return total([])\n"
    )
    template = make_tree({**FILES, "shop/core.py": noisy})
    texts = {run_public_tests(task, template, {}, runner, sandbox, rules, 200).text for _ in range(2)}
    assert len(texts) == 1
    text = texts.pop()
    assert text.startswith("Public tests: 1 failed.\n\nFAILED tests/test_core.py::test_name\n")
    assert "ValueError: <object object at 0x...> in <tmp> with seed=... after ... s" in text
    assert str(template) not in text
