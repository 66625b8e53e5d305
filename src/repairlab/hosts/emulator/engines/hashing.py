"""The feature-hashing embedder: no language model, labelled as such, and the same vector everywhere.

Each text becomes a bag of the parts of its identifiers (``parse_HTTPHeader2`` gives ``parse``, ``http``,
``header``, ``2``); each part adds a signed weight, one plus the logarithm of its count, to one of 1,024
places (Weinberger et al. 2009), and the sum is brought to unit length. A few faint parts made from the whole
text keep different texts apart, and give a text without identifiers a vector too. The instruction before a
query is dropped, as this embedder understands none.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from functools import lru_cache

DIMENSIONS = 1024
BYTES_PER_TOKEN = 4
_FAINT = 0.001
_FAINT_PARTS = 4
_WORD = re.compile(r"[A-Za-z]+|[0-9]+")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_INSTRUCTION = re.compile(r"\AInstruct: [^\n]*\nQuery: ?")


def parts_of(text: str) -> Counter[str]:
    """Lower-case parts of the identifiers in `text`, with their counts."""
    return Counter(part.lower() for word in _WORD.findall(text) for part in _PART.findall(word))


def without_instruction(text: str) -> str:
    """`text` without the instruction that stands before a query."""
    return _INSTRUCTION.sub("", text, count=1)


def embed(text: str) -> list[float]:
    """The vector of `text`: 1,024 numbers of unit length."""
    body = without_instruction(text)
    vector = [0.0] * DIMENSIONS
    for part, count in sorted(parts_of(body).items()):
        place, sign = _place(part)
        vector[place] += sign * (1.0 + math.log(count))
    for number in range(_FAINT_PARTS):
        place, sign = _place(f"{number}\n{body}")
        vector[place] += sign * _FAINT
    norm = math.sqrt(math.fsum(value * value for value in vector))
    return [value / norm for value in vector]


@lru_cache(maxsize=65_536)
def _place(part: str) -> tuple[int, float]:
    digest = hashlib.blake2b(part.encode("utf-8", "replace"), digest_size=8).digest()
    number = int.from_bytes(digest, "big")
    return (number >> 1) % DIMENSIONS, 1.0 if number & 1 else -1.0
