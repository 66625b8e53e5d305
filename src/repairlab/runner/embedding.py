"""Embedding at a host: all documents before a campaign, and the queries of a cell in the middle of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from repairlab.contract.canonical import Json
from repairlab.contract.controls import SharedControls
from repairlab.contract.models import Model
from repairlab.hosts.client import LMStudioClient
from repairlab.hosts.embedder import Embedder, EmbeddingRetry, EmbeddingSettings
from repairlab.hosts.facts import ModelFacts, VerifiedFacts
from repairlab.hosts.failures import FailureRules
from repairlab.hosts.residency import Residency
from repairlab.runner.residence import Residence
from repairlab.search.chunks import CorpusChunks, distinct_digests
from repairlab.search.dense import embed_corpus
from repairlab.search.vectors import QueryVector, QueryVectors, VectorStore

Record: TypeAlias = Callable[[dict[str, Json]], None]


def embedding_facts(model: Model, shared: SharedControls) -> ModelFacts:
    """What a host must report of the embedder."""
    return ModelFacts.of(model, shared.generation.context_tokens)


def embedding_settings(model: Model, shared: SharedControls) -> EmbeddingSettings:
    """The frozen controls of embedding, and what the model's facts declare of its vectors."""
    dense, native = shared.dense, model.facts.native_dimensions
    return EmbeddingSettings(dense.dimensions, dense.bytes_per_token, dense.query_instruction, native)


@dataclass(frozen=True, slots=True)
class DocumentEmbedder:
    """Embeds documents at one resident embedder; every batch is verified before it is kept."""

    embedder: Embedder
    residency: Residency

    def embed_documents(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """One vector a text, in their order."""
        vectors = self.embedder.documents(texts)
        self.residency.verify()
        return vectors

    def embed_query(self, text: str) -> Sequence[float]:
        """The vector of a query that is already in its form."""
        return self.embed_documents([text])[0]


def missing_texts(chunks: Sequence[CorpusChunks], store: VectorStore) -> int:
    """How many distinct texts have no vector yet."""
    return len(store.missing(digest for one in chunks for digest in distinct_digests(one.all)))


def embed_documents(
    chunks: Sequence[CorpusChunks],
    store: VectorStore,
    model: Model,
    shared: SharedControls,
    client: LMStudioClient,
    residency: Residency,
    rules: FailureRules,
) -> int:
    """Embed what has no vector yet under one residency of the embedder; how many texts that were.

    An interrupted run loses at most one pack: see `repairlab.search.vectors.VectorStore`.

    Raises:
        InfrastructureFailure: the host failed, or changed what it has loaded.
    """
    transition = residency.ensure(embedding_facts(model, shared), fresh=True)
    embedder = Embedder(client, transition.verified, embedding_settings(model, shared), rules)
    made = sum(embed_corpus(one, store, DocumentEmbedder(embedder, residency)) for one in chunks)
    residency.release()
    return made


@dataclass(frozen=True, slots=True)
class QueryEmbedder:
    """Embeds the queries of one cell: each time the embedder takes the agent's place."""

    residence: Residence
    client: LMStudioClient
    model: Model
    shared: SharedControls
    rules: FailureRules
    record: Record

    def embed_documents(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """One vector a text, in their order."""
        embedder = self._at(self.residence.to_embedder())
        return embedder.documents(texts)

    def embed_query(self, text: str) -> Sequence[float]:
        """The vector of a query that is already in its form."""
        return self.embed_documents([text])[0]

    def _at(self, verified: VerifiedFacts) -> Embedder:
        def on_retry(retry: EmbeddingRetry) -> None:
            self.record(retry.facts())

        settings = embedding_settings(self.model, self.shared)
        return Embedder(self.client, verified, settings, self.rules, on_retry)


class WrittenQueries(QueryVectors):
    """The query vectors of a running cell; each one enters the transcript when it is made."""

    __slots__ = ("_record",)

    def __init__(self, embedder: QueryEmbedder, shared: SharedControls, record: Record) -> None:
        super().__init__(embedder, shared.dense.query_instruction, shared.dense.dimensions)
        self._record = record

    def of(self, query: str) -> QueryVector:
        """The vector of `query`, embedded the first time."""
        known = len(self.used)
        found = super().of(query)
        if len(self.used) > known:
            self._record(vector_record(found))
        return found


def vector_record(found: QueryVector) -> dict[str, Json]:
    """A query vector as a transcript holds it."""
    return {
        "type": "query-vector",
        "query": found.query,
        "text": found.text,
        "vector": found.encoded(),
    }
