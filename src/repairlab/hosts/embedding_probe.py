"""What an embedder must show before a run: that it reads to the end, repeats itself, and ranks sensibly."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from repairlab.contract.failures import Condition
from repairlab.hosts.embedder import Embedder, token_bound
from repairlab.hosts.vectors import Vector

LENGTHS = (400, 600, 2100)
"""Token counts at which servers are known to stop reading; the context's end is added."""
_BELOW_CONTEXT = 50
_SAME = 1e-3
"""Vectors of one text may differ so much (as one minus the cosine) between single and batched requests."""
_QUERY = "where is the date of an invoice parsed"
_RIGHT = "def parse_invoice_date(text):\n    return date.fromisoformat(text)\n"
_WRONG = "class Socket:\n    def close(self):\n        self.handle = None\n"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is not as it must be."""

    condition: Condition
    what: str


def probe(
    embedder: Embedder,
    context_tokens: int,
    bytes_per_token: float,
    reference: Mapping[str, Vector] | None = None,
    least_cosine: float = 0.99,
) -> tuple[Finding, ...]:
    """Findings on an embedder; none means that it may be used.

    Args:
        embedder: of the verified instance.
        context_tokens: its loaded context.
        bytes_per_token: the token rule.
        reference: stored vectors of fixed texts, where there are any.
        least_cosine: what each of them must reach.
    """
    limits = [one for one in (*LENGTHS, context_tokens - _BELOW_CONTEXT) if 0 < one < context_tokens]
    found = [_reads_to_the_end(embedder, tokens, bytes_per_token) for tokens in limits]
    found += [_repeats(embedder), _ranks(embedder), _padding(embedder)]
    found += [_agrees(embedder, text, vector, least_cosine) for text, vector in (reference or {}).items()]
    return tuple(finding for finding in found if finding is not None)


def cosine(one: Vector, other: Vector) -> float:
    """Cosine of two unit vectors."""
    return math.fsum(a * b for a, b in zip(one, other, strict=True))


def _reads_to_the_end(embedder: Embedder, tokens: int, bytes_per_token: float) -> Finding | None:
    """Two texts that differ only in their last character, asked one by one."""
    filler = "7 " * math.ceil(tokens * bytes_per_token / 2)
    text = filler[: int(tokens * bytes_per_token) - 1]
    pair = [embedder.documents([text + end])[0] for end in ("1", "2")]
    if pair[0] != pair[1]:
        return None
    bound = token_bound(text + "1", bytes_per_token)
    return Finding(
        "embedding-truncated", f"two texts of up to {bound} tokens with other ends have one vector"
    )


def _repeats(embedder: Embedder) -> Finding | None:
    texts = [_RIGHT, _WRONG, "import os\n"]
    together = embedder.documents(texts)
    apart = [embedder.documents([text])[0] for text in texts]
    worst = max(1.0 - cosine(a, b) for a, b in zip(together, apart, strict=True))
    if worst <= _SAME:
        return None
    return Finding("embedding-malformed", f"one text gets other vectors from call to call (by {worst:.4f})")


def _ranks(embedder: Embedder) -> Finding | None:
    query = embedder.query(_QUERY)
    right, wrong = embedder.documents([_RIGHT, _WRONG])
    if query is not None and cosine(query, right) > cosine(query, wrong):
        return None
    return Finding("embedding-malformed", "a fixed query ranks the wrong one of two fixed texts first")


def _padding(embedder: Embedder) -> Finding | None:
    """No model ends each of several vectors in exact zeros: what filled them up must be declared."""
    vectors = embedder.documents([_RIGHT, _WRONG, _QUERY])
    length = len(vectors[0])
    full = next((place for place in range(length, 0, -1) if any(one[place - 1] for one in vectors)), 0)
    declared = embedder.native_dimensions
    if (length if declared is None else declared) - full <= length // 8:
        return None
    wanted = "no padding is declared" if declared is None else f"{declared} native ones are declared"
    return Finding("embedding-malformed", f"all vectors end in zeros behind {full} numbers, and {wanted}")


def _agrees(embedder: Embedder, text: str, vector: Vector, least: float) -> Finding | None:
    found = cosine(embedder.documents([text])[0], vector)
    if found >= least:
        return None
    return Finding("embedding-malformed", f"a stored text has cosine {found:.4f} where {least} is required")
