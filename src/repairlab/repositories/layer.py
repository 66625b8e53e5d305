"""The edits of one workspace on disk: a folder of contents and one small file that says which of them count.

Contents are written first, under their digests; then the state file is replaced by one rename. A process
that is killed at any point leaves the state before the edit or the one after it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from repairlab.contract.canonical import sha256_hex
from repairlab.contract.errors import IntegrityViolation

_STATE: Final = "state.json"

Edits = Mapping[str, bytes | None]
"""Path -> new content, None for a deleted file. Only files that differ from the base."""


@dataclass(frozen=True, slots=True)
class Layer:
    """Edits over the tree `tree_id`, kept in `folder`."""

    folder: Path
    tree_id: str

    def load(self) -> dict[str, bytes | None]:
        """The edits, none for a new folder.

        Raises:
            IntegrityViolation: the folder belongs to another tree, or a content is not what its name says.
        """
        state = self.folder / _STATE
        if not state.exists():
            return {}
        stored = json.loads(state.read_bytes())
        if stored["tree"] != self.tree_id:
            raise IntegrityViolation(
                f"{self.folder}: holds edits of tree {stored['tree']}, not of {self.tree_id}"
            )
        return {
            path: None if digest is None else self._read(digest) for path, digest in stored["files"].items()
        }

    def save(self, edits: Edits) -> None:
        """Make `edits` the whole of the layer, all or nothing."""
        (self.folder / "contents").mkdir(parents=True, exist_ok=True)
        files: dict[str, str | None] = {}
        for path in sorted(edits):
            content = edits[path]
            files[path] = None if content is None else self._write(content)
        text = json.dumps({"tree": self.tree_id, "files": files}, indent=1)
        _replace(self.folder / _STATE, text.encode())

    def _read(self, digest: str) -> bytes:
        content = (self.folder / "contents" / digest).read_bytes()
        if sha256_hex(content) != digest:
            raise IntegrityViolation(f"{self.folder}: the content {digest} was altered")
        return content

    def _write(self, content: bytes) -> str:
        digest = sha256_hex(content)
        target = self.folder / "contents" / digest
        if not target.exists():
            _replace(target, content)
        return digest


def _replace(target: Path, content: bytes) -> None:
    """Write beside `target`, then rename over it."""
    scratch = target.with_name(target.name + ".new")
    scratch.write_bytes(content)
    scratch.replace(target)
