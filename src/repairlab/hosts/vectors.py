"""Reading the vectors of one embedding reply: all of them, in order, finite, of the right length. Pure.

Vectors are kept as 32-bit floats (`array.array` of type ``f``), brought to unit length in double precision
first. Nothing is filled in: a reply that is wrong anywhere gives no vector at all.
"""

from __future__ import annotations

import math
import unicodedata
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from repairlab.hosts.assemble import is_object

Vector: TypeAlias = "array[float]"
"""32-bit floats of unit length (within rounding)."""


@dataclass(frozen=True, slots=True)
class Malformed:
    """Why a reply gives no vectors."""

    what: str


def read_vectors(
    body: Mapping[str, Any], texts: Sequence[str], dimensions: int, native: int | None = None
) -> list[Vector] | Malformed:
    """The vectors of `texts`, in their order, from the reply `body`.

    Args:
        body: the parsed reply.
        texts: what was asked, in order.
        dimensions: length that each vector must have.
        native: behind so many numbers there must be zeros alone; ``None`` where no padding is declared.
    """
    entries = body.get("data")
    if not isinstance(entries, list) or not all(is_object(entry) for entry in entries):
        return Malformed("data is no list of objects")
    if len(entries) != len(texts):
        return Malformed(f"{len(entries)} vectors for {len(texts)} texts")
    placed: dict[int, Vector] = {}
    for entry in entries:
        index = entry.get("index")
        if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index < len(texts):
            return Malformed(f"index {index!r} among {len(texts)} texts")
        if index in placed:
            return Malformed(f"index {index} twice")
        vector = _unit(entry.get("embedding"), dimensions)
        if isinstance(vector, Malformed):
            return Malformed(f"vector {index}: {vector.what}")
        if native is not None and any(vector[native:]):
            return Malformed(f"vector {index}: a number other than 0 behind the {native} that are declared")
        placed[index] = vector
    ordered = [placed[index] for index in range(len(texts))]
    return _same_for_others(ordered, texts) or ordered


def _unit(values: object, dimensions: int) -> Vector | Malformed:
    if not isinstance(values, list):
        return Malformed("no list of numbers")
    if len(values) != dimensions:
        return Malformed(f"{len(values)} numbers where {dimensions} are required")
    if not all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        return Malformed("something else than a number in it")
    norm = math.hypot(*values)
    if not math.isfinite(norm):
        return Malformed("not finite")
    if norm == 0:
        return Malformed("zero")
    return array("f", (value / norm for value in values))


def _same_for_others(vectors: Sequence[Vector], texts: Sequence[str]) -> Malformed | None:
    """Different texts never have one vector: a reader that stops early, or a constant, gives such.

    Texts that differ only in how their characters are composed count as one text: tokenizers compose them.
    """
    first: dict[bytes, int] = {}
    for number, vector in enumerate(vectors):
        other = first.setdefault(vector.tobytes(), number)
        if _composed(texts[other]) != _composed(texts[number]):
            return Malformed(f"texts {other} and {number} differ and have one vector")
    return None


def _composed(text: str) -> str:
    return unicodedata.normalize("NFC", text)
