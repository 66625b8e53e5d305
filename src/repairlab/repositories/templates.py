"""Templates: one checkout for each base commit, in a repository that knows that one state and nothing else.

The history of the source stays outside: the template's repository holds a single commit of our own whose
*tree* is the base's, and exactly the objects of that tree. No remote, no alternate store, no later object.
Files hold the bytes of the blobs, whatever a ``.gitattributes`` asks for.

A template is never written to after it is made. Its modes are ordinary (0644, 0755), because an overlay or
a copy passes them on to the tests, which must find the same rights whoever runs them; instead whoever
reads a file of it holds the content against its blob id.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from repairlab.contract.errors import BadInput, IntegrityViolation
from repairlab.repositories import git
from repairlab.repositories.locking import hold
from repairlab.repositories.mirrors import Mirror, TreeEntry
from repairlab.repositories.sources import slug

_DATE: Final = "1704067200 +0000"
_WHO: Final = "repairlab"
_MAIL: Final = "repairlab@example.invalid"
_IDENTITY: Final = {
    f"GIT_{role}_{fact}": value
    for role in ("AUTHOR", "COMMITTER")
    for fact, value in (("NAME", _WHO), ("EMAIL", _MAIL), ("DATE", _DATE))
}


@dataclass(frozen=True, slots=True)
class Template:
    """A checkout of a base commit.

    Attributes:
        root: the checkout, with its ``.git``.
        commit: the base commit in the upstream history.
        tree_id: SHA of the tree, the same in both repositories.
        files: every tracked entry, sorted by the bytes of the paths.
    """

    root: Path
    commit: str
    tree_id: str
    files: tuple[TreeEntry, ...]


@dataclass(frozen=True, slots=True)
class Templates:
    """All templates of this machine, under `root`."""

    root: Path

    def ensure(self, mirror: Mirror, base: str) -> Template:
        """The template of `base`, made when absent.

        Raises:
            BadInput: the source's history lacks a blob of this commit.
            IntegrityViolation: a template that does not hold the base's tree.
        """
        self.root.mkdir(parents=True, exist_ok=True)
        tree_id = mirror.tree_id(base)
        files = mirror.entries(base)
        path = self.root / f"{slug(mirror.repository)}+{base}"
        if not path.is_dir():
            with hold(self.root / f"{path.name}.lock"):
                if not path.is_dir():
                    self._make(mirror, tree_id, files, path)
        found = git.run(["rev-parse", "HEAD^{tree}"], git_dir=path / ".git").decode().strip()
        if found != tree_id:
            raise IntegrityViolation(f"{path}: holds tree {found}, the base commit has {tree_id}")
        return Template(path, base, tree_id, files)

    def _make(self, mirror: Mirror, tree_id: str, files: tuple[TreeEntry, ...], path: Path) -> None:
        lacking = [entry.path for entry in files if entry.size is None and entry.mode != "160000"]
        if lacking:
            raise BadInput(
                f"{mirror.repository}: the history that was fetched lacks the content of {lacking[0]}",
                repair="Clone the repository without a filter, or leave out tasks at this commit.",
            )
        for stale in self.root.glob(f".new+{path.name}+*"):
            shutil.rmtree(stale)
        scratch = Path(tempfile.mkdtemp(prefix=f".new+{path.name}+", dir=self.root))
        try:
            checkout = scratch / "checkout"
            checkout.mkdir()
            commit = _store(mirror, tree_id, checkout / ".git")
            _check_out(checkout, commit)
            verify(Template(checkout, commit, tree_id, files))
            checkout.rename(path)
        finally:
            shutil.rmtree(scratch)


def verify(template: Template) -> None:
    """Read everything of a template and compare: each file with the tree, the store with its one commit.

    Raises:
        IntegrityViolation: a file differs, is missing or is too many; or the store holds more than it should.
    """
    git_dir = template.root / ".git"
    with tempfile.TemporaryDirectory() as folder:
        index = {"GIT_INDEX_FILE": str(Path(folder) / "index"), "GIT_WORK_TREE": str(template.root)}
        git.run(["read-tree", template.tree_id], git_dir=git_dir, environment=index)
        arguments = ["status", "--porcelain", "--ignored", "--untracked-files=all", "--ignore-submodules=all"]
        head = git.run(["rev-parse", "HEAD^{tree}"], git_dir=git_dir).decode().strip()
        changed = git.run(arguments, git_dir=git_dir, cwd=template.root, environment=index)
    if head != template.tree_id or changed:
        first = changed.decode("utf-8", "replace").split("\n")[0]
        raise IntegrityViolation(f"{template.root}: is not the base commit's tree any more ({first or head})")
    every = git.run(
        ["cat-file", "--batch-all-objects", "--batch-check=%(objecttype)", "--unordered"], git_dir=git_dir
    ).split(b"\n")
    reachable = git.run(["rev-list", "--objects", "--no-object-names", "HEAD"], git_dir=git_dir).split()
    strangers = (git_dir / "objects/info/alternates").exists() or bool(git.run(["remote"], git_dir=git_dir))
    if every.count(b"commit") != 1 or len(every) - 1 != len(reachable) or strangers:
        raise IntegrityViolation(f"{git_dir}: holds more than the base commit's tree")


def _store(mirror: Mirror, tree_id: str, git_dir: Path) -> str:
    """Make the repository with the objects of the tree and one commit on it; return that commit."""
    git.init_bare(git_dir)
    for name, value in (("core.bare", "false"), ("core.logAllRefUpdates", "false"), ("gc.auto", "0")):
        git.run(["config", name, value], git_dir=git_dir)
    listed = git.run(["rev-list", "--objects", "--no-object-names", tree_id], git_dir=mirror.path)
    pack = git.run(["pack-objects", "--stdout", "--quiet"], git_dir=mirror.path, stdin=listed)
    git.run(["index-pack", "--stdin"], git_dir=git_dir, stdin=pack)
    commit_tree = ["commit-tree", tree_id]
    commit = git.run(commit_tree, git_dir=git_dir, stdin=b"Base\n", environment=_IDENTITY).decode().strip()
    git.run(["update-ref", "refs/heads/main", commit], git_dir=git_dir)
    return commit


def _check_out(checkout: Path, commit: str) -> None:
    """Write the files and give all of them ordinary modes, whatever the umask."""
    work_tree = {"GIT_WORK_TREE": os.fspath(checkout)}
    git.run(
        ["read-tree", "--reset", "-u", commit],
        git_dir=checkout / ".git",
        cwd=checkout,
        environment=work_tree,
        timeout_seconds=600,
    )
    for folder, folders, names in os.walk(checkout):
        Path(folder).chmod(0o755)
        for name in [*folders, *names]:
            path = Path(folder) / name
            mode = path.lstat().st_mode
            if stat.S_ISREG(mode):
                path.chmod(0o755 if mode & stat.S_IXUSR else 0o644)
