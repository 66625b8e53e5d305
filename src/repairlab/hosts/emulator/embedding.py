"""``POST /v1/embeddings`` of the emulated host."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from repairlab.contract.canonical import Json
from repairlab.hosts.emulator.actions import Action, BadVectors, ContextDrift, WrongModel
from repairlab.hosts.emulator.bodies import Whole, compatible_error
from repairlab.hosts.emulator.catalog import HASHING
from repairlab.hosts.emulator.engines.hashing import BYTES_PER_TOKEN, embed
from repairlab.hosts.emulator.state import Loaded, Processes, Residents
from repairlab.hosts.minilm.model import TextTooLong

_PLACES: Mapping[str, float | None] = {"nan": math.nan, "null": None}
"""What stands in the first place of the first vector."""


class TextModels(Processes, Protocol):
    """Instances of a real embedder; `repairlab.hosts.emulator.engines.minilm` has them."""

    def embed(
        self, instance_id: str, texts: Sequence[str], context: int
    ) -> list[list[float]] | TextTooLong: ...


def texts_of(body: Mapping[str, Any]) -> tuple[str, ...] | Whole:
    """The texts of a request, or the reply that refuses it."""
    if not isinstance(body.get("model"), str):
        return compatible_error(400, "'model' must be given as text", None, "model")
    given = body.get("input")
    texts = [given] if isinstance(given, str) else given
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
        return compatible_error(400, "'input' must be text or a list of texts", None, "input")
    if not all(texts):
        error = {"title": "Failed to embed string", "cause": "Failed to decode batch! Error: n_tokens = 0"}
        return Whole(400, {"error": error})
    return tuple(texts)


def hashed(
    residents: Residents, instance: Loaded, texts: tuple[str, ...], action: Action | None, number: int
) -> Whole:
    """The vectors of `texts` by `instance` of the hashing engine; `number` counts the requests of the route.

    A text longer than the context is cut without a word, as the real host is known to do.
    """
    if instance.spec.type != "embedding" or instance.spec.engine != HASHING:
        message = f'Failed to load model "{instance.spec.key}". Error: Model is not embedding.'
        return compatible_error(400, message, "model_not_found", "model")
    tokens = instance.context
    if isinstance(action, BadVectors) and action.fault == "truncated":
        tokens = min(tokens, action.tokens)
    vectors = [embed(_first(text, tokens)) for text in texts]
    return told(residents, instance, vectors, action, number)


def told(
    residents: Residents,
    instance: Loaded,
    vectors: list[list[float]] | TextTooLong,
    action: Action | None,
    number: int,
) -> Whole:
    """What an embedder gave, changed by `action`; `number` counts the requests of the route."""
    if isinstance(vectors, TextTooLong):
        message = f"a text of {vectors.tokens} tokens exceeds the available context size ({instance.context})"
        return compatible_error(400, message, None, "input")
    named = action.model if isinstance(action, WrongModel) else instance.id
    if isinstance(action, ContextDrift):
        residents.set_context(instance.id, action.context)
    data = _entries(vectors)
    if isinstance(action, BadVectors):
        data = _spoiled(data, vectors, action.fault, number)
    usage = {"prompt_tokens": 0, "total_tokens": 0}  # as the real host says, whatever it read
    return Whole(200, {"object": "list", "model": named, "data": data, "usage": usage})


def _first(text: str, tokens: int) -> str:
    return text.encode("utf-8", "replace")[: tokens * BYTES_PER_TOKEN].decode("utf-8", "ignore")


def _entries(vectors: list[list[float]]) -> list[Json]:
    return [_entry(index, vector) for index, vector in enumerate(vectors)]


def _entry(index: int, vector: Sequence[float | None]) -> Json:
    return {"object": "embedding", "index": index, "embedding": list(vector)}


def _spoiled(data: list[Json], vectors: list[list[float]], fault: str, number: int) -> list[Json]:
    first = vectors[0]
    if fault in _PLACES:
        return [_entry(0, [_PLACES[fault], *first[1:]]), *data[1:]]
    others: dict[str, list[Json]] = {
        "wrong-length": _entries([vector[: len(vector) // 2] for vector in vectors]),
        "not-normalised": _entries([[7.5 * value for value in vector] for vector in vectors]),
        "constant": _entries([first for _ in vectors]),
        "zero": [_entry(0, [0.0] * len(first)), *data[1:]],
        "reordered": list(reversed(data)),
        "index-repeated": [*data[:-1], _entry(0, vectors[-1])],
        "fewer": data[:-1],
        "drifting": _entries([[first[0] + 0.1 * number, *vector[1:]] for vector in vectors]),
    }
    return others.get(fault, data)
