"""Real environments, real sandboxes, real pytest: one environment is installed for the whole session."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
import uv

from repairlab.contract import controls
from repairlab.contract.outcome import TestOutcome
from repairlab.contract.task import Environment, Task, TaskDigests
from repairlab.contract.task import Limits as TaskLimits
from repairlab.evaluation.environments import PythonEnvironments
from repairlab.evaluation.installed import InstalledEnvironment
from repairlab.evaluation.interpreters import ask
from repairlab.evaluation.pytest_runner import PytestRunner
from repairlab.evaluation.runs import RunEnd, RunFacts, TestRequest, TestRun
from repairlab.evaluation.sandbox.bubblewrap import Bubblewrap
from repairlab.evaluation.sandbox.model import Sandbox, Tree
from repairlab.evaluation.sandbox.unsandboxed import Unsandboxed

PINNED = ("iniconfig==2.1.0", "packaging==25.0", "pluggy==1.6.0", "pygments==2.19.2")

Run = Callable[..., TestRun]
MakeTree = Callable[[Mapping[str, str | bytes]], Path]


@pytest.fixture(scope="session")
def environments(tmp_path_factory: pytest.TempPathFactory) -> PythonEnvironments:
    interpreter = ask(Path(sys.executable))
    assert interpreter is not None
    root = tmp_path_factory.mktemp("environments")
    return PythonEnvironments(root, Path(uv.find_uv_bin()), (interpreter,), dict(os.environ))


@pytest.fixture(scope="session")
def facts() -> Environment:
    return Environment(python=">=3.11", requirements=("pytest==9.0.2", *PINNED), pythonpath=(".",))


@pytest.fixture(scope="session")
def installed(environments: PythonEnvironments, facts: Environment) -> InstalledEnvironment:
    return environments.ensure(facts)


@pytest.fixture(scope="session")
def rules() -> controls.Evaluation:
    return controls.Evaluation(
        hash_seed=0,
        locale="C.UTF-8",
        time_zone="UTC",
        output_bytes=65536,
        shown_failures=2,
        shown_failure_lines=12,
        timeout_reproductions=2,
    )


@pytest.fixture(scope="session")
def runner(installed: InstalledEnvironment, facts: Environment, rules: controls.Evaluation) -> PytestRunner:
    return PytestRunner(installed, facts, rules)


@pytest.fixture(scope="session")
def bubblewrap(tmp_path_factory: pytest.TempPathFactory) -> Bubblewrap:
    return Bubblewrap.open(tmp_path_factory.mktemp("bubblewrap"))


@pytest.fixture(scope="session")
def unsandboxed(tmp_path_factory: pytest.TempPathFactory) -> Unsandboxed:
    return Unsandboxed(tmp_path_factory.mktemp("unsandboxed"))


@pytest.fixture(params=["bubblewrap", "unsandboxed"])
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    """Each backend in turn. Where bubblewrap is missing, these tests fail and say what to install."""
    chosen: Sandbox = request.getfixturevalue(request.param)
    return chosen


@pytest.fixture
def make_tree(tmp_path: Path) -> MakeTree:
    def make(files: Mapping[str, str | bytes]) -> Path:
        root = tmp_path / "template"
        for name, text in files.items():
            place = root / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(text if isinstance(text, bytes) else text.encode())
        return root

    return make


@pytest.fixture
def run(runner: PytestRunner, sandbox: Sandbox, make_tree: MakeTree) -> Run:
    """Run pytest over files given as a mapping; all test files, or exactly the tests in `select`."""

    def start(
        files: Mapping[str, str | bytes],
        *,
        select: tuple[str, ...] | None = None,
        paths: tuple[str, ...] = (),
        seconds: float = 30.0,
        with_runner: PytestRunner = runner,
    ) -> TestRun:
        tests = tuple(sorted(name for name in files if name.rpartition("/")[2].startswith("test_")))
        request = TestRequest(
            tree=Tree(make_tree(files)),
            select=select,
            files=() if select is not None else paths or tests,
            wall_seconds=seconds,
            memory_bytes=2**30,
            processes=64,
        )
        return with_runner.run(request, sandbox)

    return start


@pytest.fixture(scope="session")
def made_run() -> Callable[..., TestRun]:
    """A run as a value, for what is pure."""
    facts = RunFacts(
        sandbox="none",
        materialisation="copy",
        versions={},
        exit_code=0,
        output_head=b"",
        output_tail=b"",
        dropped_bytes=0,
        leftovers=0,
        places={"repo": "/repo", "env": "/env"},
        seconds_setup=0.0,
        seconds_run=0.0,
        seconds_teardown=0.0,
    )

    def make(*, outcomes: Mapping[str, TestOutcome], end: RunEnd = RunEnd.ALL_PASSED) -> TestRun:
        return TestRun(end=end, problem="", outcomes=outcomes, failures={}, unreadable={}, facts=facts)

    return make


@pytest.fixture(scope="session")
def task(facts: Environment) -> Task:
    """A task whose hidden tests are `test_total` (fail-to-pass) and `test_name` (pass-to-pass)."""
    return Task(
        schema_version=1,
        id="shop-total",
        repository="embedded:shop",
        language="python",
        base="0" * 40,
        fix="1" * 40,
        statement="The total of a list leaves out its first element, whatever that is.",
        production_files=("shop/core.py",),
        hidden_test_files=("tests/test_core.py",),
        fail_to_pass=("tests/test_core.py::test_total",),
        pass_to_pass=("tests/test_core.py::test_name",),
        public_tests=("tests/test_core.py",),
        environment=facts,
        limits=TaskLimits(public_seconds=30, evaluation_seconds=30, memory_bytes=2**30, processes=64),
        digests=TaskDigests(gold_patch="0" * 64, hidden_tests="0" * 64),
    )
