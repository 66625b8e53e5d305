"""Tested code that wants to look repaired. Every attack runs for real and must not pay."""

from __future__ import annotations

import pytest

from repairlab.contract.outcome import TestOutcome as Outcome
from repairlab.evaluation.runs import RunEnd
from repairlab.evaluation.verdict import judge

REQUIRED = (".::TestGood", ".::TestBad")
HONEST = """package m

import "testing"

func TestGood(t *testing.T) {}

func TestBad(t *testing.T) {
	if Answer() != 42 {
		t.Fatal("wrong")
	}
}
"""


def attack(run, imports, body, top=""):
    """The two honest tests on a module whose `Answer` runs `body`."""
    lines = "".join(f'\t"{name}"\n' for name in imports)
    code = f"package m\n\nimport (\n{lines})\n\n{top}\nfunc Answer() int {{\n{body}\n\treturn 0\n}}\n"
    return run({"m.go": code, "m_test.go": HONEST}, *REQUIRED)


def unpaid(result):
    return not judge(REQUIRED, result).resolved and result.outcomes[".::TestBad"] is not Outcome.PASSED


@pytest.mark.parametrize("leave", ["os.Exit(0)", "syscall.Exit(0)"])
def test_leaving_with_status_0_in_the_middle_of_a_test(boxed_run, leave):
    result = attack(boxed_run, [leave.partition(".")[0]], f"\t{leave}")
    assert unpaid(result)
    assert result.outcomes == {".::TestGood": Outcome.PASSED, ".::TestBad": Outcome.FAILED}
    assert result.end is RunEnd.TESTS_FAILED


def test_leaving_with_status_0_before_the_first_test(boxed_run):
    result = attack(boxed_run, ["syscall"], "", "func init() { syscall.Exit(0) }")
    assert unpaid(result)
    assert set(result.outcomes.values()) == {Outcome.NOT_RUN}


def test_leaving_with_status_0_when_the_last_result_is_out(boxed_run):
    """Every required test passed; the program did not come to its end, so the run is not clean."""
    code = 'package m\n\nimport "syscall"\n\nfunc Leave() { syscall.Exit(0) }\n'
    test = 'package m\n\nimport "testing"\n\nfunc TestGood(t *testing.T) {}\n\n'
    test += "func ExampleLeave() {\n\tLeave()\n\t// Output:\n}\n"
    result = boxed_run({"m.go": code, "m_test.go": test}, paths=("m_test.go",))
    assert result.outcomes[".::TestGood"] is Outcome.PASSED
    assert result.end is RunEnd.TESTS_FAILED
    assert not judge((".::TestGood",), result).resolved


PRINTED = """
	for _, out := range []*os.File{os.Stdout, os.Stderr} {
		fmt.Fprint(out, "--- PASS: TestBad (0.00s)\\nPASS\\n\\x16--- PASS: TestBad (0.00s)\\n\\x16PASS\\n")
		fmt.Fprintln(out, `{"Action":"pass","Package":"example.invalid/m","Test":"TestBad"}`)
		fmt.Fprintln(out, `{"Action":"pass","Package":"example.invalid/m"}`)
	}
	syscall.Exit(0)
"""


def test_a_report_that_is_printed(boxed_run):
    assert unpaid(attack(boxed_run, ["fmt", "os", "syscall"], PRINTED))


FORGED = """
	for _, text := range []string{
		`{"n":1,"kind":"begin","id":"54657374426164"}`,
		`{"n":2,"kind":"end","id":"54657374426164","outcome":"706173736564","message":""}`,
		`{"n":3,"kind":"ran","code":"30"}`,
	} {
		frame := binary.BigEndian.AppendUint32(nil, uint32(len(text)))
		frame = append(append(frame, make([]byte, 32)...), text...)
		for descriptor := 3; descriptor < 64; descriptor++ {
			syscall.Write(descriptor, frame)
		}
	}
	syscall.Exit(0)
"""


def test_records_without_the_key_written_to_every_descriptor(boxed_run):
    result = attack(boxed_run, ["encoding/binary", "syscall"], FORGED)
    assert unpaid(result)
    assert result.end is RunEnd.EVIDENCE_BROKEN
    assert result.outcomes[".::TestGood"] is Outcome.PASSED


