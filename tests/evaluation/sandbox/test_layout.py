"""Laying changes over a template: what every materialisation must agree on."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from repairlab.contract.errors import IntegrityViolation
from repairlab.evaluation.sandbox.bubblewrap import Bubblewrap
from repairlab.evaluation.sandbox.layout import copy_tree, plan
from repairlab.evaluation.sandbox.model import Job, Limits, Tree

BASE = {"a/x": b"1", "a/y": b"2", "a/b/z": b"3", "c": b"4", "run.sh": b"#!/bin/sh\n"}
LISTING = (
    "find . -printf '%y %P %l\\n'; find . -type f -printf 'mode %P %m\\n'; "
    "find . -type f -exec sha256sum {} +"
)
HANDSHAKE = 'exec 9>"/dev/fd/$1"; printf R >&9; cat >/dev/null\n'
LIMITS = Limits(20, 20, 2**28, 64, 2**24, 65536)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("layout") / "template"
    for name, data in BASE.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)
    (root / "run.sh").chmod(0o755)
    (root / "link").symlink_to("a")
    (root / "file-link").symlink_to("c")
    (root / ".git").mkdir()
    return root


def expected(changes: dict[str, bytes | None]) -> dict[str, bytes]:
    merged = {**BASE, **changes}
    return {name: data for name, data in merged.items() if data is not None}


def seen(root: Path) -> dict[str, bytes]:
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and not path.is_symlink()
    }


names = st.sampled_from(["a/x", "a/y", "a/b/z", "a/b/new", "c", "new/deep/file", "run.sh", "d"])
changes_of = st.dictionaries(names, st.none() | st.binary(max_size=20), max_size=6)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(changes=changes_of)
def test_a_copy_holds_exactly_base_and_changes_and_no_empty_folder(template, tmp_path_factory, changes):
    target = tmp_path_factory.mktemp("copy") / "tree"
    copy_tree(template, plan(Tree(template, changes)), target)
    assert seen(target) == expected(changes)
    empty = [p for p in target.rglob("*") if p.is_dir() and not p.is_symlink() and not any(p.iterdir())]
    assert empty == [target / ".git"]
    assert seen(template) == BASE


@pytest.mark.parametrize("how", ["overlay-memory", "overlay-disk", "copy"])
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"a/x": b"new", "a/b/z": None, "n/m": b"added"},
        {"a/x": None, "a/y": None, "a/b/z": None},
        {"a/x": None, "a/y": None, "a/b/z": None, "a": b"a file where a folder was"},
        {"c": None, "c/d": b"a folder where a file was"},
        {"run.sh": b"#!/bin/true\n", "file-link": b"no link any more"},
    ],
)
def test_every_materialisation_gives_the_same_tree(template, bubblewrap, tmp_path, how, changes):
    box = Bubblewrap(bubblewrap.scratch, bubblewrap.tools, how)
    result = box.run(shell(template, f"({LISTING}) >&9", changes))
    assert result.materialisation == how
    target = tmp_path / "reference"
    copy_tree(template, plan(Tree(template, changes)), target)
    assert sorted(result.report.decode().splitlines()) == sorted(listing(target))


def shell(template: Path, script: str, changes: dict[str, bytes | None]) -> Job:
    argv = ("/bin/bash", "-c", HANDSHAKE + script, "bash", "@report")
    return Job(Tree(template, changes), argv, LIMITS, b"", {})


def listing(root: Path) -> list[str]:
    """What `LISTING` prints for the folder `root`."""
    lines = ["d  "]
    for path in root.rglob("*"):
        name = path.relative_to(root).as_posix()
        if path.is_symlink():
            lines.append(f"l {name} {path.readlink()}")
        elif path.is_dir():
            lines.append(f"d {name} ")
        else:
            lines.append(f"f {name} ")
            lines.append(f"mode {name} {stat.S_IMODE(path.stat().st_mode):o}")
            lines.append(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  ./{name}")
    return lines


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "../out",
        "a/../../out",
        "a//x",
        "./c",
        ".git/config",
        "link/x",
        "a/\0",
        "",
        "a/x/under-a-file",
    ],
)
def test_a_path_that_leaves_the_tree_is_a_violation(template, path):
    for data in (b"x", None):
        if path == "a/x/under-a-file" and data is None:
            continue
        with pytest.raises(IntegrityViolation):
            plan(Tree(template, {path: data}))


def test_a_file_does_not_replace_a_folder_that_holds_others(template):
    with pytest.raises(IntegrityViolation, match="where a folder stands"):
        plan(Tree(template, {"a": b"x"}))


def test_a_read_only_template_can_be_written_over(bubblewrap, tmp_path):
    template = tmp_path / "locked"
    (template / "sub").mkdir(parents=True)
    (template / "sub" / "file").write_text("old")
    for path in (template / "sub" / "file", template / "sub", template):
        path.chmod(0o555 if path.is_dir() else 0o444)
    script = "echo x >sub/new && rm sub/file && echo y >here && echo fine >&9"
    try:
        assert bubblewrap.run(shell(template, script, {"other": b"1"})).report == b"fine\n"
        assert (template / "sub" / "file").read_text() == "old"
    finally:
        for path in (template, template / "sub"):
            path.chmod(0o755)


def test_nothing_is_left_behind(bubblewrap, unsandboxed, tmp_path):
    """Folders without permissions and files without names included."""
    template = tmp_path / "t"
    template.mkdir()
    script = "mkdir -p d/e; touch d/e/f; chmod 0 d; echo done >&9"
    for box in (bubblewrap, unsandboxed):
        assert box.run(shell(template, script, {})).report == b"done\n"
        assert list(box.scratch.iterdir()) == []


def test_a_template_of_another_user_is_copied_and_can_be_changed(bubblewrap, tmp_path):
    """An overlay in a user namespace refuses to change files whose owner has no place in it."""
    template = tmp_path / "foreign"
    template.mkdir()
    (template / "file").write_text("old")
    if os.geteuid() == 0:
        os.chown(template, 65534, 65534)
        os.chown(template / "file", 65534, 65534)
    else:
        template = Path("/etc/alternatives")
    result = bubblewrap.run(shell(template, "touch new && echo fine >&9", {}))
    assert (result.materialisation, result.report) == ("copy", b"fine\n")
