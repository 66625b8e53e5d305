"""Ordinary runs: what is run, where, and what is said about it."""

from __future__ import annotations

from repairlab.contract.outcome import TestOutcome as Outcome
from repairlab.evaluation.golang.jobs import driver_job
from repairlab.evaluation.golang.modules import tree_digest
from repairlab.evaluation.golang.records import Entry, read_driver
from repairlab.evaluation.golang.runner import _limits
from repairlab.evaluation.golang.selection import Package
from repairlab.evaluation.public import render
from repairlab.evaluation.runs import RunEnd, TestRequest
from repairlab.evaluation.sandbox.model import Tree
from repairlab.evaluation.verdict import Reason, judge

KINDS = """package m

import (
	"fmt"
	"testing"
)

func TestPass(t *testing.T) { t.Log("not shown") }

func TestSkip(t *testing.T) { t.Skip("not today") }

func TestFail(t *testing.T) {
	t.Parallel()
	t.Run("inner", func(t *testing.T) { t.Error("inner trouble") })
}

func ExampleGood() {
	fmt.Println("good")
	// Output: good
}

func ExampleBad() {
	fmt.Println("bad")
	// Output: good
}

func FuzzSeeds(f *testing.F) {
	f.Add(1)
	f.Add(2)
	f.Fuzz(func(t *testing.T, n int) {
		if n == 2 {
			t.Error("two is wrong")
		}
	})
}

func Testing(t *testing.T) { panic("no test: a small letter follows") }
"""


def test_every_kind_of_test_has_its_outcome(boxed_run):
    run = boxed_run({"m_test.go": KINDS}, paths=("m_test.go",))
    assert {name.removeprefix(".::"): outcome for name, outcome in run.outcomes.items()} == {
        "TestPass": Outcome.PASSED,
        "TestSkip": Outcome.SKIPPED,
        "TestFail": Outcome.FAILED,
        "TestFail/inner": Outcome.FAILED,
        "ExampleGood": Outcome.PASSED,
        "ExampleBad": Outcome.FAILED,
        "FuzzSeeds": Outcome.FAILED,
        "FuzzSeeds/seed#0": Outcome.PASSED,
        "FuzzSeeds/seed#1": Outcome.FAILED,
    }
    assert run.end is RunEnd.TESTS_FAILED
    assert "inner trouble" in run.failures[".::TestFail/inner"]
    assert "two is wrong" in run.failures[".::FuzzSeeds/seed#1"]
    assert "bad" in run.failures[".::ExampleBad"]
    assert ".::TestPass" not in run.failures
    assert run.facts.versions["go"].startswith("go1.")


def test_bubbles_of_testing_synctest_are_no_tests_of_their_own(boxed_run, toolchain):
    text = '//go:build go1.25\n\npackage m\n\nimport (\n\t"testing"\n\t"testing/synctest"\n\t"time"\n)\n\n'
    text += "func TestBubble(t *testing.T) {\n"
    text += "\tsynctest.Test(t, func(t *testing.T) { time.Sleep(time.Hour) })\n}\n"
    known = toolchain.version >= (1, 25)
    mod = f"module example.invalid/m\n\ngo {'1.25' if known else '1.21'}\n"
    run = boxed_run({"go.mod": mod, "m.go": "package m\n", "m_test.go": text}, ".::TestBubble")
    assert run.outcomes == {".::TestBubble": Outcome.PASSED if known else Outcome.NOT_RUN}
    assert run.end is (RunEnd.ALL_PASSED if known else RunEnd.TESTS_FAILED)


def file_of(*names, package="m"):
    return f'package {package}\n\nimport "testing"\n\n' + "".join(
        f"func {name}(t *testing.T) {{}}\n\n" for name in names
    )


