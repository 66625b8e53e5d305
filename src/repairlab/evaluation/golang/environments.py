"""What the tests of one task run in: a toolchain, modules, a kit, and a warm build cache of the base commit.

An environment is a folder of links to these, and the packages of the base commit compiled. It is keyed by
what all of them are made of, made under a temporary name, and renamed when it is whole. Runs never write to
it: each has a layer of its own above (``inside/places.go``), so nothing that one run builds is seen by
another.
"""

from __future__ import annotations

import base64
import secrets
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from repairlab.contract import controls
from repairlab.contract.canonical import digest_of
from repairlab.contract.errors import BadInput, InfrastructureFailure, IntegrityViolation
from repairlab.contract.task import Task
from repairlab.evaluation.frames import KEY_BYTES
from repairlab.evaluation.golang.jobs import driver_job
from repairlab.evaluation.golang.kits import GoKits, write_all
from repairlab.evaluation.golang.modules import GoModules, make_read_only, tree_digest
from repairlab.evaluation.golang.records import Entry, Unreadable, read_driver
from repairlab.evaluation.golang.selection import Package, packages_of
from repairlab.evaluation.golang.toolchains import GoToolchains
from repairlab.evaluation.sandbox.model import Limits, Sandbox, Tree
from repairlab.evaluation.sandbox.scratch import remove_tree
from repairlab.repositories.locking import hold

_MARKER = "repairlab.digest"
_WARM_BYTES = 8 * 2**30
_REPORT_BYTES = 2**31


@dataclass(frozen=True, slots=True)
class GoEnvironment:
    """A complete environment at `root`."""

    key: str
    root: Path
    version: str
    """Of the toolchain, such as ``1.26.8``."""
    folders: tuple[Path, ...]
    """Where the links of `root` lead: what a sandbox has to show."""


@dataclass(frozen=True, slots=True)
class GoEnvironments:
    """Environments under `root`."""

    root: Path
    toolchains: GoToolchains
    modules: GoModules
    kits: GoKits

    @classmethod
    def at(cls, root: Path, uv: Path, variables: Mapping[str, str]) -> GoEnvironments:
        """Everything under one root; `variables` is the environment of uv and of the go command."""
        return cls(
            root / "bases",
            GoToolchains(root / "toolchains", uv, variables),
            GoModules(root / "modules", variables),
            GoKits(root / "kits"),
        )

    def ensure(
        self, task: Task, template: Path, sandbox: Sandbox, rules: controls.Evaluation
    ) -> GoEnvironment:
        """The environment of `task`, whose base commit is checked out at `template`; offline once there.

        Raises:
            BadInput: the task names no Go version, or a package outside of every module.
            RefuseToStart: the toolchain cannot be instrumented.
            InfrastructureFailure: a registry, the go command or the sandbox failed.
            IntegrityViolation: something that was made before was changed since.
        """
        if not task.environment.go:
            raise BadInput(f"task {task.id}: its environment names no Go version")
        toolchain = self.toolchains.ensure(task.environment.go)
        packages = _packages(task)
        modules = self.modules.ensure(toolchain, template, [package.folder for package in packages])
        kit = self.kits.ensure(toolchain)
        key = digest_of(
            {
                "kit": kit.key,
                "modules": modules.digest,
                "base": [task.repository, task.base],
                "packages": [package.folder for package in packages],
                "sandbox": sandbox.name,
            }
        )
        made = GoEnvironment(
            key, self.root / key, toolchain.version_text, (toolchain.root, modules.root, kit.root)
        )
        self.root.mkdir(parents=True, exist_ok=True)
        with hold(self.root / f"{key}.lock"):
            if not (made.root / _MARKER).is_file():
                self._make(made, packages, Tree(template), sandbox, task, rules)
        if (made.root / _MARKER).read_text(encoding="ascii") != tree_digest(made.root / "cache"):
            raise IntegrityViolation(f"the Go build cache {made.root} was changed", repair="delete it")
        return made

    def _make(
        self,
        made: GoEnvironment,
        packages: tuple[Package, ...],
        tree: Tree,
        sandbox: Sandbox,
        task: Task,
        rules: controls.Evaluation,
    ) -> None:
        unfinished = made.root.with_suffix(".unfinished")
        for left_over in (made.root, unfinished):
            if left_over.exists():
                remove_tree(left_over)
        unfinished.mkdir()
        for name, target in zip(("go", "mod", "kit"), made.folders, strict=True):
            (unfinished / name).symlink_to(target)
        entries = _warm(unfinished, made.folders, packages, tree, sandbox, task, rules)
        (unfinished / "cache").mkdir()
        write_all(unfinished / "cache", entries)
        make_read_only(unfinished / "cache")
        (unfinished / _MARKER).write_text(tree_digest(unfinished / "cache"), encoding="ascii")
        unfinished.rename(made.root)


def _packages(task: Task) -> tuple[Package, ...]:
    """Packages of the required and of the public tests; nothing is run in them."""
    named = (*packages_of(task.required_tests, ()), *packages_of(None, task.public_tests))
    return tuple(Package(folder, (), ()) for folder in sorted({package.folder for package in named}))


def _warm(
    environment: Path,
    folders: tuple[Path, ...],
    packages: tuple[Package, ...],
    tree: Tree,
    sandbox: Sandbox,
    task: Task,
    rules: controls.Evaluation,
) -> dict[str, bytes]:
    """Build the test programs of the base where a run builds them; the entries of the build cache that arose.

    No tested code runs in this job, so its report is as good as the compiler.
    """
    key = secrets.token_bytes(KEY_BYTES)
    limits = Limits(
        wall_seconds=max(1800.0, 4.0 * task.limits.evaluation_seconds),
        cpu_seconds=36_000,
        memory_bytes=max(task.limits.memory_bytes, 4 * 2**30),
        processes=max(task.limits.processes, 256),
        file_bytes=_WARM_BYTES,
        output_bytes=rules.output_bytes,
        report_bytes=_REPORT_BYTES,
    )
    job = driver_job(tree, environment, folders, packages, (), key, limits, rules, warm=True)
    finished = sandbox.run(job)
    report = read_driver(finished.report, key)
    if finished.stopped is not None or report.final is None or finished.report_overflow:
        said = (finished.stdout_head + finished.stdout_tail).decode("utf-8", "replace").strip()
        why = finished.stopped or report.broken or said[-2000:] or f"status {finished.exit_code}"
        raise InfrastructureFailure(f"the base commit was not compiled: {why}", kind="environment")
    if report.final.built == 0:
        said = next((r.message for r in report.records if isinstance(r, Unreadable)), "")
        raise InfrastructureFailure(
            f"task {task.id}: no package of the base commit compiles: {said[-2000:]}", kind="environment"
        )
    return {r.path: zlib.decompress(base64.b64decode(r.data)) for r in report.records if isinstance(r, Entry)}
