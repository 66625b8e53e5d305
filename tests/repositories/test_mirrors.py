"""Mirrors: made once, whole or not at all, read without guessing."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from repairlab.contract.errors import BadInput, InfrastructureFailure
from repairlab.repositories.embedded import build
from repairlab.repositories.mirrors import Mirrors
from repairlab.repositories.sources import Sources

URL = "https://example.invalid/owner/upstream"


@pytest.fixture
def upstream(tmp_path: Path, embedded_folder: Path) -> Path:
    """A bare repository with a base and a fix."""
    build(embedded_folder, tmp_path / "sources/upstream")
    return tmp_path / "sources/upstream"


@pytest.fixture
def mirrors(tmp_path: Path, upstream: Path) -> Mirrors:
    return Mirrors(tmp_path / "mirrors", Sources(str(tmp_path / "sources/{name}")))


def rev(git_out, repository: Path, name: str) -> str:
    return git_out(repository, "rev-parse", name).decode().strip()


def commit_on(git_out, repository: Path, parent: str, ref: str | None) -> str:
    tree = rev(git_out, repository, f"{parent}^{{tree}}")
    commit = git_out(repository, "commit-tree", tree, "-p", parent, "-m", f"later {ref}").decode().strip()
    if ref:
        git_out(repository, "update-ref", ref, commit)
    return commit


def test_mirror_is_made_once_and_holds_the_commits(mirrors, upstream, git_out):
    base, fix = rev(git_out, upstream, "main"), rev(git_out, upstream, "fix/first-amount")
    mirror = mirrors.ensure(URL, [base, fix])
    made = mirror.path.stat().st_ino
    assert mirror.has(base)
    assert not mirror.has("1" * 40)
    assert not mirror.has(rev(git_out, upstream, "main^{tree}"))
    assert mirrors.ensure(URL, [fix]).path.stat().st_ino == made
    assert sorted(path.name for path in mirrors.root.iterdir()) == [
        "example.invalid+owner+upstream.git",
        "example.invalid+owner+upstream.git.lock",
    ]


def test_known_mirror_needs_no_source(mirrors, upstream, git_out):
    base = rev(git_out, upstream, "main")
    mirrors.ensure(URL, [base])
    upstream.rename(upstream.with_name("gone"))
    assert mirrors.ensure(URL, [base]).has(base)


@pytest.mark.parametrize("ref", ["refs/heads/new", "refs/pull/7/head", None])
def test_missing_commit_is_fetched_whatever_reaches_it(mirrors, upstream, git_out, ref):
    mirrors.ensure(URL)
    commit = commit_on(git_out, upstream, "main", ref)
    assert mirrors.ensure(URL, [commit]).has(commit)


def test_commit_that_nobody_has_is_bad_input(mirrors):
    with pytest.raises(BadInput, match=r"commit 1111.* is not to be had from .*upstream"):
        mirrors.ensure(URL, ["1" * 40])
    with pytest.raises(BadInput, match="full commit SHA"):
        mirrors.ensure(URL, ["main"])


def test_absent_source_is_bad_input_and_an_unreachable_one_infrastructure(tmp_path):
    with pytest.raises(BadInput, match="no repository at"):
        Mirrors(tmp_path / "m", Sources(str(tmp_path / "nowhere/{name}"))).ensure(URL)
    with pytest.raises(InfrastructureFailure) as caught:
        Mirrors(tmp_path / "m", Sources("http://127.0.0.1:9/{name}")).ensure(URL)
    assert caught.value.kind == "source-unreachable"
    assert [path.name for path in (tmp_path / "m").iterdir() if path.is_dir()] == []


def test_killed_clone_leaves_nothing_that_counts(mirrors, upstream, git_out, tmp_path):
    """A process is killed while its clone hangs; the next one makes the mirror as if nothing had been."""
    program = f"""
import sys
from pathlib import Path
from repairlab.repositories import git, mirrors
from repairlab.repositories.sources import Sources
def slow(arguments, **rest):
    result = real(arguments, **rest)
    print("cloned", flush=True)
    sys.stdin.read()
    return result
real, git.attempt = git.attempt, slow
mirrors.Mirrors(Path({str(mirrors.root)!r}), Sources({mirrors.sources.template!r})).ensure({URL!r})
"""
    process = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"cloned\n"
    assert not list(mirrors.root.glob("example*.git"))
    process.kill()
    process.communicate()
    assert list(mirrors.root.glob(".new+*"))
    base = rev(git_out, upstream, "main")
    assert mirrors.ensure(URL, [base]).has(base)
    assert not list(mirrors.root.glob(".new+*"))


def test_two_processes_make_one_mirror(mirrors, upstream):
    program = f"""
from pathlib import Path
from repairlab.repositories import mirrors
from repairlab.repositories.sources import Sources
made = mirrors.Mirrors(Path({str(mirrors.root)!r}), Sources({mirrors.sources.template!r})).ensure({URL!r})
print(made.path.stat().st_ino)
"""
    command = [sys.executable, "-c", program]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(3)]
    outputs = {process.communicate()[0] for process in running}
    assert [process.returncode for process in running] == [0, 0, 0]
    assert len(outputs) == 1


def test_entries_are_every_file_sorted_by_bytes(cases, git_out):
    entries = cases.mirror.entries(cases.base)
    assert [os.fsencode(entry.path) for entry in entries] == sorted(os.fsencode(e.path) for e in entries)
    by_path = {entry.path: entry for entry in entries}
    assert by_path["src/kit/calc.py"].mode == "100644"
    assert by_path["src/kit/tool.py"].mode == "100755"
    assert by_path["src/kit/alias.py"].mode == "120000"
    assert not by_path["src/kit/alias.py"].is_regular
    assert by_path["src/kit/\u00e4rger.py"].size == 6
    listed = git_out(cases.upstream, "ls-tree", "-r", "--name-only", "-z", cases.base).split(b"\0")[:-1]
    assert [os.fsencode(entry.path) for entry in entries] == sorted(listed)


def test_read_gives_bytes_as_stored_or_none(cases):
    assert cases.mirror.read(cases.base, "src/kit/latin.py") == b"# caf\xe9\nZ = 1\n"
    assert cases.mirror.read(cases.base, "src/link_tests") == b"../tests"
    for absent in ("src/kit", "src/kit/gone.py", "src/kit/*.py", ":(glob)**", "src/link_tests/test_calc.py"):
        assert cases.mirror.read(cases.base, absent) is None


def test_blobs_come_in_the_order_asked_for(cases):
    entries = [entry for entry in cases.mirror.entries(cases.base) if entry.is_regular]
    wanted = [entry.blob_id for entry in reversed(entries)] + [entries[0].blob_id]
    answers = list(cases.mirror.read_blobs(wanted))
    assert [blob for blob, _ in answers] == wanted
    assert dict(answers)[entries[0].blob_id] == cases.mirror.read(cases.base, entries[0].path)
    assert list(cases.mirror.read_blobs([])) == []


def test_blobs_may_be_left_half_read(cases):
    entries = [entry.blob_id for entry in cases.mirror.entries(cases.base) if entry.is_regular]
    started = time.monotonic()
    for blob, _ in cases.mirror.read_blobs(entries * 2000):
        assert blob == entries[0]
        break
    assert time.monotonic() - started < 30


def test_missing_large_blob_hurts_only_who_asks_for_it(mirrors, upstream, git_out):
    """A filtered clone lacks a blob: listing and other files work, its content is bad input."""
    base = rev(git_out, upstream, "main")
    mirror = mirrors.ensure(URL, [base])
    lost = git_out(mirror.path, "rev-parse", f"{base}:ledger/total.py").decode().strip()
    git_out(mirror.path, "config", "gc.auto", "0")
    packs = list((mirror.path / "objects/pack").glob("*.pack"))
    for pack in packs:
        content = pack.read_bytes()
        for part in pack.parent.glob(f"{pack.stem}.*"):
            part.unlink()
        git_out(mirror.path, "unpack-objects", "-q", stdin=content)
    (mirror.path / "objects" / lost[:2] / lost[2:]).unlink()

    by_path = {entry.path: entry for entry in mirror.entries(base)}
    assert by_path["ledger/total.py"].size is None
    assert mirror.read(base, "gitignore") == b"*.py\n"
    with pytest.raises(BadInput, match=f"lacks blob {lost}"):
        mirror.read(base, "ledger/total.py")


def test_diff_does_not_depend_on_attributes_or_configuration(cases, git_out):
    fix = git_out(cases.upstream, "rev-parse", "HEAD").decode().strip()
    diff = cases.mirror.diff(cases.base, fix)
    assert diff.startswith(b"diff --git a/src/kit/calc.py b/src/kit/calc.py\nindex ")
    assert len(diff.split(b"\n")[1]) == len("index .. 100644") + 80
    assert diff.split(b"\n")[4] == b"@@ -1,6 +1,6 @@"
    assert cases.mirror.diff(cases.base, fix, ["src/kit"]) == diff
    assert cases.mirror.diff(cases.base, fix, ["src/*/calc.py"]) == b""
    assert cases.mirror.diff(cases.base, fix, []) == b""


def test_embedded_repository_is_mirrored_from_package_data(embedded_folder, tmp_path, monkeypatch):
    from repairlab.repositories import embedded

    monkeypatch.setattr(embedded, "DATA", embedded_folder.parent)
    embedded_folder.rename(embedded_folder.with_name("small-one"))
    mirrors = Mirrors(tmp_path / "mirrors", Sources())
    facts = build(embedded_folder.with_name("small-one"), tmp_path / "direct")
    mirror = mirrors.ensure("embedded:small-one", [facts.base, *facts.fixes.values()])
    assert mirrors.ensure("embedded:small-one", [facts.base]).path == mirror.path
    with pytest.raises(BadInput, match="not to be had from the package's data"):
        mirrors.ensure("embedded:small-one", ["1" * 40])
    (embedded_folder.with_name("small-one") / "tree/gitignore").write_bytes(b"changed\n")
    changed = mirrors.ensure("embedded:small-one")
    assert changed.path != mirror.path
    assert not changed.has(facts.base)