def test_public_files_run_their_own_tests_and_no_others_of_their_package(boxed_run):
    files = {
        "m_test.go": file_of("TestA", "TestB"),
        "n_test.go": file_of("TestC"),
        "sub/s_test.go": file_of("TestD", package="sub"),
    }
    run = boxed_run(files, paths=("m_test.go", "sub/s_test.go"))
    assert set(run.outcomes) == {".::TestA", ".::TestB", "sub::TestD"}
    assert run.end is RunEnd.ALL_PASSED


def test_a_public_file_that_is_gone_is_reported(boxed_run):
    run = boxed_run({"m_test.go": file_of("TestA")}, paths=("m_test.go", "gone_test.go"))
    assert run.outcomes == {".::TestA": Outcome.PASSED}
    assert set(run.unreadable) == {"gone_test.go"}
    assert run.end is RunEnd.TESTS_FAILED


def test_selected_tests_are_run_and_those_whose_names_they_begin_are_not(boxed_run):
    run = boxed_run({"m_test.go": file_of("TestA", "TestAB", "TestBA")}, ".::TestA")
    assert run.outcomes == {".::TestA": Outcome.PASSED}


def test_a_package_that_ends_badly_after_its_tests_is_not_clean(boxed_run):
    text = 'package m\n\nimport (\n\t"fmt"\n\t"os"\n\t"testing"\n)\n\nfunc TestA(t *testing.T) {}\n\n'
    text += 'func TestMain(m *testing.M) {\n\tm.Run()\n\tfmt.Println("leaked")\n\tos.Exit(4)\n}\n'
    run = boxed_run({"m_test.go": text}, ".::TestA")
    assert run.outcomes == {".::TestA": Outcome.PASSED}
    assert run.end is RunEnd.TESTS_FAILED
    assert "leaked" in run.unreadable["."]
    assert judge((".::TestA",), run).reason is Reason.UNCLEAN_STATUS


def test_tests_that_are_run_twice_in_one_program_cannot_be_told_apart(boxed_run):
    text = file_of("TestA").replace('import "testing"', 'import (\n\t"os"\n\t"testing"\n)')
    text += "func TestMain(m *testing.M) {\n\tm.Run()\n\tos.Exit(m.Run())\n}\n"
    run = boxed_run({"m_test.go": text}, ".::TestA")
    assert run.end is RunEnd.DUPLICATE_IDS


SLOW = """package m

import (
	"testing"
	"time"
)

func TestQuick(t *testing.T) {}

func TestSlow(t *testing.T) { time.Sleep(time.Hour) }
"""


def test_a_run_over_its_time_keeps_what_it_saw(boxed_run):
    run = boxed_run({"m_test.go": SLOW}, ".::TestQuick", ".::TestSlow", seconds=6)
    assert run.end is RunEnd.WALL_TIME
    assert not run.complete
    assert run.outcomes == {".::TestQuick": Outcome.PASSED, ".::TestSlow": Outcome.NOT_RUN}


PLACE = """package sub

import (
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestPlace(t *testing.T) {
	here, _ := os.Getwd()
	data, err := os.ReadFile("testdata/x")
	if filepath.Base(here) != "sub" || os.Getenv("PWD") != here || string(data) != "x" {
		t.Error(here, os.Getenv("PWD"), err)
	}
	if _, offset := time.Now().Zone(); offset != 0 || os.Getenv("LC_ALL") != "C.UTF-8" {
		t.Error("time zone or locale")
	}
	if len(os.Args) < 2 || os.Getenv("GOPROXY") != "off" || os.Getenv("SECRET") != "" {
		t.Error(os.Environ())
	}
	if _, err := os.Stat(filepath.Join(os.Getenv("GOROOT"), "bin", "go")); err != nil {
		t.Error(err)
	}
	if os.Getenv("HOME") == "/home/repairlab" {
		if _, err := net.DialTimeout("tcp", "192.0.2.1:80", time.Second); err == nil {
			t.Error("there is a network")
		}
	}
}
"""


