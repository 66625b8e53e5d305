"""The form of a report: numbered records, each with an authentication code under a key that moves on.

A record is its length (four bytes, big-endian), an HMAC-SHA256 over its payload, and the payload: a JSON
object whose ``n`` is the record's number. After each record both sides replace the key by a one-way function
of it.
"""

from __future__ import annotations

import hashlib
import hmac
import struct
from dataclasses import dataclass

KEY_BYTES = 32
_HEAD = struct.Struct(">I32s")


@dataclass(frozen=True, slots=True)
class Frames:
    """The payloads of authentic records in order, and why reading ended before the end of the stream."""

    payloads: tuple[bytes, ...]
    broken: str
    """Empty when the stream ended between records."""
    truncated: bool
    """The stream ended inside a record, as it does when its writer is killed."""


def read_frames(data: bytes, key: bytes) -> Frames:
    """Take records from `data`, sent under the first key `key`, up to the first that is not authentic."""
    payloads: list[bytes] = []
    position = 0
    while position < len(data):
        if len(data) - position < _HEAD.size:
            return Frames(tuple(payloads), "the report ends inside a record", truncated=True)
        length, code = _HEAD.unpack_from(data, position)
        payload = data[position + _HEAD.size : position + _HEAD.size + length]
        if len(payload) < length:
            return Frames(tuple(payloads), "the report ends inside a record", truncated=True)
        if not hmac.compare_digest(code, hmac.new(key, payload, hashlib.sha256).digest()):
            return Frames(tuple(payloads), f"record {len(payloads)} is not authentic", truncated=False)
        payloads.append(payload)
        key = hashlib.sha256(b"next" + key).digest()
        position += _HEAD.size + length
    return Frames(tuple(payloads), "", truncated=False)
