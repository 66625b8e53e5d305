"""What BM25 needs of one blob: the tokens of its chunks, counted. Cached by blob, chunk rules and code."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from repairlab.search.cache import Cache, Table, code_of
from repairlab.search.chunks import ChunkRules, cut
from repairlab.search.corpus import Corpus
from repairlab.search.tokens import Tokenizer

_HEADER = struct.Struct("<II")
_MODULES = ("repairlab.search.lexical_blob", "repairlab.search.chunks", "repairlab.search.tokens")

Numbers = NDArray[np.uint32]


class BlobTokens(NamedTuple):
    """The chunks of a blob in order, and the tokens in them.

    Attributes:
        starts: first line of each chunk, shape (chunks,).
        ends: last line of each, included.
        lengths: number of tokens of each, repeats included.
        distinct: number of different tokens of each.
        numbers: for each chunk its different tokens by first place, as indexes of `vocabulary`; chunk after
            chunk, shape (sum of `distinct`,).
        counts: how often each of these stands in its chunk.
        vocabulary: the different tokens of the blob, by first place.
    """

    starts: Numbers
    ends: Numbers
    lengths: Numbers
    distinct: Numbers
    numbers: Numbers
    counts: Numbers
    vocabulary: list[str]


def code() -> str:
    """Version of the code that makes these entries."""
    return code_of(*_MODULES)


def tokens_by_blob(corpus: Corpus, rules: ChunkRules, cache: Cache) -> dict[str, BlobTokens]:
    """The counted tokens of every distinct blob of `corpus`, by blob id.

    Raises:
        InfrastructureFailure: the cache cannot be written (kind ``cache-write``).
    """
    table = Table("tokens", code(), [rules.lines, rules.overlap_lines, rules.characters])
    file_of = {file.blob_id: number for number, file in enumerate(corpus.files)}

    def make(blob_ids: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        tokenizer = Tokenizer()
        for blob_id in blob_ids:
            yield blob_id, pack(corpus.data(file_of[blob_id]), rules, tokenizer)

    return {blob_id: unpack(value) for blob_id, value in cache.get_or_make(table, file_of, make).items()}


def pack(data: bytes, rules: ChunkRules, tokenizer: Tokenizer) -> bytes:
    """The counted tokens of a file as stored."""
    known: dict[str, int] = {}
    rows: list[tuple[int, int, int, int]] = []
    numbers: list[int] = []
    counts: list[int] = []
    for place, text in cut(data, rules):
        frequencies = tokenizer.frequencies(text)
        numbers.extend(known.setdefault(token, len(known)) for token in frequencies)
        counts.extend(frequencies.values())
        rows.append((place.start, place.end, sum(frequencies.values()), len(frequencies)))
    columns = chain.from_iterable(zip(*rows, strict=True))
    return b"".join(
        (
            _HEADER.pack(len(rows), len(numbers)),
            np.fromiter(chain(columns, numbers, counts), "<u4").tobytes(),
            "\n".join(known).encode(),
        )
    )


def unpack(value: memoryview) -> BlobTokens:
    """What `pack` stored."""
    chunks, postings = _HEADER.unpack_from(value)
    total = 4 * chunks + 2 * postings
    words = np.frombuffer(value, "<u4", total, _HEADER.size)
    text = str(value[_HEADER.size + 4 * total :], "utf-8")
    columns = words[: 4 * chunks].reshape(4, chunks)
    return BlobTokens(
        columns[0],
        columns[1],
        columns[2],
        columns[3],
        words[4 * chunks : 4 * chunks + postings],
        words[4 * chunks + postings :],
        text.split("\n") if text else [],
    )
