"""Embedded repositories: the same SHAs everywhere."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from repairlab.contract.errors import BadInput
from repairlab.repositories.embedded import build, folder_of

BASE = "6f1daed928ec1b00ea273f02d691dba018fa4581"
FIX = "737ea1d2315a6b12d834c122fa8c4f68aea939f6"


def test_shas_are_these_on_every_machine(embedded_folder, tmp_path):
    facts = build(embedded_folder, tmp_path / "built.git")
    assert facts.base == BASE
    assert dict(facts.fixes) == {"first-amount": FIX}


def test_fix_is_one_commit_on_the_base_with_its_content(embedded_folder, tmp_path, git_out):
    facts = build(embedded_folder, tmp_path / "built.git")
    repository = tmp_path / "built.git"
    assert git_out(repository, "rev-list", "--parents", "fix/first-amount").decode().split("\n")[0] == (
        f"{FIX} {BASE}"
    )
    assert git_out(repository, "show", "main:ledger/total.py").endswith(b"sum(amounts[1:])\n")
    assert git_out(repository, "show", f"{facts.fixes['first-amount']}:ledger/total.py").endswith(
        b"sum(amounts)\n"
    )
    assert git_out(repository, "show", "fix/first-amount:ledger/extra.py") == b"RATE = 2\n"


def test_every_file_of_the_tree_is_at_the_base_byte_for_byte(embedded_folder, tmp_path, git_out):
    build(embedded_folder, tmp_path / "built.git")
    tree = embedded_folder / "tree"
    expected = {p.relative_to(tree).as_posix(): p.read_bytes() for p in tree.rglob("*") if p.is_file()}
    names = git_out(tmp_path / "built.git", "ls-tree", "-r", "-z", "--name-only", "main").decode()
    assert sorted(names.rstrip("\0").split("\0")) == sorted(expected)
    for name, content in expected.items():
        assert git_out(tmp_path / "built.git", "cat-file", "blob", f"main:{name}") == content


def test_umask_home_executable_bits_and_caches_do_not_move_a_sha(embedded_folder, tmp_path):
    (embedded_folder / "tree/ledger/total.py").chmod(0o755)
    cache = embedded_folder / "tree/ledger/__pycache__"
    cache.mkdir()
    (cache / "total.cpython-311.pyc").write_bytes(b"\0")
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text("[core]\n\tautocrlf = true\n[user]\n\tname = Someone\n")
    environment = {
        **os.environ,
        "HOME": str(home),
        "GIT_AUTHOR_DATE": "2001-01-01T00:00:00Z",
        "GIT_INDEX_FILE": str(tmp_path / "elsewhere"),
        "TZ": "Asia/Tokyo",
    }
    printed = subprocess.run(
        [sys.executable, "-m", "repairlab.repositories.embedded", str(embedded_folder)],
        env=environment,
        umask=0o077,
        capture_output=True,
        check=True,
    )
    assert printed.stdout.decode().split("\n") == [f"base {BASE}", f"fix/first-amount {FIX}", ""]


def test_patch_that_does_not_apply_is_bad_input_with_its_name(embedded_folder, tmp_path):
    patch = embedded_folder / "fixes/first-amount.patch"
    patch.write_bytes(patch.read_bytes().replace(b"amounts[1:]", b"amounts[2:]"))
    with pytest.raises(BadInput, match=r"first-amount\.patch.*does not apply"):
        build(embedded_folder, tmp_path / "built.git")


def test_link_in_the_data_is_refused(embedded_folder, tmp_path):
    (embedded_folder / "tree/link.py").symlink_to("ledger/total.py")
    with pytest.raises(BadInput, match="link"):
        build(embedded_folder, tmp_path / "built.git")


@pytest.mark.parametrize("name", ["nobody-knows-this", "../embedded", ""])
def test_unknown_name_is_bad_input(name):
    with pytest.raises(BadInput, match="no embedded repository"):
        folder_of(name)
