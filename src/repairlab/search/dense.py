"""Dense retrieval: the chunks whose vectors are nearest to the query's, by inner product.

Candidates are found among all vectors in single precision. Their scores are then computed anew in double
precision and rounded to six digits, and only a chunk that no vector outside the candidates can reach counts:
single-precision sums differ in the last bits between processors, and no order may rest on them.
"""

from __future__ import annotations

import hashlib
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from repairlab.contract.canonical import digest_of, sha256_hex
from repairlab.search.chunks import CorpusChunk, CorpusChunks, cut, distinct_digests
from repairlab.search.corpus import Corpus
from repairlab.search.dense_flat import FlatIndex
from repairlab.search.vectors import Document, Embedder, Vector, VectorStore

_FIRST_CANDIDATES = 64


@dataclass(frozen=True, slots=True)
class ScoredChunk:
    """One chunk of an answer.

    Attributes:
        file: id of the file in the corpus.
        path: the file.
        start: number of the chunk's first line, from 1.
        end: number of its last line.
        score: inner product with the query, rounded to six digits; -1 to 1.
    """

    file: int
    path: str
    start: int
    end: int
    score: float


def documents_of(chunks: CorpusChunks) -> Iterator[Document]:
    """The distinct chunk texts of a corpus, each named after the first place where it stands."""
    seen: set[str] = set()
    for number, file in enumerate(chunks.corpus.files):
        for place, text in cut(chunks.corpus.data(number), chunks.rules):
            if place.digest not in seen:
                seen.add(place.digest)
                yield Document(place.digest, text, f"{file.path}, lines {place.start} to {place.end}")


def embed_corpus(chunks: CorpusChunks, store: VectorStore, embedder: Embedder) -> int:
    """Embed every chunk text of a corpus that has no vector yet; how many that were.

    Raises:
        InfrastructureFailure: see `VectorStore.add`.
    """
    missing = frozenset(store.missing(distinct_digests(chunks.all)))
    if not missing:
        return 0
    return store.add((doc for doc in documents_of(chunks) if doc.digest in missing), embedder)


class DenseIndex:
    """The vectors of a corpus, in memory.

    Args:
        chunks: the chunks of the corpus.
        store: holds a vector for each of their texts.

    Raises:
        RefuseToStart: a vector is missing.
    """

    __slots__ = ("_chunks", "_holders", "_index", "_rows", "digest")

    def __init__(self, chunks: CorpusChunks, store: VectorStore) -> None:
        digests = distinct_digests(chunks.all)
        matrix = store.matrix(digests)
        self._chunks = chunks
        self._holders = _holders(chunks.all, digests)
        self._index = FlatIndex(matrix)
        self.digest = digest_of(
            {
                "corpus": chunks.corpus.digest,
                "chunks": _chunks_digest(chunks.all),
                "table": store.table.digest,
                "vectors": hashlib.sha256(np.ascontiguousarray(matrix, dtype="<f4").data).hexdigest(),
            }
        )

    @property
    def corpus(self) -> Corpus:
        """What is searched."""
        return self._chunks.corpus

    def best_chunks(self, query: Vector, count: int) -> tuple[ScoredChunk, ...]:
        """The `count` best chunks, ties by path bytes and first line; fewer where the corpus has fewer.

        Chunks of generated files stand behind all others.
        """
        ranked = self._ranked(query, lambda settled: len(settled) >= count)
        return tuple(self._scored(position, score) for position, score in ranked[:count])

    def best_files(self, query: Vector, count: int) -> tuple[ScoredChunk, ...]:
        """The best chunk of each of the `count` best files, in the order of these chunks."""

        def enough(settled: Sequence[tuple[int, float]]) -> bool:
            return len({self._chunks.all[position].file for position, _ in settled}) >= count

        best: dict[int, tuple[int, float]] = {}
        for position, score in self._ranked(query, enough):
            best.setdefault(self._chunks.all[position].file, (position, score))
        return tuple(self._scored(position, score) for position, score in islice(best.values(), count))

    def _ranked(
        self, query: Vector, enough: Callable[[Sequence[tuple[int, float]]], bool]
    ) -> list[tuple[int, float]]:
        """The first (position of a chunk, score) of all, as many as are `enough` or as there are."""
        generated, chunks = self.corpus.generated, self._chunks.all
        wanted, rough = _FIRST_CANDIDATES, self._index.scores(query)
        while True:
            rows, scores, bound = self._index.candidates(query, rough, wanted)
            settled = sorted(
                (
                    (p, s)
                    for row, s in zip(rows, scores, strict=True)
                    if s > bound
                    for p in self._holders[row]
                ),
                key=lambda pair: (chunks[pair[0]].file in generated, -pair[1], pair[0]),
            )
            if (
                enough([pair for pair in settled if chunks[pair[0]].file not in generated])
                or wanted >= self._index.size
            ):
                return settled
            wanted *= 4

    def _scored(self, position: int, score: float) -> ScoredChunk:
        file, place = self._chunks.all[position]
        return ScoredChunk(file, self.corpus.files[file].path, place.start, place.end, score)


def _holders(chunks: Sequence[CorpusChunk], digests: Sequence[str]) -> tuple[tuple[int, ...], ...]:
    """For each distinct text the positions of the chunks that have it, ascending."""
    positions: defaultdict[str, list[int]] = defaultdict(list)
    for position, chunk in enumerate(chunks):
        positions[chunk.place.digest].append(position)
    return tuple(tuple(positions[digest]) for digest in digests)


def _chunks_digest(chunks: Sequence[CorpusChunk]) -> str:
    numbers = array("I")
    texts = bytearray()
    for chunk in chunks:
        numbers.extend((chunk.file, chunk.place.start, chunk.place.end))
        texts += bytes.fromhex(chunk.place.digest)
    return sha256_hex(np.asarray(numbers, dtype="<u4").tobytes() + bytes(texts))
