"""Corpora for the tests of this room: from real git repositories, and from memory where many are needed."""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from repairlab.contract.controls import Corpus as CorpusRules
from repairlab.contract.controls import Search, SharedControls, View
from repairlab.contract.strict import load
from repairlab.contract.task import Language
from repairlab.repositories.mirrors import Mirror
from repairlab.search.corpus import Corpus, build_corpus
from repairlab.search.exact import ExactSearch

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def controls() -> SharedControls:
    return load(SharedControls, ROOT / "contracts" / "shared.toml")


@pytest.fixture(scope="session")
def rules(controls: SharedControls) -> CorpusRules:
    return controls.corpus


@dataclass(frozen=True)
class MemoryEntry:
    path: str
    mode: str
    blob_id: str
    size: int


@dataclass(frozen=True)
class MemorySource:
    """A tree held in memory, with git's object names: for properties over many trees."""

    files: Mapping[str, bytes]
    blobs: dict[str, bytes] = field(default_factory=dict)

    def entries(self, commit: str) -> Sequence[MemoryEntry]:
        entries = []
        for path, data in self.files.items():
            name = hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
            self.blobs[name] = data
            entries.append(MemoryEntry(path, "100644", name, len(data)))
        return entries

    def read_blobs(self, ids: Sequence[str]) -> Iterable[tuple[str, bytes]]:
        return [(name, self.blobs[name]) for name in ids]


GitTree = Callable[[Mapping[str | bytes, bytes | tuple[str, bytes]]], tuple[Mirror, str]]


@pytest.fixture
def git_tree(tmp_path: Path) -> GitTree:
    """Commits a tree, given as path -> bytes or (mode, bytes), to a bare repository; no checkout is made."""

    def commit(files: Mapping[str | bytes, bytes | tuple[str, bytes]]) -> tuple[Mirror, str]:
        bare = tmp_path / "mirror.git"
        subprocess.run(["git", "init", "--quiet", "--bare", str(bare)], check=True)
        stream = [b"commit refs/heads/main\ncommitter T <t@localhost> 0 +0000\ndata 0\n"]
        for path, what in files.items():
            mode, data = ("100644", what) if isinstance(what, bytes) else what
            name = path if isinstance(path, bytes) else path.encode()
            quoted = b'"%s"' % b"".join(b"\\%03o" % byte for byte in name)
            stream.append(b"M %s inline %s\ndata %d\n%s\n" % (mode.encode(), quoted, len(data), data))
        git = ["git", "-C", str(bare)]
        subprocess.run([*git, "fast-import", "--quiet"], input=b"".join(stream), check=True)
        found = subprocess.run([*git, "rev-parse", "refs/heads/main"], capture_output=True, check=True)
        return Mirror("test", bare), found.stdout.decode().strip()

    return commit


GitCorpus = Callable[..., Corpus]


@pytest.fixture
def git_corpus(git_tree: GitTree, rules: CorpusRules, tmp_path: Path) -> GitCorpus:
    def build(
        files: Mapping[str | bytes, bytes | tuple[str, bytes]],
        language: Language = "python",
        changed: CorpusRules | None = None,
    ) -> Corpus:
        mirror, commit = git_tree(files)
        return build_corpus(mirror, commit, language, changed or rules, cache=tmp_path / "cache")

    return build


@pytest.fixture
def memory_corpus(rules: CorpusRules, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Corpus]:
    cache = tmp_path_factory.mktemp("cache")

    def build(files: Mapping[str, bytes]) -> Corpus:
        return build_corpus(MemorySource(files), "", "python", rules, cache=cache)

    return build


@pytest.fixture
def memory_source() -> type[MemorySource]:
    return MemorySource


@pytest.fixture(scope="session")
def exact(controls: SharedControls) -> Callable[..., ExactSearch]:
    def make(corpus: Corpus, search: Search = controls.search, view: View = controls.view) -> ExactSearch:
        return ExactSearch(corpus, search, view, controls.exact)

    return make
