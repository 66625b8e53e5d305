"""Builds every index of many commits of one repository: cold, warm, and swept through one cache.

    python benchmarks/search_sweep.py REPOSITORY COMMITS [--language python]

REPOSITORY is a bare clone, COMMITS a file with one commit a line. Each commit is indexed in the order of the
file into one cache, vectors of the feature-hashing embedder included; then all are opened again; the last is
also built into an empty cache, and must give the same bytes. Told are CPU seconds without those of the
embedder, distinct bytes over all bytes (the bound that a cache by blob can reach), and embeddings made
against distinct chunk texts. The exit status is 1 if a text was embedded twice or never, an index differs, or
something was derived more than 1.1 times for a blob.
"""

from __future__ import annotations

import argparse
import hashlib
import resource
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from repairlab.contract.controls import SharedControls
from repairlab.contract.strict import load
from repairlab.contract.task import Language
from repairlab.hosts.emulator.engines.hashing import DIMENSIONS, embed
from repairlab.repositories.mirrors import Mirror
from repairlab.search.chunks import ChunkRules, CorpusChunks, distinct_digests
from repairlab.search.dense import DenseIndex, embed_corpus
from repairlab.search.toolset import SearchPlaces, Toolset, open_toolset
from repairlab.search.vectors import VectorStore

TARGET = 1.1
ROOT = Path(__file__).resolve().parents[1]


class Counting:
    """The feature-hashing embedder; counts how often each text is asked for, and the time that it takes."""

    def __init__(self) -> None:
        self.asked: dict[bytes, int] = {}
        self.seconds = 0.0

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        begin = cpu()
        for text in texts:
            digest = hashlib.sha256(text.encode()).digest()
            self.asked[digest] = self.asked.get(digest, 0) + 1
        vectors = [embed(text) for text in texts]
        self.seconds += cpu() - begin
        return vectors

    def embed_query(self, text: str) -> list[float]:
        return embed(text)


@dataclass(slots=True)
class Sweep:
    """What is summed over commits."""

    all_bytes: int = 0
    blobs: dict[str, int] = field(default_factory=dict)
    texts: set[str] = field(default_factory=set)
    chunks: int = 0
    digests: dict[str, str] = field(default_factory=dict)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("repository", type=Path)
    parser.add_argument("commits", type=Path)
    parser.add_argument("--language", choices=("python", "go"), default="python")
    options = parser.parse_args()
    language: Language = options.language
    controls = load(SharedControls, ROOT / "contracts" / "shared.toml")
    commits = list(dict.fromkeys(options.commits.read_text().split()))
    mirror, embedder, sweep = Mirror("benchmark", options.repository), Counting(), Sweep()
    with tempfile.TemporaryDirectory() as name:
        places = SearchPlaces(Path(name) / "swept")
        spent = [build(controls, mirror, commit, language, places, embedder, sweep) for commit in commits]
        warm = [build(controls, mirror, commit, language, places, embedder, None) for commit in commits]
        alone = SearchPlaces(Path(name) / "alone")
        cold = build(controls, mirror, commits[-1], language, alone, Counting(), None)
        made = {table.folder.rsplit("-", 1)[0]: table.entries for table in places.blobs.stats()}
        same = contents(alone.corpora, alone.indexes) <= contents(places.corpora, places.indexes)
    return report(spent, warm, cold, sweep, made, embedder, same=same)


def build(
    controls: SharedControls,
    mirror: Mirror,
    commit: str,
    language: Language,
    places: SearchPlaces,
    embedder: Counting,
    sweep: Sweep | None,
) -> float:
    """CPU seconds of all indexes of a commit but for what the embedder took."""
    begin, embedding = cpu(), embedder.seconds
    tools = open_toolset(mirror, commit, language, controls, places)
    chunks = CorpusChunks(tools.corpus, ChunkRules.of(controls.dense), places.blobs)
    store = VectorStore(places.blobs, {"key": "hashing"}, DIMENSIONS)
    embed_corpus(chunks, store, embedder)
    index = DenseIndex(chunks, store)
    spent = cpu() - begin - (embedder.seconds - embedding)
    if sweep is not None:
        note(sweep, commit, tools, chunks, index)
        print(f"{commit[:12]}: {spent:6.2f} s, {len(chunks.all)} chunks", flush=True)
    return spent


def note(sweep: Sweep, commit: str, tools: Toolset, chunks: CorpusChunks, index: DenseIndex) -> None:
    sizes = {file.blob_id: file.size for file in tools.corpus.files}
    sweep.all_bytes += sum(file.size for file in tools.corpus.files)
    sweep.blobs.update(sizes)
    sweep.texts.update(distinct_digests(chunks.all))
    sweep.chunks += len(chunks.all)
    sweep.digests[commit] = index.digest


def report(
    spent: Sequence[float],
    warm: Sequence[float],
    cold: float,
    sweep: Sweep,
    entries: Mapping[str, int],
    embedder: Counting,
    *,
    same: bool,
) -> int:
    distinct = sum(sweep.blobs.values())
    bound = distinct / sweep.all_bytes
    often = sum(count > 1 for count in embedder.asked.values())
    made = sum(embedder.asked.values())
    most = max(count for table, count in entries.items() if table != "vectors") / len(sweep.blobs)
    others = sum(spent[1:]) / max(1, len(spent) - 1)
    print(f"{len(spent)} commits, {sweep.all_bytes / 1e6:.1f} MB of source", end=", ")
    print(f"{distinct / 1e6:.1f} MB of it distinct: {bound:.3f}")
    print(f"{len(sweep.blobs)} distinct blobs; entries by blob made: {dict(entries)}")
    print(f"most entries of a table for each distinct blob: {most:.3f} (target {TARGET})")
    print(f"first {spent[0]:.2f} s, the others {others:.2f} s each, all {sum(spent):.1f} s", end="; ")
    print(f"opened again {sum(warm) / len(warm):.2f} s each; the last one alone, cold, {cold:.2f} s")
    print(f"swept over {len(spent)} times cold: {sum(spent) / (len(spent) * cold):.3f}")
    print(f"{made} embeddings for {len(sweep.texts)} distinct texts of {sweep.chunks} chunks; {often} twice")
    print(f"the last commit, swept and alone: {'the same bytes' if same else 'OTHER BYTES'}")
    return int(made != len(sweep.texts) or often > 0 or not same or most > TARGET)


def contents(*folders: Path) -> set[tuple[str, str]]:
    """Name and SHA-256 of every file."""
    return {
        (path.name, hashlib.sha256(path.read_bytes()).hexdigest())
        for folder in folders
        for path in folder.iterdir()
    }


def cpu() -> float:
    """CPU seconds so far, of this process and of those that it waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


if __name__ == "__main__":
    sys.exit(main())
