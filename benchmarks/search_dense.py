"""Dense search against the time that reading the vectors takes: see search_bench.py.

There are two floors, each the fastest of many passes over the same bytes: a sum of their bits on one
core, which is all that a search on one thread can reach, and the faster of that and numpy's product on
all cores. Ours is a whole answer: candidates, exact scores, the best 50 files. Passes alternate, so that
a busy machine slows all, and each finds its vectors in memory, not in the processor's caches.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

import faiss
import numpy as np

from repairlab.contract.controls import SharedControls
from repairlab.search.cache import Cache
from repairlab.search.chunks import ChunkRules, CorpusChunks, distinct_digests
from repairlab.search.corpus import build_corpus
from repairlab.search.dense import DenseIndex, embed_corpus
from repairlab.search.vectors import VectorStore, unit_vector
from search_trees import MemoryTree

TARGET = 2.1
FILES = 50


def files_of(count: int) -> MemoryTree:
    """As many one-line files as there shall be vectors."""
    return MemoryTree([(f"{number:06}.py", b"file = %d\n" % number) for number in range(count)])


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


def query_seconds(
    controls: SharedControls, folder: Path, count: int, rounds: int
) -> tuple[float, float, float]:
    """The floors of one core and of all, and an answer of ours: least elapsed seconds over all rounds."""
    dimensions = controls.dense.dimensions
    embedder = Chance(dimensions)
    cache = Cache(folder / "vectors")
    corpus = build_corpus(files_of(count), "", "python", controls.corpus, cache=folder / "corpora")
    chunks = CorpusChunks(corpus, ChunkRules.of(controls.dense), cache)
    store = VectorStore(cache, {"key": "chance"}, dimensions)
    embed_corpus(chunks, store, embedder)
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
    one, every = min(spent["sum of bits"]), min(spent["numpy product, all cores"])
    return one, min(one, every), min(spent["ours, best 50 files"])


def seconds(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin
