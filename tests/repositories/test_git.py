"""Git runs hermetically, and what goes wrong has a kind."""

from __future__ import annotations

import stat
import time
from pathlib import Path

import pytest

from repairlab.contract.errors import InfrastructureFailure, RefuseToStart
from repairlab.repositories import git


def test_configuration_of_user_and_repository_stays_outside(tmp_path, monkeypatch):
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text("[core]\n\tautocrlf = true\n[alias]\n\tgreet = !echo hello\n")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(home / ".gitconfig"))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.autocrlf")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "input")
    assert git.run(["config", "--get", "core.autocrlf"]) == b"false\n"
    assert git.attempt(["greet"]).status != 0


def test_no_hook_of_a_repository_runs(tmp_path):
    git.init_bare(tmp_path / "r.git")
    hook = tmp_path / "r.git/hooks/reference-transaction"
    hook.parent.mkdir()
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    hook.chmod(hook.stat().st_mode | stat.S_IXUSR)
    tree = (
        git.run(["hash-object", "-t", "tree", "-w", "--stdin"], git_dir=tmp_path / "r.git").decode().strip()
    )
    commit = git.run(["commit-tree", tree, "-m", "x"], git_dir=tmp_path / "r.git").decode().strip()
    git.run(["update-ref", "refs/heads/main", commit], git_dir=tmp_path / "r.git")
    assert not (tmp_path / "ran").exists()


def test_repository_above_the_working_folder_is_not_found(tmp_path):
    git.run(["init", "--quiet", str(tmp_path)])
    (tmp_path / "below").mkdir()
    assert git.attempt(["rev-parse", "--git-dir"], cwd=tmp_path / "below").status != 0


def test_failure_carries_gits_words_and_a_kind(tmp_path):
    git.init_bare(tmp_path / "r.git")
    with pytest.raises(InfrastructureFailure, match="Needed a single revision") as caught:
        git.run(["rev-parse", "--verify", "nothing"], git_dir=tmp_path / "r.git")
    assert caught.value.kind == "git-failed"


def test_time_limit_is_kept_although_a_helper_holds_the_pipes():
    started = time.monotonic()
    with pytest.raises(InfrastructureFailure, match="longer than") as caught:
        git.attempt(["-c", "alias.wait=!sleep 20 & sleep 20", "wait"], timeout_seconds=0.3)
    assert caught.value.kind == "git-timeout"
    assert time.monotonic() - started < 10


def test_absent_folder_is_infrastructure(tmp_path):
    with pytest.raises(InfrastructureFailure, match="no folder") as caught:
        git.run(["version"], cwd=tmp_path / "gone")
    assert caught.value.kind == "git-start"


def test_absent_git_refuses_to_start(tmp_path, monkeypatch):
    monkeypatch.setattr(git, "SEARCH_PATH", str(tmp_path))
    with pytest.raises(RefuseToStart, match="not installed"):
        git.version()


def test_old_git_refuses_to_start(tmp_path, monkeypatch):
    assert git.version() >= (2, 30)
    program = tmp_path / "git"
    program.write_text("#!/bin/sh\necho git version 2.29.9\n")
    program.chmod(0o755)
    monkeypatch.setattr(git, "SEARCH_PATH", f"{tmp_path}:{git.SEARCH_PATH}")
    with pytest.raises(RefuseToStart, match=r"2\.29 is too old"):
        git.version()


def test_failing_stream_is_noticed(tmp_path):
    git.init_bare(tmp_path / "r.git")
    with (
        pytest.raises(InfrastructureFailure, match="ended with status"),
        git.stream(["cat-file", "blob", "nothing"], git_dir=tmp_path / "r.git", stdin=b"") as output,
    ):
        assert output.read() == b""


def test_home_is_part_of_the_package():
    assert (Path(git.__file__).parent / "home/.gitconfig").is_file()
