"""Where the bytes of a corpus come from: git objects of a mirror, read without a checkout."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Protocol

from repairlab.contract.errors import IntegrityViolation

REGULAR_MODES = frozenset({"100644", "100755"})
LINK_MODE = "120000"


class Entry(Protocol):
    """One entry of a commit's tree, sub-folders unfolded."""

    @property
    def path(self) -> str:
        """Relative path with ``/``; bytes that are not UTF-8 as surrogate escapes."""

    @property
    def mode(self) -> str:
        """Six octal digits as git writes them, such as ``100644``."""

    @property
    def blob_id(self) -> str:
        """Object name in hexadecimal."""

    @property
    def size(self) -> int | None:
        """Bytes of the object; None for a submodule, or where the mirror lacks the object."""


class BlobSource(Protocol):
    """A repository as far as an index needs it."""

    def entries(self, commit: str) -> Sequence[Entry]:
        """Every entry of the commit's tree."""

    def read_blobs(self, ids: Sequence[str]) -> Iterable[tuple[str, bytes]]:
        """The named objects, each as (name, bytes)."""


def path_bytes(path: str) -> bytes:
    """The bytes git holds for `path`; the order of these bytes is the order of every tie."""
    return path.encode("utf-8", "surrogateescape")


def check_blob(blob_id: str, data: bytes) -> None:
    """Hold `data` against its object name, so that a damaged mirror cannot reach an index.

    Raises:
        IntegrityViolation: the bytes have another name.
    """
    name = hashlib.sha1 if len(blob_id) == 40 else hashlib.sha256
    seen = name(b"blob %d\0" % len(data) + data).hexdigest()
    if seen != blob_id:
        raise IntegrityViolation(f"git object {blob_id} has the bytes of {seen}: the mirror is damaged")
