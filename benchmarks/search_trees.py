"""What the benchmarks of search run over: embedded repositories, and clones of real ones."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from repairlab.contract.task import Language
from repairlab.repositories import embedded
from repairlab.repositories.mirrors import Mirror
from repairlab.repositories.sources import Sources
from repairlab.search.blobs import BlobSource

REAL: tuple[tuple[str, str, Language, str], ...] = (
    ("sympy", "https://github.com/sympy/sympy", "python", "b9ee27fc2de3152d9025d060769c554de6fb02f2"),
    ("golang-tools", "https://github.com/golang/tools", "go", "a8364ae7c0331c8da7b46501e5fd824a15a68641"),
)


class Entry(NamedTuple):
    """One file of a tree in memory."""

    path: str
    mode: str
    blob_id: str
    size: int


class MemoryTree:
    """Files in memory, with git's object names."""

    def __init__(self, files: Sequence[tuple[str, bytes]]) -> None:
        named = [
            (path, data, hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()) for path, data in files
        ]
        self._entries = [Entry(path, "100644", name, len(data)) for path, data, name in named]
        self._blobs = {name: data for _, data, name in named}

    def entries(self, _commit: str) -> Sequence[Entry]:
        return self._entries

    def read_blobs(self, ids: Sequence[str]) -> Iterable[tuple[str, bytes]]:
        return [(name, self._blobs[name]) for name in ids]


@dataclass(frozen=True, slots=True)
class Subject:
    """One commit to be searched."""

    name: str
    language: Language
    source: BlobSource
    commit: str


def subjects(sources: str) -> list[Subject]:
    """The embedded repositories; the real ones where `sources` is a template over their names."""
    found = [embedded_subject(name, language) for name, language in EMBEDDED]
    if sources:
        places = Sources(sources)
        found += [
            Subject(name, language, Mirror(url, Path(places.locate(url))), commit)
            for name, url, language, commit in REAL
        ]
    return found


EMBEDDED: tuple[tuple[str, Language], ...] = (
    ("almanak", "python"),
    ("ledgerline", "python"),
    ("millrace", "go"),
)


def embedded_subject(name: str, language: Language) -> Subject:
    tree = Path(embedded.__file__).parent / "embedded" / name / "tree"
    files = sorted((path.relative_to(tree).as_posix(), path) for path in tree.rglob("*") if path.is_file())
    return Subject(name, language, MemoryTree([(path, file.read_bytes()) for path, file in files]), "")
