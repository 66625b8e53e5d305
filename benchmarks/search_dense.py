"""Dense search against the time that reading the vectors takes, and embeddings made against distinct chunks.

    python benchmarks/search_dense.py [--vectors 20000] [--rounds 40] [REPOSITORY COMMIT [COMMIT ...]]

The floor is the fastest of several passes over the same bytes: a sum of their bits on one core, and numpy's
matrix-vector product on all cores. Ours is a whole answer on one core: candidates, exact scores, the best 50
files. Passes alternate, so that a busy machine slows all, and each finds its vectors in memory, not in
the processor's caches. Given a bare REPOSITORY, its COMMITs are prepared one after the other with an embedder
that only counts. The exit status is 1 where a target is missed.
"""

from __future__ import annotations

import argparse
import hashlib
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import faiss
import numpy as np

from repairlab.contract.controls import SharedControls
from repairlab.contract.strict import load
from repairlab.repositories.mirrors import Mirror
from repairlab.search.cache import Cache
from repairlab.search.chunks import ChunkRules, CorpusChunks, distinct_digests
from repairlab.search.corpus import build_corpus
from repairlab.search.dense import DenseIndex, embed_corpus
from repairlab.search.vectors import VectorStore, unit_vector

TARGET = 2.1
FILES = 50


class Entry(NamedTuple):
    """One file of a tree in memory."""

    path: str
    mode: str
    blob_id: str
    size: int


class Tree:
    """As many one-line files as there shall be vectors."""

    def __init__(self, files: int) -> None:
        texts = [b"file = %d\n" % number for number in range(files)]
        self.blobs = {hashlib.sha1(b"blob %d\0" % len(text) + text).hexdigest(): text for text in texts}

    def entries(self, _commit: str) -> Sequence[Entry]:
        return [
            Entry(f"{n:06}.py", "100644", blob, len(text))
            for n, (blob, text) in enumerate(self.blobs.items())
        ]

    def read_blobs(self, ids: Sequence[str]) -> Iterable[tuple[str, bytes]]:
        return [(name, self.blobs[name]) for name in ids]


class Chance:
    """Gives random directions, and counts."""

    def __init__(self, dimensions: int) -> None:
        self.dimensions = dimensions
        self.made = 0
        self._chance = np.random.default_rng(0)

    def embed_documents(self, texts: Sequence[str]) -> list[Sequence[float]]:
        self.made += len(texts)
        return list(self._chance.standard_normal((len(texts), self.dimensions)))

    def embed_query(self, text: str) -> Sequence[float]:
        return self.embed_documents([text])[0]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("repository", type=Path, nargs="?")
    parser.add_argument("commits", nargs="*")
    parser.add_argument("--vectors", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--language", choices=("python", "go"), default="python")
    options = parser.parse_args()
    controls = load(SharedControls, Path(__file__).resolve().parents[1] / "contracts" / "shared.toml")
    with tempfile.TemporaryDirectory() as name:
        missed = query_time(controls, Path(name), options.vectors, options.rounds)
        if options.repository is not None:
            mirror = Mirror("benchmark", options.repository)
            missed += preparation(controls, Path(name), mirror, options.commits, options.language)
    return 1 if missed else 0


def query_time(controls: SharedControls, folder: Path, count: int, rounds: int) -> int:
    """Print the time of a query beside the floor; 1 if the target is missed."""
    dimensions = controls.dense.dimensions
    embedder = Chance(dimensions)
    cache = Cache(folder / "vectors")
    corpus = build_corpus(Tree(count), "", "python", controls.corpus, cache=folder / "corpora")
    chunks = CorpusChunks(corpus, ChunkRules.of(controls.dense), cache)
    store = VectorStore(cache, {"key": "chance"}, dimensions)
    stored = seconds(lambda: embed_corpus(chunks, store, embedder))
    opened = statistics.median(seconds(lambda: DenseIndex(chunks, store)) for _ in range(3))
    index = DenseIndex(chunks, store)
    matrix = store.matrix(distinct_digests(chunks.all))
    query = unit_vector(embedder.embed_query(""), dimensions, "the query")
    flat = faiss.IndexFlatIP(dimensions)
    flat.add(matrix)

    def faiss_alone() -> None:
        faiss.omp_set_num_threads(1)
        flat.search(query.reshape(1, -1), FILES)

    passes: dict[str, Callable[[], object]] = {
        "sum of bits": lambda: np.bitwise_xor.reduce(matrix.view(np.uint64), axis=None),
        "numpy product, all cores": lambda: matrix @ query,
        "faiss alone, one thread": faiss_alone,
        "ours, best 50 files": lambda: index.best_files(query, FILES),
        "ours, best 5 chunks": lambda: index.best_chunks(query, 5),
    }
    evict = np.zeros(2**26, dtype=np.float32)  # 256 MB: between two queries of an agent caches go cold
    spent: dict[str, list[float]] = {title: [] for title in passes}
    for _ in range(rounds):
        for title, work in passes.items():
            evict += 1.0
            spent[title].append(seconds(work))
    print(f"{count} vectors of {dimensions}: stored in {stored:.1f} s, index opened in {opened:.2f} s")
    for title, times in spent.items():
        best, middle = min(times) * 1e3, statistics.median(times) * 1e3
        print(f"  {title:26} best {best:6.2f} ms, median {middle:6.2f} ms")
    floor = min(min(spent["sum of bits"]), min(spent["numpy product, all cores"]))
    ratio = min(spent["ours, best 50 files"]) / floor
    print(
        f"  {matrix.nbytes / floor / 1e9:.1f} GB/s at the floor; ours / floor {ratio:.2f} (target {TARGET})"
    )
    return int(ratio > TARGET)


def preparation(
    controls: SharedControls, folder: Path, mirror: Mirror, commits: Sequence[str], language: str
) -> int:
    """Print what preparing each commit costs; 1 if any text was embedded twice or none at all."""
    cache = Cache(folder / "commits")
    embedder = Chance(controls.dense.dimensions)
    store = VectorStore(cache, {"key": "counts"}, controls.dense.dimensions)
    distinct: set[str] = set()
    for commit in commits:
        corpus = build_corpus(mirror, commit, language, controls.corpus, cache=folder / "corpora")
        begin = time.perf_counter()
        chunks = CorpusChunks(corpus, ChunkRules.of(controls.dense), cache)
        cut = time.perf_counter() - begin
        warm = seconds(lambda c=corpus: CorpusChunks(c, ChunkRules.of(controls.dense), cache))
        before = embedder.made
        distinct.update(distinct_digests(chunks.all))
        embedded = seconds(lambda c=chunks: embed_corpus(c, store, embedder))
        opened = seconds(lambda c=chunks: DenseIndex(c, store))
        print(
            f"{commit[:12]}: {len(corpus.files)} files, {len(chunks.all)} chunks cut in {cut:.2f} s "
            f"(again {warm:.2f} s), {embedder.made - before} new vectors in {embedded:.2f} s, "
            f"index opened in {opened:.2f} s"
        )
    print(f"{embedder.made} embeddings for {len(distinct)} distinct chunk texts")
    return int(embedder.made != len(distinct))


def seconds(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


if __name__ == "__main__":
    sys.exit(main())
