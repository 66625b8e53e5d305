"""Bare mirrors of the repositories that tasks come from: made once, read often, never half-made.

A source's history may lack large blobs (a filtered clone). Nothing here walks the whole object graph; a blob
that is missing is reported when, and only when, it is asked for.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Final

from repairlab.contract.errors import BadInput, InfrastructureFailure
from repairlab.repositories import embedded, git
from repairlab.repositories.canonical import DIFF_OPTIONS
from repairlab.repositories.locking import hold
from repairlab.repositories.sources import Sources, slug

_SHA: Final = re.compile(r"[0-9a-f]{40}")
_EVERY_BRANCH: Final = ("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """One entry of a commit's tree that is not a folder."""

    path: str
    """Relative, with ``/``; bytes that are not UTF-8 are kept as surrogate escapes."""
    mode: str
    """``100644``, ``100755``, ``120000`` (symbolic link) or ``160000`` (submodule)."""
    blob_id: str
    size: int | None
    """Bytes; None for a submodule, and for a blob that the source's history lacks."""

    @property
    def is_regular(self) -> bool:
        """Whether this is an ordinary file: neither link nor submodule."""
        return self.mode.startswith("100")


@dataclass(frozen=True, slots=True)
class Mirror:
    """A bare repository on this machine, read by commit. It does not change what it reads."""

    repository: str
    path: Path

    def has(self, commit: str) -> bool:
        """Whether `commit` (40 hexadecimal digits) is here, as a commit."""
        return not self.missing([commit])

    def missing(self, commits: Iterable[str]) -> tuple[str, ...]:
        """Those of `commits` that are not here, sorted.

        Raises:
            BadInput: something that is no full commit SHA.
        """
        wanted = sorted(set(commits))
        for commit in wanted:
            if not _SHA.fullmatch(commit):
                raise BadInput(f"not a full commit SHA: {commit!r}")
        answers = self._batch_check([f"{commit}^{{commit}}" for commit in wanted])
        return tuple(commit for commit, answer in zip(wanted, answers, strict=True) if answer is None)

    def tree_id(self, commit: str) -> str:
        """SHA of the tree of `commit`."""
        return git.run(["rev-parse", "--verify", f"{commit}^{{tree}}"], git_dir=self.path).decode().strip()

    def entries(self, commit: str) -> tuple[TreeEntry, ...]:
        """Every file, link and submodule of `commit`, sorted by the bytes of the paths."""
        listed = git.run(["ls-tree", "-r", "-z", "--full-tree", commit], git_dir=self.path)
        rows = sorted(_row(record) for record in listed.split(b"\0") if record)
        sizes = self._batch_check([blob for _, mode, blob in rows if mode != "160000"])
        following = iter(sizes)
        return tuple(
            TreeEntry(os.fsdecode(path), mode, blob, None if mode == "160000" else next(following))
            for path, mode, blob in rows
        )

    def read(self, commit: str, path: str) -> bytes | None:
        """Content of the blob at `path` (for a link: its target); None when `commit` has no file there.

        Raises:
            BadInput: the source's history lacks the blob.
        """
        wanted = ["ls-tree", "-z", "--full-tree", commit, "--", path]
        listed = git.run(["--literal-pathspecs", *wanted], git_dir=self.path)
        rows = [_row(record) for record in listed.split(b"\0") if record]
        found = [blob for name, mode, blob in rows if name == os.fsencode(path) and mode[:2] in ("10", "12")]
        if not found:
            return None
        return next(content for _, content in self.read_blobs(found))

    def read_blobs(self, ids: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        """Content of each blob of `ids`, in that order, from one process.

        Raises:
            BadInput: the source's history lacks one of them.
        """
        if not ids:
            return
        questions = "".join(f"{blob}\n" for blob in ids).encode()
        with git.stream(["cat-file", "--batch"], git_dir=self.path, stdin=questions) as answers:
            for blob in ids:
                yield blob, _content(answers, blob, self.repository)

    def diff(self, base: str, fix: str, paths: Sequence[str] | None = None) -> bytes:
        """Canonical diff from `base` to `fix`.

        Args:
            base: commit of the old side.
            fix: commit of the new side.
            paths: files or folders to keep, taken literally; None means all, none at all gives an empty diff.
        """
        if paths is not None and not paths:
            return b""
        limit = ["--", *paths] if paths is not None else []
        arguments = ["--literal-pathspecs", "diff-tree", *DIFF_OPTIONS, base, fix, *limit]
        return git.run(arguments, git_dir=self.path)

    def _batch_check(self, names: Sequence[str]) -> list[int | None]:
        """Size of each object, None for one that is missing."""
        if not names:
            return []
        questions = "".join(f"{name}\n" for name in names).encode()
        asked = ["cat-file", "--batch-check=%(objectsize)", "--buffer"]
        lines = git.run(asked, git_dir=self.path, stdin=questions).decode().split("\n")[:-1]
        if len(lines) != len(names):
            raise InfrastructureFailure("git cat-file gave too few answers", kind="git-failed")
        return [int(line) if line.isdigit() else None for line in lines]


@dataclass(frozen=True, slots=True)
class Mirrors:
    """All mirrors of this machine, under `root`.

    Args:
        root: folder that holds them.
        sources: where repositories come from.
        network: variables that git needs to reach the network here (a proxy, certificates); none by default.
    """

    root: Path
    sources: Sources
    network: Mapping[str, str] = field(default_factory=dict)

    def ensure(self, repository: str, commits: Iterable[str] = ()) -> Mirror:
        """The mirror of `repository`, with `commits` in it.

        It is cloned when absent and fetched into when a commit is missing. Processes that want the same one
        wait for each other; a killed one leaves nothing that counts.

        Raises:
            BadInput: no such source, or one that does not have a commit.
            InfrastructureFailure: kind ``source-unreachable``.
        """
        wanted = tuple(commits)
        self.root.mkdir(parents=True, exist_ok=True)
        mirror = Mirror(repository, self.root / f"{self._name(repository)}.git")
        if mirror.path.is_dir() and not mirror.missing(wanted):
            return mirror
        with hold(self.root / f"{mirror.path.name}.lock"):
            if not mirror.path.is_dir():
                self._make(mirror)
            missing = mirror.missing(wanted)
            if missing and not repository.startswith(embedded.PREFIX):
                self._fetch(mirror, missing)
                missing = mirror.missing(missing)
        if missing:
            raise BadInput(
                f"{repository}: commit {missing[0]} is not to be had from {self._where(repository)}"
                + (f" (and {len(missing) - 1} more)" if len(missing) > 1 else "")
            )
        return mirror

    def _name(self, repository: str) -> str:
        if not repository.startswith(embedded.PREFIX):
            return slug(repository)
        folder = embedded.folder_of(repository.removeprefix(embedded.PREFIX))
        return f"{slug(repository)}+{embedded.digest_of_data(folder)[:16]}"

    def _where(self, repository: str) -> str:
        if repository.startswith(embedded.PREFIX):
            return "the package's data"
        return self.sources.locate(repository)

    def _make(self, mirror: Mirror) -> None:
        for stale in self.root.glob(f".new+{mirror.path.name}+*"):
            shutil.rmtree(stale)
        scratch = Path(tempfile.mkdtemp(prefix=f".new+{mirror.path.name}+", dir=self.root))
        try:
            made = scratch / "repository"
            if mirror.repository.startswith(embedded.PREFIX):
                embedded.build(embedded.folder_of(mirror.repository.removeprefix(embedded.PREFIX)), made)
            else:
                self._clone(mirror.repository, made)
            made.rename(mirror.path)
        finally:
            shutil.rmtree(scratch)

    def _clone(self, repository: str, target: Path) -> None:
        source = self.sources.locate(repository)
        if source.startswith("/") and not Path(source).exists():
            raise BadInput(f"{repository}: no repository at {source}", repair="Check the setting of sources.")
        # From a path, git links the object files instead of copying them where the file system allows it.
        ended = git.attempt(
            ["clone", "--quiet", "--bare", "--template=", source, str(target)],
            environment=self.network,
            timeout_seconds=git.NETWORK_SECONDS,
        )
        if ended.status != 0:
            raise InfrastructureFailure(
                f"{repository}: cannot be cloned from {source}: {ended.complaint}",
                kind="source-unreachable",
                repair="Clone it from the web, or point the setting of sources at clones that you have.",
            )
        git.write_attributes(target)

    def _fetch(self, mirror: Mirror, commits: Sequence[str]) -> None:
        """Fetch branches, then by name each commit that no branch reaches."""
        source = self.sources.locate(mirror.repository)
        self._fetch_into(mirror, source, _EVERY_BRANCH)
        for commit in mirror.missing(commits):
            # Whether it could be had is judged by what is there afterwards, not by the words of the server.
            self._fetch_into(mirror, source, (f"{commit}:refs/kept/{commit}",), tolerate=b"not our ref")

    def _fetch_into(
        self, mirror: Mirror, source: str, refspecs: Sequence[str], tolerate: bytes = b"\0"
    ) -> None:
        ended = git.attempt(
            ["fetch", "--quiet", "--no-tags", source, *refspecs],
            git_dir=mirror.path,
            environment=self.network,
            timeout_seconds=git.NETWORK_SECONDS,
        )
        if ended.status != 0 and tolerate not in ended.stderr:
            raise InfrastructureFailure(
                f"{mirror.repository}: cannot fetch from {source}: {ended.complaint}",
                kind="source-unreachable",
            )


def _row(record: bytes) -> tuple[bytes, str, str]:
    """Path, mode and object id of one record of ``ls-tree -z``."""
    facts, path = record.split(b"\t", 1)
    mode, _, blob = facts.decode("ascii").split(" ")
    return path, mode, blob


def _content(answers: IO[bytes], blob: str, repository: str) -> bytes:
    """The next answer of ``cat-file --batch``, which must be about `blob`."""
    header = answers.readline().decode("ascii").split()
    if header == [blob, "missing"]:
        raise BadInput(
            f"{repository}: the history that was fetched lacks blob {blob}",
            repair="Clone the repository without a filter.",
        )
    if len(header) != 3 or header[0] != blob:
        raise InfrastructureFailure(f"git cat-file answered {header} for {blob}", kind="git-failed")
    size = int(header[2])
    content = answers.read(size + 1)
    if len(content) != size + 1:
        raise InfrastructureFailure(f"git cat-file ended within blob {blob}", kind="git-failed")
    return content[:-1]
