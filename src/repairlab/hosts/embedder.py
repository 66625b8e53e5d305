"""The embedder: texts in, checked unit vectors out, in order. Chunks and queries get the same checks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from repairlab.contract.canonical import Json
from repairlab.contract.errors import IntegrityViolation
from repairlab.hosts.facts import VerifiedFacts
from repairlab.hosts.failures import FailureRules
from repairlab.hosts.vectors import Malformed, Vector, read_vectors


class EmbeddingHost(Protocol):
    """What computes vectors; see `repairlab.hosts.client.LMStudioClient`."""

    def embed(self, model: str, texts: tuple[str, ...]) -> Mapping[str, Any]: ...


@dataclass(frozen=True, slots=True)
class EmbeddingSettings:
    """The frozen controls that embedding depends on, and the size of one request."""

    dimensions: int
    bytes_per_token: float
    """The token rule: n bytes of UTF-8 are taken for at most ceil(n / bytes_per_token) tokens."""
    query_instruction: str
    native_dimensions: int | None = None
    """Where the model's facts declare padding: the numbers before it."""
    batch_texts: int = 32
    batch_bytes: int = 2**19


@dataclass(frozen=True, slots=True)
class EmbeddingRetry:
    """A reply that was set aside because the table lets its request be sent again."""

    what: str
    number: int

    def facts(self) -> dict[str, Json]:
        """For a transcript."""
        return {
            "type": "retry",
            "condition": "embedding-malformed",
            "number": self.number,
            "body": self.what,
        }


class Embedder:
    """One verified embedding instance.

    Args:
        host: the client.
        verified: what residency verified of the instance; requests go to it alone.
        settings: frozen controls.
        rules: the frozen table of failures.
        on_retry: told of each repetition before the request is sent again.
    """

    def __init__(
        self,
        host: EmbeddingHost,
        verified: VerifiedFacts,
        settings: EmbeddingSettings,
        rules: FailureRules,
        on_retry: Callable[[EmbeddingRetry], None] | None = None,
    ) -> None:
        self._host = host
        self._verified = verified
        self._settings = settings
        self._rules = rules
        self._on_retry = on_retry
        self._names = _names(verified)

    @property
    def native_dimensions(self) -> int | None:
        """Numbers of a vector before the padding that the model's facts declare; ``None`` for no padding."""
        return self._settings.native_dimensions

    def documents(self, texts: Sequence[str]) -> list[Vector]:
        """Vectors of chunk texts, in the order of `texts`.

        Raises:
            IntegrityViolation: an empty text, or one that might not fit the loaded context: a fault of
                whoever cut the chunks. Nothing is ever cut here, and nothing is sent.
            InfrastructureFailure: ``embedding-malformed`` after its repetitions, ``host-wrong-model``, or
                what the client raises.
        """
        for text in texts:
            self._check(text)
        return [vector for batch in self._batches(texts) for vector in self._vectors(batch)]

    def query(self, text: str) -> Vector | None:
        """Vector of a query under the frozen instruction; ``None`` for an empty one, which is never sent.

        Raises:
            as `documents`.
        """
        if not text.strip():
            return None
        asked = instructed(self._settings.query_instruction, text)
        self._check(asked)
        (vector,) = self._vectors((asked,))
        return vector

    def fits(self, text: str) -> bool:
        """Whether `text` lies below the loaded context by the token rule."""
        return token_bound(text, self._settings.bytes_per_token) < self._verified.context_tokens

    def _check(self, text: str) -> None:
        if not text.strip():
            raise IntegrityViolation("an empty text was to be embedded")
        if not self.fits(text):
            bound = token_bound(text, self._settings.bytes_per_token)
            context = self._verified.context_tokens
            raise IntegrityViolation(
                f"a text of up to {bound} tokens was to be embedded in a context of {context}"
            )

    def _batches(self, texts: Sequence[str]) -> Iterator[tuple[str, ...]]:
        batch: list[str] = []
        size = 0
        for text in texts:
            more = len(text.encode("utf-8", "replace"))
            full = len(batch) == self._settings.batch_texts or size + more > self._settings.batch_bytes
            if batch and full:
                yield tuple(batch)
                batch, size = [], 0
            batch.append(text)
            size += more
        if batch:
            yield tuple(batch)

    def _vectors(self, texts: tuple[str, ...]) -> list[Vector]:
        """One request, repeated as often as the table allows for a reply that is malformed."""
        row = self._rules.of("embedding-malformed")
        number = 0
        while True:
            body = self._host.embed(self._verified.instance_id, texts)
            if body.get("model") not in self._names:
                asked = self._verified.instance_id
                raise self._rules.noticed("host-wrong-model", f"{body.get('model')!r} for {asked!r}")
            settings = self._settings
            vectors = read_vectors(body, texts, settings.dimensions, settings.native_dimensions)
            if not isinstance(vectors, Malformed):
                return vectors
            if number >= row.retries:
                raise self._rules.raised(row, f"{self._verified.key}: {vectors.what}")
            number += 1
            if self._on_retry:
                self._on_retry(EmbeddingRetry(vectors.what, number))


def instructed(instruction: str, query: str) -> str:
    """A query as the embedding model was trained to see it; chunks carry no instruction."""
    return f"Instruct: {instruction}\nQuery:{query}"


def token_bound(text: str, bytes_per_token: float) -> int:
    """Upper bound of the tokens of `text`, which needs no tokenizer."""
    return math.ceil(len(text.encode("utf-8", "surrogatepass")) / bytes_per_token)


def _names(verified: VerifiedFacts) -> frozenset[str]:
    """What a reply may call the instance: its id, or the key with the variant that was verified."""
    names = {verified.instance_id}
    if verified.selected_variant:
        names.add(verified.selected_variant)
    if verified.quantization:
        names.add(f"{verified.key}@{verified.quantization.lower()}")
    return frozenset(names)
