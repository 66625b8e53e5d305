"""Templates: the base's tree, byte for byte, and nothing younger."""

from __future__ import annotations

import os

import pytest

from repairlab.contract.errors import BadInput, IntegrityViolation
from repairlab.repositories.templates import Template, Templates, verify


def test_template_holds_one_commit_with_the_bases_tree(cases, git_out):
    root = cases.template.root
    assert git_out(root, "rev-list", "--all", "--count") == b"1\n"
    assert git_out(root, "rev-parse", "HEAD^{tree}") == git_out(
        cases.upstream, "rev-parse", f"{cases.base}^{{tree}}"
    )
    assert git_out(root, "rev-parse", "HEAD").decode().strip() != cases.base
    assert git_out(root, "log", "--format=%an %ae %ad %s").startswith(b"repairlab repairlab@example.invalid")
    assert git_out(root, "remote") == b""
    assert not (root / ".git/objects/info/alternates").exists()


def test_no_object_of_the_fix_is_in_the_template(cases, git_out):
    later = git_out(cases.upstream, "rev-list", "--objects", "HEAD", f"^{cases.base}").decode().split("\n")
    assert len(later) > 3
    for line in filter(None, later):
        name = line.split(" ")[0]
        answer = git_out(cases.template.root, "cat-file", "--batch-check", stdin=f"{name}\n".encode())
        assert answer.endswith(b"missing\n"), name


def test_files_hold_the_bytes_of_the_blobs_whatever_attributes_say(cases):
    for entry in cases.template.files:
        path = cases.template.root / entry.path
        expected = cases.mirror.read(cases.base, entry.path)
        found = os.fsencode(path.readlink()) if entry.mode == "120000" else path.read_bytes()
        assert found == expected, entry.path


def test_modes_do_not_follow_the_umask(cases, tmp_path):
    before = os.umask(0o077)
    try:
        template = Templates(tmp_path / "templates").ensure(cases.mirror, cases.base)
    finally:
        os.umask(before)
    assert (template.root / "src/kit/calc.py").stat().st_mode & 0o777 == 0o644
    assert (template.root / "src/kit/tool.py").stat().st_mode & 0o777 == 0o755
    assert (template.root / "src/kit").stat().st_mode & 0o777 == 0o755


def test_template_is_made_once(cases):
    templates = Templates(cases.template.root.parent)
    made = cases.template.root.stat().st_ino
    assert templates.ensure(cases.mirror, cases.base) == cases.template
    assert cases.template.root.stat().st_ino == made


def test_template_of_another_tree_is_an_integrity_violation(cases, tmp_path, git_out):
    templates = Templates(tmp_path / "templates")
    template = templates.ensure(cases.mirror, cases.base)
    empty = git_out(template.root, "hash-object", "-t", "tree", "-w", "--stdin").decode().strip()
    commit = git_out(template.root, "commit-tree", empty, "-m", "x").decode().strip()
    git_out(template.root, "update-ref", "refs/heads/main", commit)
    with pytest.raises(IntegrityViolation, match="holds tree 4b825dc"):
        templates.ensure(cases.mirror, cases.base)


@pytest.fixture
def template(cases, tmp_path) -> Template:
    return Templates(tmp_path / "templates").ensure(cases.mirror, cases.base)


def test_verify_accepts_a_fresh_template(template):
    verify(template)


@pytest.mark.parametrize("change", ["edit", "same-size", "add", "ignored", "remove", "mode"])
def test_verify_finds_a_changed_file(template, change):
    path = template.root / "src/kit/calc.py"
    if change == "edit":
        path.write_bytes(path.read_bytes() + b"#\n")
    elif change == "same-size":
        stat = path.stat()
        path.write_bytes(path.read_bytes().replace(b"a + b", b"a - b"))
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    elif change == "add":
        (template.root / "extra.py").write_bytes(b"")
    elif change == "ignored":
        (template.root / ".git/info/exclude").write_bytes(b"*.tmp\n")
        (template.root / "extra.tmp").write_bytes(b"")
    elif change == "remove":
        path.unlink()
    else:
        path.chmod(0o755)
    with pytest.raises(IntegrityViolation, match="not the base commit's tree"):
        verify(template)


def test_verify_finds_an_object_too_many(template, git_out):
    git_out(template.root, "hash-object", "-w", "--stdin", stdin=b"a canary of the fix")
    with pytest.raises(IntegrityViolation, match="more than the base"):
        verify(template)


def test_commit_without_one_of_its_blobs_is_bad_input(cases, tmp_path, monkeypatch):
    from repairlab.repositories.mirrors import Mirror, TreeEntry

    lacking = TreeEntry("src/big.py", "100644", "1" * 40, None)
    monkeypatch.setattr(Mirror, "entries", lambda *_: (lacking,))
    with pytest.raises(BadInput, match=r"lacks the content of src/big\.py"):
        Templates(tmp_path / "templates").ensure(cases.mirror, cases.base)
