"""The frozen chunks of a file: what BM25 ranks and what is embedded.

A chunk is a run of whole lines of the decoded file (UTF-8, U+FFFD for bytes that are not). It begins at
line 1 or `overlap_lines` above the end of the chunk before it, and ends after `lines` lines or with the file.
Where so many lines exceed `characters`, it ends with the last line that still fits, and the overlap shrinks
in proportion, or further if the next line would not fit behind it; a line that is too long by itself is a
chunk of its own, cut at `characters`. So every line is in a chunk, no chunk lies inside another, and only the
tail of such a line is in none. A chunk of nothing but white space is left out.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from repairlab.contract.canonical import sha256_hex
from repairlab.contract.controls import Dense
from repairlab.contract.errors import BadInput
from repairlab.search.cache import Cache, Table, code_of
from repairlab.search.corpus import Corpus

_PLACE = struct.Struct("<II32s")


@dataclass(frozen=True, slots=True)
class ChunkRules:
    """How files are cut (``dense.chunk_*`` of the shared controls).

    Attributes:
        lines: most lines of a chunk.
        overlap_lines: lines that two neighbouring full chunks share, fewer than `lines`.
        characters: most characters (Unicode code points, line feeds between lines included) of a chunk.
    """

    lines: int
    overlap_lines: int
    characters: int

    def __post_init__(self) -> None:
        if not 0 <= self.overlap_lines < self.lines or self.characters < 1:
            raise BadInput(
                f"chunks of {self.lines} lines and {self.characters} characters cannot overlap by "
                f"{self.overlap_lines} lines"
            )

    @classmethod
    def of(cls, controls: Dense) -> ChunkRules:
        """The rules that the shared controls freeze."""
        return cls(controls.chunk_lines, controls.chunk_overlap_lines, controls.chunk_characters)

    def overlap(self, lines: int) -> int:
        """Lines that the chunk after one of `lines` lines shares with it: always fewer than `lines`."""
        return self.overlap_lines if lines == self.lines else lines * self.overlap_lines // self.lines


class ChunkPlace(NamedTuple):
    """Where a chunk stands in its blob; (blob id, start) is its identity.

    Attributes:
        start: number of its first line, from 1.
        end: number of its last line, included.
        digest: SHA-256 of its text in UTF-8, hexadecimal: equal texts are embedded once.
    """

    start: int
    end: int
    digest: str


def cut(data: bytes, rules: ChunkRules) -> Iterator[tuple[ChunkPlace, str]]:
    """Each chunk of a file with its text (no line feed after its last line), by ascending start."""
    lines = _lines(data)
    start = 0
    while start < len(lines):
        end = _end(lines, start, rules)
        text = "\n".join(lines[start:end])[: rules.characters]
        if text and not text.isspace():
            yield ChunkPlace(start + 1, end, sha256_hex(text.encode())), text
        if end == len(lines):
            return
        start = _next_start(lines, end, rules.overlap(end - start), rules.characters)


def chunk_text(data: bytes, place: ChunkPlace, rules: ChunkRules) -> str:
    """The text of one chunk of a file."""
    return "\n".join(_lines(data)[place.start - 1 : place.end])[: rules.characters]


def _lines(data: bytes) -> list[str]:
    lines = data.decode("utf-8", "replace").split("\n")
    if not lines[-1]:
        del lines[-1]
    return lines


def _end(lines: Sequence[str], start: int, rules: ChunkRules) -> int:
    """Index behind the last line of the chunk that begins at index `start`."""
    most = min(start + rules.lines, len(lines))
    used = len(lines[start])
    for index in range(start + 1, most):
        used += 1 + len(lines[index])
        if used > rules.characters:
            return index
    return most


def _next_start(lines: Sequence[str], end: int, overlap: int, characters: int) -> int:
    """Index of the first line of the chunk that has to hold the line at index `end`."""
    start = end
    used = len(lines[end])
    while start > end - overlap and used + 1 + len(lines[start - 1]) <= characters:
        start -= 1
        used += 1 + len(lines[start])
    return start


class CorpusChunk(NamedTuple):
    """One chunk of a corpus.

    Attributes:
        file: id of the file in the corpus.
        place: lines and digest.
    """

    file: int
    place: ChunkPlace


class CorpusChunks:
    """All chunks of a corpus in the order of every tie: path bytes, then first line.

    Args:
        corpus: whose files are cut.
        rules: how.
        cache: where places are kept by blob, so that a file seen before is not cut again.
    """

    __slots__ = ("all", "corpus", "rules")

    def __init__(self, corpus: Corpus, rules: ChunkRules, cache: Cache) -> None:
        self.corpus = corpus
        self.rules = rules
        places = places_by_blob(corpus, rules, cache)
        self.all = tuple(
            CorpusChunk(number, place)
            for number, file in enumerate(corpus.files)
            for place in places[file.blob_id]
        )

    def texts(self) -> Iterator[str]:
        """The text of every chunk, in order; a file is decoded once."""
        for number in range(len(self.corpus.files)):
            yield from (text for _, text in cut(self.corpus.data(number), self.rules))

    def text(self, chunk: CorpusChunk) -> str:
        """The text of one chunk."""
        return chunk_text(self.corpus.data(chunk.file), chunk.place, self.rules)


def places_by_blob(corpus: Corpus, rules: ChunkRules, cache: Cache) -> dict[str, tuple[ChunkPlace, ...]]:
    """The chunks of every distinct blob of `corpus`, by blob id.

    Raises:
        InfrastructureFailure: the cache cannot be written (kind ``cache-write``).
    """
    table = Table("chunks", code_of(__name__), [rules.lines, rules.overlap_lines, rules.characters])
    file_of = {file.blob_id: number for number, file in enumerate(corpus.files)}

    def make(blob_ids: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        for blob_id in blob_ids:
            yield blob_id, _packed(place for place, _ in cut(corpus.data(file_of[blob_id]), rules))

    stored = cache.get_or_make(table, file_of, make)
    return {blob_id: tuple(_unpacked(packed)) for blob_id, packed in stored.items()}


def _packed(places: Iterator[ChunkPlace]) -> bytes:
    return b"".join(_PLACE.pack(place.start, place.end, bytes.fromhex(place.digest)) for place in places)


def _unpacked(packed: memoryview) -> Iterator[ChunkPlace]:
    for start, end, digest in _PLACE.iter_unpack(packed):
        yield ChunkPlace(start, end, digest.hex())


def distinct_digests(chunks: Sequence[CorpusChunk]) -> tuple[str, ...]:
    """The digests of the distinct texts, ascending."""
    return tuple(sorted({chunk.place.digest for chunk in chunks}))
