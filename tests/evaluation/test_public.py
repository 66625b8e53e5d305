from __future__ import annotations

import dataclasses

import pytest

from repairlab.contract.outcome import TestOutcome as Outcome
from repairlab.evaluation.public import normalise, render
from repairlab.evaluation.runs import RunEnd

PLACES = {"repo": "/repo", "env": "/env", "runner": "/runner", "home": "/home/repairlab", "tmp": "/tmp"}


def test_the_text_is_frozen(made_run, rules):
    long = "\n".join(f"line {n}" for n in range(40))
    run = dataclasses.replace(
        made_run(
            end=RunEnd.TESTS_FAILED,
            outcomes={
                "t.py::a": Outcome.PASSED,
                "t.py::b": Outcome.FAILED,
                "t.py::c": Outcome.ERROR,
                "t.py::d": Outcome.SKIPPED,
                "t.py::e": Outcome.PASSED,
            },
        ),
        failures={"t.py::b": long, "t.py::c": "/repo/src/x.py:3: KeyError\n" + "y" * 100},
        unreadable={"u.py": "E   SyntaxError: '(' was never closed"},
    )
    assert render(run, rules, 60, 100) == (
        "Public tests: 2 passed, 1 failed, 1 error, 1 skipped, 1 not collected.\n"
        "\n"
        "ERROR collecting u.py\n"
        "E   SyntaxError: '(' was never closed\n"
        "\n"
        "FAILED t.py::b\n"
        "line 0\nline 1\nline 2\nline 3\n"
        "... (29 more lines)\n"
        "line 33\nline 34\nline 35\nline 36\nline 37\nline 38\nline 39\n"
        "\n"
        "(1 more failures are not shown)"
    )


def test_a_long_line_says_how_much_was_cut(made_run, rules):
    run = dataclasses.replace(
        made_run(end=RunEnd.TESTS_FAILED, outcomes={"t.py::c": Outcome.ERROR}),
        failures={"t.py::c": "y" * 100},
    )
    assert render(run, rules, 60, 60).endswith("\n" + "y" * 60 + "... (40 more characters)")


def test_passing_tests_are_counted_and_not_named(made_run, rules):
    run = made_run(outcomes={"t.py::secret_name": Outcome.PASSED})
    assert render(run, rules, 60, 100) == "Public tests: 1 passed."


@pytest.mark.parametrize(
    ("end", "said"),
    [
        (RunEnd.WALL_TIME, "stopped after 60 seconds"),
        (RunEnd.MEMORY, "too much memory"),
        (RunEnd.DIED, "ended before the tests were over"),
        (RunEnd.EVIDENCE_BROKEN, "ended before the tests were over"),
        (RunEnd.USAGE_ERROR, "could not load"),
        (RunEnd.NOTHING_COLLECTED, "none ran"),
    ],
)
def test_a_run_without_results_says_so(made_run, rules, end, said):
    assert said in render(made_run(end=end, outcomes={}), rules, 60, 100)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/repo/src/a.py:3: in f", "src/a.py:3: in f"),
        ("/env/lib/python3.12/site-packages/x.py:1", "<env>/lib/python3.12/site-packages/x.py:1"),
        ("<a.B object at 0x7f3a2c>", "<a.B object at 0x...>"),
        ("0x1f is a small number", "0x1f is a small number"),
        ("in /tmp/pytest-of-repairlab/pytest-0/test_x0/out.txt", "in <tmp>"),
        ("random seed: 1234567", "random seed: ..."),
        ("seed=12 and Seed 13", "seed=... and Seed ..."),
        ("took 0.0123 s, 1.25 seconds", "took ... s, ... seconds"),
        ("assert '10s' == '5s'", "assert '10s' == '5s'"),
        ("assert 3.14159 == 3.14160", "assert 3.14159 == 3.14160"),
        ("process 4321 failed", "process ... failed"),
    ],
)
def test_what_changes_from_run_to_run_goes_and_what_is_meant_stays(text, expected):
    assert normalise(text, PLACES) == expected


def test_a_checkout_inside_the_temporary_folder_is_named_before_it(rules):
    places = {**PLACES, "repo": "/tmp/run-1/repo", "env": "/tmp/envs/k"}
    assert (
        normalise("/tmp/run-1/repo/a.py and /tmp/envs/k/x and /tmp/other", places)
        == "a.py and <env>/x and <tmp>"
    )
