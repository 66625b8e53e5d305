"""A file of named binary sections: written once and atomically, opened by mapping it into memory.

Layout: 16 bytes of magic, the header's length (8 bytes, little-endian) and SHA-256, the header (canonical
JSON), then the sections, each at a multiple of 8 bytes. The header names kind, digest, byte order, each
section's place, and the SHA-256 of all sections.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import struct
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from repairlab.contract.canonical import Json, canonical_json
from repairlab.contract.errors import InfrastructureFailure, IntegrityViolation

_MAGIC = b"repairlab-index\n"
_LENGTH = struct.Struct("<Q32s")
_ALIGN = 8

Section = bytes | memoryview


class Container:
    """An opened file. Sections are views of the mapping: nothing is copied until it is used."""

    __slots__ = ("_body", "_places", "_sha256", "_view", "digest", "facts", "path")

    def __init__(self, path: Path, view: memoryview, header: Mapping[str, Json], body: int) -> None:
        self.path = path
        self.digest = str(header["digest"])
        self.facts: Json = header["facts"]
        self._view = view
        self._body = body
        self._sha256 = str(header["sha256"])
        self._places = {str(n): (int(a), int(b)) for n, a, b in _rows(header["sections"])}

    def section(self, name: str) -> memoryview:
        """The bytes of one section.

        Raises:
            IntegrityViolation: the file has no such section.
        """
        if name not in self._places:
            raise IntegrityViolation(f"{self.path}: no section {name!r}")
        start, size = self._places[name]
        return self._view[self._body + start : self._body + start + size]

    def numbers(self, name: str) -> memoryview:
        """One section as unsigned 32-bit integers."""
        return self.section(name).cast("I")

    def content(self) -> str:
        """SHA-256 over all sections, which `open_or_build` holds against the bytes: what the file holds."""
        return self._sha256

    def verify(self) -> None:
        """Hold all bytes against the recorded SHA-256 (the whole file is read).

        Raises:
            IntegrityViolation: they differ.
        """
        if hashlib.sha256(self._view[self._body :]).hexdigest() != self._sha256:
            raise IntegrityViolation(f"{self.path}: its bytes differ from their digest", repair=_REPAIR)


_REPAIR = "delete the file; it is built again from the repository"


def _rows(value: Json) -> Iterator[tuple[str, int, int]]:
    rows: object = value
    if not isinstance(rows, list):
        raise TypeError("sections must be a list")
    for row in rows:
        name, start, size = row
        yield str(name), int(start), int(size)


def write(path: Path, *, kind: str, digest: str, facts: Json, sections: Mapping[str, Section]) -> None:
    """Write a container so that `path` holds either the whole file or what it held before.

    Raises:
        InfrastructureFailure: the disk refused (kind ``cache-write``).
    """
    places: list[Json] = []
    pieces: list[Section] = []
    sha256 = hashlib.sha256()
    offset = 0
    for name, data in sections.items():
        view = memoryview(data).cast("B")
        pad = bytes(-len(view) % _ALIGN)
        places.append([name, offset, len(view)])
        for piece in (view, pad):
            sha256.update(piece)
            pieces.append(piece)
            offset += len(piece)
    header = canonical_json(
        {
            "kind": kind,
            "digest": digest,
            "byteorder": sys.byteorder,
            "facts": facts,
            "sections": places,
            "size": offset,
            "sha256": sha256.hexdigest(),
        }
    )
    header += b" " * (-(len(header) + len(_MAGIC) + _LENGTH.size) % _ALIGN)
    try:
        _replace(path, (_MAGIC, _LENGTH.pack(len(header), hashlib.sha256(header).digest()), header, *pieces))
    except OSError as error:
        raise InfrastructureFailure(
            f"{path}: cannot be written ({error.strerror})", kind="cache-write"
        ) from error


def _replace(path: Path, pieces: tuple[Section, ...]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=path.name + ".", suffix=".partial", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            for piece in pieces:
                file.write(piece)
            file.flush()
            os.fchmod(file.fileno(), 0o444)
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def open_container(path: Path, *, kind: str, digest: str) -> Container:
    """Map `path` into memory and check that it is whole and the one asked for.

    Only the header and the file's length are checked; `Container.verify` reads everything.

    Raises:
        FileNotFoundError: there is no such file.
        IntegrityViolation: cut short, of another kind or digest, or not a container at all.
    """
    with path.open("rb") as file:
        if os.fstat(file.fileno()).st_size < len(_MAGIC) + _LENGTH.size:
            raise IntegrityViolation(f"{path}: cut short", repair=_REPAIR)
        view = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    header, body = _header(path, view)
    for name, wanted in (("kind", kind), ("digest", digest), ("byteorder", sys.byteorder)):
        if header.get(name) != wanted:
            raise IntegrityViolation(
                f"{path}: {name} is {header.get(name)!r}, not {wanted!r}", repair=_REPAIR
            )
    if header.get("size") != len(view) - body:
        raise IntegrityViolation(
            f"{path}: {len(view) - body} bytes, not {header.get('size')}", repair=_REPAIR
        )
    try:
        return Container(path, view, header, body)
    except (KeyError, TypeError, ValueError) as error:
        raise IntegrityViolation(f"{path}: damaged header ({error})", repair=_REPAIR) from error


def open_or_build(path: Path, *, kind: str, digest: str, build: Callable[[], None]) -> Container:
    """Open `path` with every byte held against its checksum; what is absent or damaged is built there first.

    Args:
        path: where it lies.
        kind: what it must be.
        digest: which one it must be.
        build: writes it to `path`.

    Raises:
        IntegrityViolation: what was just built is damaged again.
    """
    try:
        return _whole(path, kind, digest)
    except (FileNotFoundError, IntegrityViolation):
        build()
    return _whole(path, kind, digest)


def _whole(path: Path, kind: str, digest: str) -> Container:
    container = open_container(path, kind=kind, digest=digest)
    container.verify()
    return container


def _header(path: Path, view: memoryview) -> tuple[Mapping[str, Json], int]:
    start = len(_MAGIC) + _LENGTH.size
    length, sha256 = _LENGTH.unpack(view[len(_MAGIC) : start])
    if view[: len(_MAGIC)] != _MAGIC or start + length > len(view):
        raise IntegrityViolation(f"{path}: not an index of repairlab", repair=_REPAIR)
    text = bytes(view[start : start + length])
    if hashlib.sha256(text).digest() != sha256:
        raise IntegrityViolation(f"{path}: the header differs from its digest", repair=_REPAIR)
    try:
        header = json.loads(text)
    except ValueError as error:
        raise IntegrityViolation(f"{path}: unreadable header ({error})", repair=_REPAIR) from error
    if not isinstance(header, dict):
        raise IntegrityViolation(f"{path}: unreadable header", repair=_REPAIR)
    return header, start + length
