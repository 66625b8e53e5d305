"""The one form in which repairlab writes a diff, whatever it is made from."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from repairlab.repositories import git

DIFF_OPTIONS: Final = (
    "-r",
    "-p",
    "--full-index",
    "--binary",
    "--no-renames",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--no-relative",
    "--unified=3",
    "--inter-hunk-context=0",
    "--diff-algorithm=myers",
    "--indent-heuristic",
    "--ignore-submodules=none",
    "--submodule=short",
    "--src-prefix=a/",
    "--dst-prefix=b/",
)
"""For ``git diff-tree``: nothing is left to configuration or to git's defaults, which change."""

State = Mapping[str, tuple[str, bytes]]
"""Path -> (mode such as ``100644``, content)."""


def diff_states(before: State, after: State, scratch: Path) -> bytes:
    """Canonical diff between two sets of files; the same bytes as between commits that hold them.

    Args:
        before: files of the old side.
        after: files of the new side.
        scratch: a folder that does not exist yet; it is left with a small repository in it.
    """
    if before == after:
        return b""
    make_store(scratch)
    stream = [b"feature done\n"]
    for ref, files in (("old", before), ("new", after)):
        stream.append(b"commit refs/heads/%s\ncommitter r <r> 0 +0000\ndata 0\n" % ref.encode())
        for path in sorted(files, key=os.fsencode):
            mode, content = files[path]
            stream.append(b"M %s inline %s\n" % (mode.encode(), quoted(os.fsencode(path))))
            stream.append(b"data %d\n%s\n" % (len(content), content))
    stream.append(b"done\n")
    git.run(["fast-import", "--quiet", "--done"], git_dir=scratch, stdin=b"".join(stream))
    return git.run(["diff-tree", *DIFF_OPTIONS, "refs/heads/old", "refs/heads/new"], git_dir=scratch)


def make_store(path: Path) -> None:
    """Make an empty bare repository by hand: four entries, a process less than ``git init``."""
    for folder in ("objects", "refs", "info"):
        (path / folder).mkdir(parents=True, exist_ok=True)
    (path / "HEAD").write_bytes(b"ref: refs/heads/main\n")
    git.write_attributes(path)


def quoted(path: bytes) -> bytes:
    """`path` in the quotes of git's fast-import language."""
    escaped = path.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
    return b'"' + escaped + b'"'
