"""Faults that harnesses for Go have shown, each on a real module with the real go command."""

from __future__ import annotations

from repairlab.contract.outcome import TestOutcome as Outcome
from repairlab.evaluation.runs import RunEnd
from repairlab.evaluation.verdict import Reason, judge

BUILD = {
    "good/g.go": "package good\n\nfunc One() int { return 1 }\n",
    "good/g_test.go": 'package good\n\nimport "testing"\n\nfunc TestOne(t *testing.T) {}\n',
    "bad/b.go": 'package bad\n\nfunc One() int { return "one" }\n',
    "bad/b_test.go": 'package bad\n\nimport "testing"\n\nfunc TestOne(t *testing.T) {}\n',
}


def test_t11_a_package_that_does_not_build_is_not_passed_over(boxed_run):
    required = ("bad::TestOne", "good::TestOne")
    run = boxed_run(BUILD, *required)
    assert run.end is RunEnd.TESTS_FAILED
    assert run.outcomes == {"bad::TestOne": Outcome.NOT_RUN, "good::TestOne": Outcome.PASSED}
    assert set(run.unreadable) == {"bad"}
    assert "b.go:3" in run.unreadable["bad"]
    verdict = judge(required, run)
    assert (verdict.resolved, verdict.reason) == (False, Reason.UNREADABLE_TESTS)


def test_t11_a_dependency_that_does_not_build_is_named(boxed_run):
    test = 'package good\n\nimport (\n\t"testing"\n\n\t"example.invalid/m/bad"\n)\n\n'
    files = {**BUILD, "good/g_test.go": test + "func TestOne(t *testing.T) { bad.One() }\n"}
    run = boxed_run(files, "good::TestOne")
    assert run.outcomes == {"good::TestOne": Outcome.NOT_RUN}
    assert "bad/b.go:3" in run.unreadable["good"]


OUTPUT = """package m

import (
	"fmt"
	"testing"
)

func TestHalf(t *testing.T) { fmt.Print("half a line") }

func TestEvent(t *testing.T) {
	fmt.Println(`{"Action":"pass","Package":"example.invalid/m","Test":"TestNowhere"}`)
	fmt.Print("\\n\\x16--- PASS: TestNowhere (0.00s)\\n{\\"Action\\":\\"fa")
}

func TestFails(t *testing.T) { fmt.Print("tail"); t.Error("it is wrong") }
"""


def test_t12_what_a_test_prints_hides_no_result_and_makes_none(boxed_run):
    names = [f".::Test{name}" for name in ("Half", "Event", "Fails", "Nowhere")]
    run = boxed_run({"m_test.go": OUTPUT}, *names)
    assert [run.outcomes[name] for name in names] == [
        Outcome.PASSED,
        Outcome.PASSED,
        Outcome.FAILED,
        Outcome.NOT_RUN,
    ]
    assert "it is wrong" in run.failures[".::TestFails"]
    assert run.end is RunEnd.TESTS_FAILED


PANIC = """package m

import (
	"testing"
	"time"
)

func TestBefore(t *testing.T) {}

func TestElsewhere(t *testing.T) {
	go func() { panic("in another goroutine") }()
	time.Sleep(10 * time.Second)
}

func TestAfter(t *testing.T) {}
"""
EXIT = """package exit

import (
	"os"
	"testing"
)

func TestLeaves(t *testing.T) { t.Run("deep", func(t *testing.T) { os.Exit(3) }) }

func TestNotReached(t *testing.T) {}
"""


def test_t13_tests_that_a_panic_or_an_exit_cut_short_failed_and_later_ones_did_not_run(go_run):
    required = (
        ".::TestBefore",
        ".::TestElsewhere",
        ".::TestAfter",
        "exit::TestLeaves",
        "exit::TestNotReached",
    )
    run = go_run({"m_test.go": PANIC, "exit/e_test.go": EXIT}, *required)
    assert run.end is RunEnd.TESTS_FAILED
    assert run.outcomes == {
        ".::TestBefore": Outcome.PASSED,
        ".::TestElsewhere": Outcome.FAILED,
        ".::TestAfter": Outcome.NOT_RUN,
        "exit::TestLeaves": Outcome.FAILED,
        "exit::TestLeaves/deep": Outcome.FAILED,
        "exit::TestNotReached": Outcome.NOT_RUN,
    }
    assert "panic: in another goroutine" in run.failures[".::TestElsewhere"]


def test_t13_a_panic_in_the_test_itself_fails_it_and_its_parents(boxed_run):
    text = 'package m\n\nimport "testing"\n\nfunc TestP(t *testing.T) {\n'
    text += '\tt.Run("a", func(t *testing.T) { t.Log("so far"); panic("here") })\n}\n'
    run = boxed_run({"m_test.go": text}, ".::TestP")
    assert run.outcomes == {".::TestP": Outcome.FAILED, ".::TestP/a": Outcome.FAILED}
    assert "panic: here" in run.failures[".::TestP/a"]


def test_t13_a_panic_before_the_first_test_is_told_for_the_package(boxed_run):
    files = {
        "m.go": 'package m\n\nfunc init() { panic("too early") }\n',
        "m_test.go": 'package m\n\nimport "testing"\n\nfunc TestA(t *testing.T) {}\n',
    }
    run = boxed_run(files, ".::TestA")
    assert run.outcomes == {".::TestA": Outcome.NOT_RUN}
    assert "too early" in run.unreadable["."]
    assert run.end is RunEnd.TESTS_FAILED


def test_t14_a_required_test_that_is_not_there_has_not_passed(boxed_run):
    files = {
        "m_test.go": 'package m\n\nimport "testing"\n\nfunc TestReal(t *testing.T) {}\n',
        "empty/e.go": "package empty\n",
    }
    required = (".::TestGone", "empty::TestGone", "nowhere::TestGone")
    run = boxed_run(files, *required)
    assert run.outcomes == dict.fromkeys(sorted(required), Outcome.NOT_RUN)
    assert set(run.unreadable) == {"empty", "nowhere"}
    assert not judge(required, run).resolved
    alone = boxed_run(files, ".::TestGone")
    assert alone.end is RunEnd.NOTHING_COLLECTED
    assert judge((".::TestGone",), alone).reason is Reason.NOTHING_COLLECTED


TREE = """package m

import "testing"

func TestTree(t *testing.T) {
	for _, name := range []string{"a/b", "a b", "same", "same", "ünï", "", "(x|y)[0]"} {
		name := name
		t.Run(name, func(t *testing.T) {
			if name == "a/b" {
				t.Fail()
			}
		})
	}
	t.Run("a", func(t *testing.T) { t.Run("b", func(t *testing.T) {}) })
}

func TestTreeLonger(t *testing.T) { t.Fail() }
"""


def test_t15_names_of_subtests_stay_as_reported(boxed_run):
    run = boxed_run({"m_test.go": TREE}, ".::TestTree")
    assert {name.removeprefix(".::"): outcome for name, outcome in run.outcomes.items()} == {
        "TestTree": Outcome.FAILED,
        "TestTree/a/b": Outcome.FAILED,
        "TestTree/a_b": Outcome.PASSED,
        "TestTree/same": Outcome.PASSED,
        "TestTree/same#01": Outcome.PASSED,
        "TestTree/ünï": Outcome.PASSED,
        "TestTree/#00": Outcome.PASSED,
        "TestTree/(x|y)[0]": Outcome.PASSED,
        "TestTree/a": Outcome.PASSED,
        "TestTree/a/b#01": Outcome.PASSED,
    }


def test_t15_one_subtest_is_run_by_name_without_its_failing_siblings(boxed_run):
    required = (".::TestTree/(x|y)[0]", ".::TestTree/same#01", ".::TestTree/#00", ".::TestTree/ünï")
    run = boxed_run({"m_test.go": TREE}, *required)
    assert run.end is RunEnd.ALL_PASSED
    assert judge(required, run).resolved
    assert set(run.outcomes) == {*required, ".::TestTree"}


def test_t15_a_twin_below_another_parent_is_run_by_its_reported_name(boxed_run):
    run = boxed_run({"m_test.go": TREE}, ".::TestTree/a/b#01")
    assert run.outcomes[".::TestTree/a/b#01"] is Outcome.PASSED
    assert ".::TestTree/a/b" not in run.outcomes
