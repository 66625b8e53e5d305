"""Canonical JSON (RFC 8785) and the digests made from it.

Two values with the same meaning have the same bytes here, whatever the order of their keys or the spelling
of their numbers; every identity and every digest of structured data goes through `canonical_json`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import rfc8785

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"


def canonical_json(value: Json) -> bytes:
    """UTF-8 bytes of `value` in the JSON Canonicalization Scheme.

    Raises:
        ValueError: for NaN, infinities, integers beyond 2**53 - 1 and text that is not valid Unicode.
    """
    plain: Any = value
    return rfc8785.dumps(plain)


def sha256_hex(data: bytes) -> str:
    """SHA-256 of `data`, 64 lower-case hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def digest_of(value: Json) -> str:
    """SHA-256 of the canonical JSON of `value`."""
    return sha256_hex(canonical_json(value))
