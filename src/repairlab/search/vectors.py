"""Embedding vectors of documents, kept by model facts and text, and of one cell's queries.

The document form is the text of the chunk and nothing else: no path, so that equal texts have one vector in
every commit. The query form is the one that Qwen3's embedding models are trained with.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from repairlab.contract.canonical import Json
from repairlab.contract.errors import InfrastructureFailure, RefuseToStart
from repairlab.search.cache import Cache, Table

DOCUMENT_FORM = "chunk-text"
_VERSION = "1"
"""Raised when the same reply of an embedder would be stored as another vector. Vectors are dear, so this is
no digest of source code."""

_TEXTS_A_CALL = 32
_VECTORS_A_PACK = 2048
"""What an interrupted preparation cannot lose: each pack is on disk before the next one is begun."""
_NORM_ERROR = 1e-5

Vector: TypeAlias = NDArray[np.float32]
"""Unit length, one dimension."""
Matrix: TypeAlias = NDArray[np.float32]
"""One vector a row."""


class Embedder(Protocol):
    """An embedding model that is ready to be asked."""

    def embed_documents(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """One vector a text, in their order."""

    def embed_query(self, text: str) -> Sequence[float]:
        """The vector of a query that is already in its form."""


def query_form(instruction: str, query: str) -> str:
    """The text that is embedded for `query`; there is no space behind ``Query:``."""
    return f"Instruct: {instruction}\nQuery:{query}"


def unit_vector(values: Sequence[float], dimensions: int, name: str) -> Vector:
    """`values` brought to unit length, as float32.

    Args:
        values: what an embedder gave.
        dimensions: how many numbers there must be.
        name: what they are the vector of, for the message.

    Raises:
        InfrastructureFailure: another length, a number that is not finite, or nothing but zeros (kind
            ``embedding-malformed``).
    """
    if len(values) != dimensions:
        raise _malformed(name, f"{len(values)} numbers, not {dimensions}")
    raw = np.asarray(values, dtype=np.float64)
    if not np.isfinite(raw).all():
        raise _malformed(name, f"number {int(np.flatnonzero(~np.isfinite(raw))[0]) + 1} is not finite")
    largest = float(np.abs(raw).max())
    if largest == 0.0:
        raise _malformed(name, "all numbers are zero")
    scaled = raw / largest  # so that no square overflows or vanishes
    vector: Vector = (scaled / np.sqrt(np.square(scaled).sum())).astype(np.float32)
    norm = float(np.sqrt(np.square(vector, dtype=np.float64).sum()))
    if abs(norm - 1.0) > _NORM_ERROR:
        raise _malformed(name, f"its length is {norm} after normalisation")
    return vector


def _malformed(name: str, fault: str) -> InfrastructureFailure:
    return InfrastructureFailure(f"the vector of {name} is malformed: {fault}", kind="embedding-malformed")


class Document(NamedTuple):
    """A text to be embedded.

    Attributes:
        digest: SHA-256 of the text.
        text: what is embedded, not empty.
        name: where it stands, for messages.
    """

    digest: str
    text: str
    name: str


class VectorStore:
    """The document vectors of one embedding model.

    Args:
        cache: where they are kept.
        facts: everything that identifies the model and how it is loaded; other facts share no vector.
        dimensions: numbers of a vector.
    """

    __slots__ = ("_cache", "dimensions", "table")

    def __init__(self, cache: Cache, facts: Json, dimensions: int) -> None:
        self._cache = cache
        self.dimensions = dimensions
        self.table = Table(
            "vectors", _VERSION, {"facts": facts, "dimensions": dimensions, "form": DOCUMENT_FORM}
        )

    def missing(self, digests: Iterable[str]) -> tuple[str, ...]:
        """Those texts that have no vector yet, ascending."""
        wanted = set(digests)
        return tuple(sorted(wanted - self._cache.get(self.table, wanted).keys()))

    def add(self, documents: Iterable[Document], embedder: Embedder) -> int:
        """Embed each text that has no vector yet, once, whoever else is adding; how many were embedded.

        Raises:
            InfrastructureFailure: a vector is malformed (kind ``embedding-malformed``, the message names the
                document), the embedder failed, or the cache cannot be written.
        """
        by_digest = {document.digest: document for document in documents}
        missing = self.missing(by_digest)
        made = 0

        def make(digests: Sequence[str]) -> Iterator[tuple[str, bytes]]:
            nonlocal made
            for pair in self._embedded([by_digest[digest] for digest in digests], embedder):
                made += 1
                yield pair

        for begin in range(0, len(missing), _VECTORS_A_PACK):
            pack = missing[begin : begin + _VECTORS_A_PACK]
            self._cache.get_or_make(self.table, pack, make, exclusive=True)
        return made

    def _embedded(self, documents: Sequence[Document], embedder: Embedder) -> Iterator[tuple[str, bytes]]:
        for begin in range(0, len(documents), _TEXTS_A_CALL):
            asked = documents[begin : begin + _TEXTS_A_CALL]
            vectors = embedder.embed_documents([document.text for document in asked])
            if len(vectors) != len(asked):
                raise InfrastructureFailure(
                    f"{len(vectors)} vectors came for {len(asked)} texts, from {asked[0].name} on",
                    kind="embedding-malformed",
                )
            for document, values in zip(asked, vectors, strict=True):
                vector = unit_vector(values, self.dimensions, document.name)
                yield document.digest, vector.astype("<f4").tobytes()

    def matrix(self, digests: Sequence[str]) -> Matrix:
        """The vectors of these texts, one a row, in their order; read from disk and checked.

        Raises:
            RefuseToStart: a text has no undamaged vector.
        """
        stored = self._cache.get(self.table, digests)
        absent = len(set(digests) - stored.keys())
        if absent:
            raise RefuseToStart(
                f"{absent} of {len(set(digests))} chunks have no vector in the cache",
                repair="prepare the study again: it embeds what is missing",
            )
        matrix = np.empty((len(digests), self.dimensions), dtype=np.float32)
        for row, digest in enumerate(digests):
            matrix[row] = np.frombuffer(stored[digest], dtype="<f4")
        return matrix


@dataclass(frozen=True, slots=True)
class QueryVector:
    """The vector of one query.

    Attributes:
        query: as the model wrote it.
        text: as it was embedded.
        vector: unit length.
    """

    query: str
    text: str
    vector: Vector

    def encoded(self) -> str:
        """The vector for a transcript: little-endian float32 in base 64; `decode_vector` reads it."""
        return base64.b64encode(self.vector.astype("<f4").tobytes()).decode("ascii")


def decode_vector(encoded: str) -> Vector:
    """The vector that `QueryVector.encoded` wrote, to the bit."""
    return np.frombuffer(base64.b64decode(encoded, validate=True), dtype="<f4").astype(np.float32)


class QueryVectors:
    """The query vectors of one cell: each distinct query is embedded once.

    Args:
        embedder: asked for what is not recorded.
        instruction: the frozen ``dense.query_instruction``.
        dimensions: numbers of a vector.
        recorded: vectors of a transcript by query, in place of the embedder's.
    """

    __slots__ = ("_dimensions", "_embedder", "_instruction", "_recorded", "_used")

    def __init__(
        self,
        embedder: Embedder,
        instruction: str,
        dimensions: int,
        recorded: Mapping[str, Vector] | None = None,
    ) -> None:
        self._embedder = embedder
        self._instruction = instruction
        self._dimensions = dimensions
        self._recorded = dict(recorded or {})
        self._used: dict[str, QueryVector] = {}

    def of(self, query: str) -> QueryVector:
        """The vector of `query`.

        Raises:
            InfrastructureFailure: the embedder failed or its vector is malformed.
        """
        if query not in self._used:
            text = query_form(self._instruction, query)
            vector = self._recorded.get(query)
            if vector is None:
                values = self._embedder.embed_query(text)
                vector = unit_vector(values, self._dimensions, f"the query {query[:60]!r}")
            self._used[query] = QueryVector(query, text, vector)
        return self._used[query]

    @property
    def used(self) -> tuple[QueryVector, ...]:
        """Every query so far, in the order of its first use: what enters the transcript."""
        return tuple(self._used.values())