def test_tests_run_in_their_folder_with_nothing_inherited(go_run, monkeypatch):
    monkeypatch.setenv("SECRET", "of the harness")
    run = go_run({"sub/s_test.go": PLACE, "sub/testdata/x": "x"}, "sub::TestPlace")
    assert run.end is RunEnd.ALL_PASSED, run.failures


CLOCK = """package m

import (
	"testing"
	"time"
)

func TestClock(t *testing.T) { t.Error(time.Now().UnixNano()) }
"""


def test_no_result_is_taken_from_an_earlier_run(boxed_run):
    first, second = (boxed_run({"m_test.go": CLOCK}, ".::TestClock") for _ in range(2))
    assert first.failures != second.failures


def test_nothing_that_a_run_builds_or_writes_is_seen_by_another(go_run, go_runner):
    """The build cache below is only read; what tested code puts into its own layer ends with the run."""
    environment = go_runner.environment
    before = {part: tree_digest(environment.root / part) for part in ("cache", "kit/cache", "kit/overlay")}
    text = (
        'package m\n\nimport (\n\t"os"\n\t"path/filepath"\n\t"testing"\n)\n\nfunc TestCache(t *testing.T) {\n'
    )
    text += '\tmark := filepath.Join(os.Getenv("GOCACHE"), "mark")\n'
    text += '\tif _, err := os.Stat(mark); err == nil {\n\t\tt.Fatal("seen")\n\t}\n'
    text += "\tif err := os.WriteFile(mark, nil, 0o644); err != nil {\n\t\tt.Fatal(err)\n\t}\n}\n"
    for _ in range(2):
        run = go_run({"m_test.go": text}, ".::TestCache")
        assert run.end is RunEnd.ALL_PASSED, run.failures
    assert {part: tree_digest(environment.root / part) for part in before} == before


def test_the_base_commit_is_compiled_beforehand(go_runners, bubblewrap, rules, tmp_path):
    """The same tree at the same place needs no compiler: nothing new comes into the cache."""
    runner = go_runners(bubblewrap)
    files = {
        "go.mod": "module example.invalid/m\n\ngo 1.21\n",
        "sum/sum.go": "package sum\n\nfunc Sum(a, b int) int { return a }\n",
        "sum/sum_test.go": 'package sum\n\nimport "testing"\n\nfunc TestSum(t *testing.T) {}\n',
    }

    def built_anew():
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text(text)
        request = TestRequest(Tree(tmp_path), (), (), 60.0, 2**31, 64)
        environment, key = runner.environment, bytes(32)
        packages = (Package("sum", (), ()),)
        limits = _limits(request, rules)
        job = driver_job(
            request.tree, environment.root, environment.folders, packages, (), key, limits, rules, warm=True
        )
        return [r for r in read_driver(bubblewrap.run(job).report, key).records if isinstance(r, Entry)]

    assert built_anew() == []
    files["sum/sum.go"] = files["sum/sum.go"].replace("return a", "return a + b")
    assert built_anew()


def test_the_text_for_the_model_is_the_same_every_time(boxed_run, rules, toolchain):
    text = 'package m\n\nimport "testing"\n\nfunc TestA(t *testing.T) {\n\tt.Run("b", func(t *testing.T) {\n'
    text += '\t\tt.Error("wrong")\n\t})\n}\n\nfunc TestB(t *testing.T) { panic("at last") }\n'
    runs = [boxed_run({"m_test.go": text}, paths=("m_test.go",)) for _ in range(2)]
    first, second = (render(run, rules, 60, 200) for run in runs)
    assert first == second
    assert "FAILED .::TestA\n    --- FAIL: TestA/b (...s)\n        m_test.go:7: wrong" in first
    assert first.startswith("Public tests: 3 failed.")
    more = rules.model_copy(update={"shown_failures": 5, "shown_failure_lines": 60})
    whole = render(runs[0], more, 60, 200)
    assert "panic: at last" in whole
    assert str(toolchain.root) not in whole
    assert "goroutine ..." in whole
