"""The BM25 index of a corpus: for each token its chunks and what each adds to the score.

The scores are those of Okapi BM25 as the package rank-bm25 computes them (class ``BM25Okapi``), operation by
operation, so that they agree to the last bit:

- idf(t) = ln(N - n + 0.5) - ln(n + 0.5) for N chunks, n of which hold t; a negative one is replaced by
  epsilon times the average of all of them, summed in the order in which tokens first stand in the corpus;
- impact(t, c) = idf(t) * (f * (k1 + 1) / (f + k1 * (1 - b + b * |c| / average length))).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from repairlab.contract.canonical import digest_of
from repairlab.contract.controls import Lexical
from repairlab.contract.errors import RefuseToStart
from repairlab.search.cache import Cache, code_of
from repairlab.search.chunks import ChunkRules
from repairlab.search.container import Container, open_or_build, write
from repairlab.search.corpus import Corpus
from repairlab.search.fuzzy import FuzzyIndex, fuzzy_sections, read_table
from repairlab.search.lexical_blob import BlobTokens, code, tokens_by_blob

_KIND = "lexical"
_TOKEN_BITS, _CHUNK_BITS, _COUNT_BITS = 24, 24, 16

Numbers = NDArray[np.uint32]
Scores = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Postings:
    """Every pair of a token and a chunk that holds it, by token, then chunk.

    Attributes:
        vocabulary: the tokens, by first place in the corpus; a token's number is its position.
        bounds: where each token's pairs begin, shape (tokens + 1,).
        chunks: number of the chunk, shape (pairs,).
        counts: how often the token stands in it.
        lengths: tokens of each chunk, repeats included, shape (chunks,).
    """

    vocabulary: list[str]
    bounds: NDArray[np.int64]
    chunks: NDArray[np.int64]
    counts: NDArray[np.int64]
    lengths: NDArray[np.int64]


class LexicalIndex:
    """An opened index. Immutable.

    Attributes:
        vocabulary: the tokens by number.
        numbers: the number of each token.
        idf: inverse document frequency by token, shape (tokens,).
        bounds: where each token's postings begin, shape (tokens + 1,).
        chunks: chunk of each posting, ascending for a token, shape (postings,).
        impacts: what each posting adds to its chunk's score, shape (postings,).
        starts: first line of each chunk, ends: its last one; shape (chunks,).
        file_bounds: first chunk of each file, shape (files + 1,).
        filled_files: files with at least one chunk, ascending.
        similar: finds the tokens that resemble a text.
    """

    __slots__ = (
        "_container",
        "bounds",
        "chunks",
        "ends",
        "file_bounds",
        "filled_files",
        "idf",
        "impacts",
        "numbers",
        "similar",
        "starts",
        "vocabulary",
    )

    def __init__(self, container: Container) -> None:
        self._container = container
        text = str(container.section("vocabulary"), "utf-8")
        self.vocabulary = text.split("\n") if text else []
        self.numbers = {token: number for number, token in enumerate(self.vocabulary)}
        self.bounds = np.frombuffer(container.section("bounds"), np.int64)
        self.chunks: Numbers = np.frombuffer(container.section("chunks"), np.uint32)
        self.impacts: Scores = np.frombuffer(container.section("impacts"), np.float64)
        self.idf: Scores = np.frombuffer(container.section("idf"), np.float64)
        self.starts: Numbers = np.frombuffer(container.section("starts"), np.uint32)
        self.ends: Numbers = np.frombuffer(container.section("ends"), np.uint32)
        self.file_bounds = np.frombuffer(container.section("file-bounds"), np.int64)
        self.filled_files = np.flatnonzero(np.diff(self.file_bounds))
        self.similar = FuzzyIndex(self.vocabulary, read_table(container, "fuzzy"))

    def content(self) -> str:
        """SHA-256 of everything that the index holds; see `repairlab.search.container.Container.content`."""
        return self._container.content()


def build_lexical(
    corpus: Corpus, rules: ChunkRules, controls: Lexical, *, cache: Cache, folder: Path
) -> LexicalIndex:
    """The index of `corpus`, opened from `folder`; built there first if it is absent or damaged.

    Raises:
        InfrastructureFailure: cache or folder cannot be written.
        RefuseToStart: more tokens or chunks than an index can number.
    """
    digest = digest_of(
        {
            "corpus": corpus.digest,
            "code": [code(), code_of(__name__, "repairlab.search.fuzzy")],
            "chunks": [rules.lines, rules.overlap_lines, rules.characters],
            "bm25": [controls.k1, controls.b, controls.epsilon],
        }
    )
    path = folder / f"{digest}.lexical"

    def build() -> None:
        blobs = tokens_by_blob(corpus, rules, cache)
        sections = _sections([blobs[file.blob_id] for file in corpus.files], controls)
        write(path, kind=_KIND, digest=digest, facts={"corpus": corpus.digest}, sections=sections)

    return LexicalIndex(open_or_build(path, kind=_KIND, digest=digest, build=build))


def _sections(files: list[BlobTokens], controls: Lexical) -> dict[str, bytes | memoryview]:
    postings = merge(files)
    idf = inverse_frequencies(np.diff(postings.bounds), len(postings.lengths), controls.epsilon)
    per_file = np.fromiter((len(file.starts) for file in files), np.int64, len(files))
    return {
        "vocabulary": "\n".join(postings.vocabulary).encode(),
        "bounds": postings.bounds.tobytes(),
        "chunks": postings.chunks.astype(np.uint32).tobytes(),
        "impacts": impacts(postings, idf, controls).tobytes(),
        "idf": idf.tobytes(),
        "starts": _joined(file.starts for file in files).astype(np.uint32).tobytes(),
        "ends": _joined(file.ends for file in files).astype(np.uint32).tobytes(),
        "file-bounds": np.concatenate(([0], np.cumsum(per_file))).astype(np.int64).tobytes(),
        **fuzzy_sections(postings.vocabulary, "fuzzy"),
    }


def merge(files: Iterable[BlobTokens]) -> Postings:
    """The postings of all chunks of `files`, in their order.

    Raises:
        RefuseToStart: more than 2**24 tokens or chunks, or a token 2**16 times in one chunk.
    """
    files = list(files)
    numbering: defaultdict[str, int] = defaultdict()
    numbering.default_factory = numbering.__len__
    tokens = _joined(
        np.fromiter(map(numbering.__getitem__, file.vocabulary), np.int64, len(file.vocabulary))[file.numbers]
        for file in files
    )
    lengths = _joined(file.lengths for file in files)
    distinct = _joined(file.distinct for file in files)
    counts = _joined(file.counts for file in files)
    _check_limits(len(numbering), len(lengths), int(counts.max(initial=0)))
    # One number a posting: sorting these sorts by token, then chunk.
    keys = (tokens.astype(np.uint64) << np.uint64(_CHUNK_BITS + _COUNT_BITS)) | counts.astype(np.uint64)
    keys |= np.repeat(np.arange(len(lengths), dtype=np.uint64), distinct) << np.uint64(_COUNT_BITS)
    keys.sort()
    sizes = np.bincount(tokens, minlength=len(numbering))
    return Postings(
        list(numbering),
        np.concatenate(([0], np.cumsum(sizes))).astype(np.int64),
        ((keys >> np.uint64(_COUNT_BITS)) & np.uint64(2**_CHUNK_BITS - 1)).astype(np.int64),
        (keys & np.uint64(2**_COUNT_BITS - 1)).astype(np.int64),
        lengths,
    )


def _check_limits(tokens: int, chunks: int, count: int) -> None:
    for what, number, bits in (
        ("tokens", tokens, _TOKEN_BITS),
        ("chunks", chunks, _CHUNK_BITS),
        ("repeats of a token in a chunk", count, _COUNT_BITS),
    ):
        if number >= 2**bits:
            raise RefuseToStart(f"{number} {what}: a lexical index holds fewer than {2**bits}")


def _joined(pieces: Iterable[NDArray[np.integer]]) -> NDArray[np.int64]:
    listed = list(pieces)
    return np.concatenate(listed).astype(np.int64) if listed else np.zeros(0, np.int64)


def inverse_frequencies(frequencies: NDArray[np.int64], chunks: int, epsilon: float) -> Scores:
    """The idf of every token, from the number of chunks that hold it (tokens by first place)."""
    if not len(frequencies):
        return np.zeros(0)
    distinct, places = np.unique(frequencies, return_inverse=True)
    table = [math.log(chunks - n + 0.5) - math.log(n + 0.5) for n in distinct.tolist()]
    idf = np.array(table)[places]
    # A running sum adds one by one, as the reference does; a plain sum would add in pairs.
    average = float(np.cumsum(idf)[-1]) / len(idf)
    return np.where(idf < 0, epsilon * average, idf)


def impacts(postings: Postings, idf: Scores, controls: Lexical) -> Scores:
    """What each posting adds to the score of its chunk."""
    if not len(postings.chunks):
        return np.zeros(0)
    average = int(postings.lengths.sum()) / len(postings.lengths)
    norms = controls.k1 * (1 - controls.b + controls.b * postings.lengths / average)
    gains = postings.counts * (controls.k1 + 1) / (postings.counts + norms[postings.chunks])
    return np.repeat(idf, np.diff(postings.bounds)) * gains