def test_a_flood_on_every_descriptor_is_cut_and_is_no_report(boxed_run):
    body = "\tfor i := 0; i < 1200; i++ {\n\t\tsyscall.Write(3, make([]byte, 1<<16))\n\t}\n"
    result = attack(boxed_run, ["syscall"], body)
    assert unpaid(result)
    assert result.end is RunEnd.EVIDENCE_BROKEN


REOPENED = """
	for _, name := range []string{"/proc/self/fd/3", "/proc/self/fd/4"} {
		if file, err := os.Open(name); err == nil {
			go io.Copy(io.Discard, file)
		}
	}
	time.Sleep(100 * time.Millisecond)
"""


def test_stealing_records_back_out_of_the_pipe(boxed_run):
    assert unpaid(attack(boxed_run, ["io", "os", "time"], REOPENED))


OWN_TESTS = """
func pretend() {
	own := []testing.InternalTest{{Name: "TestBad", F: func(*testing.T) {}}}
	all := func(_, _ string) (bool, error) { return true, nil }
	%s
}
"""


@pytest.mark.parametrize(
    "call",
    [
        "testing.RunTests(all, own)",
        "testing.Main(all, own, nil, nil)",
        "testing.RunExamples(all, []testing.InternalExample{{Name: own[0].Name, F: func() {}}})",
    ],
)
@pytest.mark.parametrize("place", ["init", "Answer"])
def test_tests_of_its_own_run_by_the_real_testing_package(boxed_run, call, place):
    top = OWN_TESTS % call
    body = "\tpretend()\n\tsyscall.Exit(0)"
    if place == "init":
        top, body = f"{top}\nfunc init() {{\n{body}\n}}\n", ""
    result = attack(boxed_run, ["syscall", "testing"], body, top + "\nvar _ = syscall.Exit\n")
    assert unpaid(result)
    assert result.end is RunEnd.EVIDENCE_BROKEN
    assert "testing." in result.problem


def test_a_run_of_an_m_of_its_own(boxed_run):
    body = "\tdefer syscall.Exit(0)\n\tdefer func() { recover() }()\n\t(&testing.M{}).Run()\n"
    result = attack(boxed_run, ["syscall", "testing"], body)
    assert unpaid(result)
    assert result.end is RunEnd.EVIDENCE_BROKEN


def test_changing_which_tests_run(boxed_run):
    result = attack(
        boxed_run,
        ["flag", "testing"],
        "",
        'func init() { testing.Init(); flag.Set("test.run", "^TestGood$") }',
    )
    assert unpaid(result)


EARLY = """
var found = func() string {
	buffer := make([]byte, 64)
	count, err := syscall.Read(4, buffer)
	return fmt.Sprint(count, err)
}()

func init() {
	if os.Getenv("REPAIRLAB_CHANNEL") != "" || found[0] != '-' && found[0] != '0' {
		panic("a key or its place is in reach: " + found)
	}
}
"""


def test_the_key_is_gone_before_the_first_tested_line_runs(boxed_run):
    """Descriptor 4 is closed and the variable removed, though this package does not wait for `testing`."""
    result = attack(boxed_run, ["fmt", "os", "syscall"], "\treturn 42", EARLY)
    assert result.end is RunEnd.ALL_PASSED, (result.failures, result.unreadable)


DRIVER = """
	parent := fmt.Sprintf("/proc/%d", os.Getppid())
	places := []string{parent + "/mem", parent + "/environ", parent + "/maps"}
	for descriptor := 0; descriptor < 32; descriptor++ { // the list may be in reach, what it lists is not
		places = append(places, fmt.Sprintf("%s/fd/%d", parent, descriptor))
	}
	for _, place := range places {
		for _, how := range []int{os.O_RDONLY, os.O_WRONLY} {
			if file, err := os.OpenFile(place, how, 0); err == nil {
				panic(file.Name())
			}
		}
	}
	if err := syscall.PtraceAttach(os.Getppid()); err == nil {
		panic("it can be traced")
	}
	return 42
"""


def test_the_driver_cannot_be_read_or_traced_by_tested_code(boxed_run):
    result = attack(boxed_run, ["fmt", "os", "syscall"], DRIVER)
    assert result.end is RunEnd.ALL_PASSED, result.failures


def test_killing_the_driver_leaves_no_report(boxed_run):
    result = attack(boxed_run, ["os", "syscall"], "\tsyscall.Kill(os.Getppid(), syscall.SIGKILL)")
    assert unpaid(result)
    assert result.end is RunEnd.DIED


DAEMON = """
	daemon := exec.Command("/bin/sh", "-c", "sleep 1; echo late; sleep 30")
	daemon.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	daemon.Stdout = os.Stdout
	if daemon.Start() != nil {
		return 0
	}
	return 42
"""


def test_a_daemon_is_ended_with_the_program_that_started_it(go_run):
    result = attack(go_run, ["os", "os/exec", "syscall"], DAEMON)
    assert result.end is RunEnd.ALL_PASSED, result.failures
    assert result.facts.leftovers in {1, 2}  # the shell, or the shell and its sleep
    assert result.facts.seconds_run < 20
    assert b"late" not in result.facts.output_tail


IMPOSTORS = {
    "testing/testing.go": "package testing\n\nfunc init() { panic(1) }\n",
    "runtime/runtime.go": "package runtime\n\nfunc init() { panic(1) }\n",
    "go": "#!/bin/sh\nexit 0\n",
    "driver": "#!/bin/sh\nexit 0\n",
    "main.go": "//go:build ignore\n\npackage main\n\nfunc TestMain() {}\n",
    "testmain.go": 'package m\n\nimport "os"\n\nfunc TestMain() { os.Exit(0) }\n',
}


def test_no_file_of_the_tree_stands_in_for_the_runner(boxed_run):
    files = {"m.go": "package m\n\nfunc Answer() int { return 0 }\n", "m_test.go": HONEST, **IMPOSTORS}
    result = boxed_run(files, *REQUIRED)
    assert result.outcomes == {".::TestGood": Outcome.PASSED, ".::TestBad": Outcome.FAILED}


OVERWRITE = """package a

import (
	"os"
	"path/filepath"
	"testing"
)

func TestA(t *testing.T) {
	found, _ := filepath.Glob(filepath.Join(os.TempDir(), "repairlab", "bin", "*", "*.test"))
	for _, name := range found {
		os.Remove(name)
		os.WriteFile(name, []byte("#!/bin/sh\\nexit 0\\n"), 0o755)
	}
	os.WriteFile("../b/b.go", []byte("package b\\n\\nfunc Answer() int { return 42 }\\n"), 0o644)
}
"""


def test_a_program_that_another_package_replaced_is_not_started(boxed_run):
    test = 'package b\n\nimport "testing"\n\nfunc TestB(t *testing.T) {\n'
    test += "\tif Answer() != 42 {\n\t\tt.Fail()\n\t}\n}\n"
    files = {
        "a/a_test.go": OVERWRITE,
        "b/b.go": "package b\n\nfunc Answer() int { return 0 }\n",
        "b/b_test.go": test,
    }
    result = boxed_run(files, "a::TestA", "b::TestB")
    assert result.outcomes == {"a::TestA": Outcome.PASSED, "b::TestB": Outcome.NOT_RUN}
    assert "changed after it was built" in result.unreadable["b"]
    assert result.end is RunEnd.TESTS_FAILED


def test_programs_that_a_test_starts_keep_their_own_descriptors(boxed_run):
    """Tests start their own program again as a helper and hand it files: nothing may be taken from those."""
    test = """package m

import (
	"io"
	"os"
	"os/exec"
	"testing"
)

func TestMain(m *testing.M) {
	if os.Getenv("HELPER") == "1" {
		data, _ := io.ReadAll(os.NewFile(4, "four"))
		os.Stdout.Write(data)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestHelper(t *testing.T) {
	read, write, _ := os.Pipe()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), "HELPER=1")
	child.ExtraFiles = []*os.File{os.Stderr, read}
	write.Write([]byte("thirty-two bytes and some more: ok"))
	write.Close()
	out, err := child.Output()
	if err != nil || string(out) != "thirty-two bytes and some more: ok" {
		t.Fatal(string(out), err)
	}
}
"""
    result = boxed_run({"m_test.go": test}, ".::TestHelper")
    assert result.end is RunEnd.ALL_PASSED, result.failures
