"""The searched text of one commit: one byte buffer, its newlines, its file table, its words.

Bytes stay bytes: nothing is decoded, nothing but a line feed ends a line, a byte-order mark is part of the
first line. In the buffer one NUL follows each file; as no file holds a NUL, the files stay apart.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, count
from operator import add
from pathlib import Path

import numpy as np

from repairlab.contract.controls import Corpus as CorpusRules
from repairlab.contract.errors import IntegrityViolation, RefuseToStart
from repairlab.contract.task import Language
from repairlab.search.blobs import BlobSource, check_blob, path_bytes
from repairlab.search.container import Container, open_container, open_or_build, write
from repairlab.search.lines import Bytes, Lines, Numbers, Offsets, lines_around
from repairlab.search.selection import Selection, Skipped, SkipReason, generated_files, select
from repairlab.search.shape_places import (
    LINE_ENDS,
    filled_lines_by_file,
    lines_by_file,
    shape_places,
    text_places,
)
from repairlab.search.shapes import Shape
from repairlab.search.words import WordIndex, word_sections

_KIND = "corpus"
_LARGEST_BUFFER = 2**32 - 1


@dataclass(frozen=True, slots=True)
class CorpusFile:
    """One searched file; its position in `Corpus.files` is its id.

    Attributes:
        path: relative path, surrogate escapes for bytes that are not UTF-8.
        blob_id: git object name; two files with the same name have the same bytes.
        size: bytes.
        lines: number of lines; a last line without a newline counts.
    """

    path: str
    blob_id: str
    size: int
    lines: int


class Corpus:
    """An opened corpus. Immutable; files are addressed by their id, lines from 1, offsets in bytes from 0.

    Attributes:
        files: in the order of their path bytes.
        skipped: what is left out, and why.
        generated: ids of the files that say so at their head: every ranking puts them behind all others.
    """

    __slots__ = (
        "_buffer",
        "_container",
        "_first",
        "_ids",
        "_newlines",
        "_starts",
        "_words",
        "files",
        "generated",
        "skipped",
    )

    def __init__(self, container: Container) -> None:
        self._container = container
        self._buffer = container.section("bytes")
        self._starts = container.numbers("file-starts")
        self._newlines = container.numbers("newlines")
        self._first = container.numbers("first-newlines")
        self.files = tuple(self._file_table())
        self.skipped = tuple(
            Skipped(path, SkipReason(reason))
            for path, reason in zip(*[iter(_texts(container, "skipped"))] * 2, strict=True)
        )
        self.generated = frozenset(container.numbers("generated"))
        self._ids = {file.path: number for number, file in enumerate(self.files)}
        self._words: WordIndex | None = None

    def _file_table(self) -> Iterator[CorpusFile]:
        paths = _texts(self._container, "paths")
        blobs = _texts(self._container, "blobs")
        starts, first, buffer = self._starts, self._first, self._buffer
        for number, (path, blob_id) in enumerate(zip(paths, blobs, strict=True)):
            start, end = starts[number], starts[number + 1] - 1
            lines = first[number + 1] - first[number]
            if end > start and buffer[end - 1] != 0x0A:
                lines += 1
            yield CorpusFile(path, blob_id, end - start, lines)

    @property
    def digest(self) -> str:
        """Identity of the corpus: see `repairlab.search.selection.select`."""
        return self._container.digest

    def content(self) -> str:
        """SHA-256 of everything that the corpus holds; see `repairlab.search.container.Container.content`."""
        return self._container.content()

    @property
    def words(self) -> WordIndex:
        """The word index, read on first use."""
        if self._words is None:
            self._words = WordIndex(self._container)
        return self._words

    def verify(self) -> None:
        """Read the whole corpus and hold it against its recorded SHA-256.

        Raises:
            IntegrityViolation: the stored file was damaged or changed.
        """
        self._container.verify()

    def id_of(self, path: str) -> int | None:
        """Id of the file at `path`, None if it is not searched."""
        return self._ids.get(path)

    def data(self, file: int) -> bytes:
        """The file's bytes, exactly as git holds them."""
        return bytes(self._buffer[self._starts[file] : self._starts[file + 1] - 1])

    def line_of(self, file: int, offset: int) -> int:
        """Number of the line that holds the byte at `offset`; a newline belongs to the line it ends."""
        first = self._first[file]
        place = bisect_left(self._newlines, self._starts[file] + offset, first, self._first[file + 1])
        return place - first + 1

    def lines(self, file: int, start: int, end: int) -> tuple[bytes, ...]:
        """Lines `start` to `end` (both included, cut to the file), without their newlines."""
        last = min(end, self.files[file].lines)
        return tuple(bytes(self._line(file, number)) for number in range(max(start, 1), last + 1))

    def lines_with(self, text: bytes, files: Sequence[int]) -> Lines:
        """The lines of these files (ascending, any) that hold `text`, which has no newline, is not empty."""
        buffer, newlines, starts = self._arrays()
        begin, end = int(starts[files[0]]), int(starts[files[-1] + 1])
        places = text_places(text, buffer[begin:end]) + begin
        if len(files) < files[-1] + 1 - files[0]:
            wanted = np.zeros(len(self.files), np.bool_)
            wanted[list(files)] = True
            places = places[wanted[np.searchsorted(starts, places, "right") - 1]]
        return lines_around(places, buffer, newlines, starts)

    def lines_by_file(self, shape: Shape) -> Offsets:
        """How many lines of each file hold `shape`.

        Of files outside ASCII it says what their bytes in ASCII do: see `Shape.ascii_alone`.
        """
        buffer, newlines, starts = self._arrays()
        if shape.any_character:
            return filled_lines_by_file(buffer, newlines, starts)
        return lines_by_file(shape_places(shape, buffer), newlines, starts)

    def lines_of_shape(self, file: int, shape: Shape) -> tuple[int, ...]:
        """Numbers of the lines of `file` that hold `shape`, ascending; of a file outside ASCII as above."""
        buffer, newlines, starts = self._arrays()
        begin, first = int(starts[file]), self._first[file]
        data = buffer[begin : int(starts[file + 1])]
        places = np.flatnonzero(~LINE_ENDS[data]) if shape.any_character else shape_places(shape, data)
        ends = newlines[first : self._first[file + 1]]
        behind = np.searchsorted(ends, (places + begin).astype(np.uint32))
        fresh = np.ones(len(places), np.bool_)
        fresh[1:] = behind[1:] != behind[:-1]
        return tuple((behind[fresh] + 1).tolist())

    def beyond_ascii(self) -> frozenset[int]:
        """Ids of the files with a byte outside ASCII."""
        buffer, _, starts = self._arrays()
        if not self.files:
            return frozenset()
        return frozenset(np.flatnonzero(np.maximum.reduceat(buffer, starts[:-1]) >= 0x80).tolist())

    def _arrays(self) -> tuple[Bytes, Numbers, Numbers]:
        """The buffer, the newlines and where each file starts, without a copy."""
        newlines = np.frombuffer(self._newlines, np.uint32)
        return np.frombuffer(self._buffer, np.uint8), newlines, np.frombuffer(self._starts, np.uint32)

    def _line(self, file: int, number: int) -> memoryview:
        place = self._first[file] + number - 1
        begin = self._starts[file] if number == 1 else self._newlines[place - 1] + 1
        ends = place < self._first[file + 1]
        return self._buffer[begin : self._newlines[place] if ends else self._starts[file + 1] - 1]


def build_corpus(
    source: BlobSource, commit: str, language: Language, rules: CorpusRules, *, cache: Path
) -> Corpus:
    """The corpus of `commit`, opened from the folder `cache`; built there first if it is absent or damaged.

    Raises:
        IntegrityViolation: a git object is damaged or missing.
        InfrastructureFailure: the cache cannot be written.
        RefuseToStart: more text than a corpus can address (4 GiB).
    """
    selection = select(source.entries(commit), language, rules)
    path = corpus_path(cache, selection.digest)
    return Corpus(
        open_or_build(
            path,
            kind=_KIND,
            digest=selection.digest,
            build=lambda: _build(source, selection, language, rules, path),
        )
    )


def open_corpus(cache: Path, digest: str) -> Corpus:
    """Open an already built corpus by its digest.

    Raises:
        FileNotFoundError: it was not built in this folder.
        IntegrityViolation: the stored file is damaged or another one.
    """
    return Corpus(open_container(corpus_path(cache, digest), kind=_KIND, digest=digest))


def corpus_path(cache: Path, digest: str) -> Path:
    """Where the folder `cache` keeps the corpus with this digest."""
    return cache / f"{digest}.corpus"


def _build(
    source: BlobSource, selection: Selection, language: Language, rules: CorpusRules, path: Path
) -> None:
    blobs = _read(source, selection)
    kept = [(name, blob_id) for name, blob_id in selection.files if b"\0" not in blobs[blob_id]]
    binary = [
        Skipped(name, SkipReason.BINARY) for name, blob_id in selection.files if b"\0" in blobs[blob_id]
    ]
    skipped = sorted((*selection.skipped, *binary), key=lambda item: path_bytes(item.path))
    data = [blobs[blob_id] for _, blob_id in kept]
    sections: dict[str, bytes | memoryview] = {
        "paths": _joined(name for name, _ in kept),
        "blobs": _joined(blob_id for _, blob_id in kept),
        "skipped": _joined(text for item in skipped for text in (item.path, item.reason)),
        "generated": memoryview(array("I", generated_files(data, rules))),
        **_text_sections(data),
        **word_sections(data),
    }
    write(path, kind=_KIND, digest=selection.digest, facts={"language": language}, sections=sections)


def _read(source: BlobSource, selection: Selection) -> dict[str, bytes]:
    wanted = sorted({blob_id for _, blob_id in selection.files})
    blobs: dict[str, bytes] = {}
    for blob_id, data in source.read_blobs(wanted):
        check_blob(blob_id, data)
        blobs[blob_id] = data
    missing = set(wanted) - blobs.keys()
    if missing:
        raise IntegrityViolation(
            f"the mirror lacks {len(missing)} objects of the commit, such as {min(missing)}"
        )
    return blobs


def _text_sections(data: list[bytes]) -> dict[str, bytes | memoryview]:
    starts = list(accumulate((len(item) + 1 for item in data), initial=0))
    if starts[-1] > _LARGEST_BUFFER:
        raise RefuseToStart(f"{starts[-1]} bytes of source: a corpus addresses at most {_LARGEST_BUFFER}")
    buffer = b"".join(item + b"\0" for item in data)
    # Before the k-th newline stand all bytes of the first k pieces and k - 1 newlines.
    lengths = [len(piece) for piece in buffer.split(b"\n")[:-1]]
    newlines = array("I", map(add, accumulate(lengths), count()))
    first = array("I", accumulate((item.count(b"\n") for item in data), initial=0))
    return {
        "bytes": buffer,
        "file-starts": memoryview(array("I", starts)),
        "newlines": memoryview(newlines),
        "first-newlines": memoryview(first),
    }


def _joined(texts: Iterator[str]) -> bytes:
    return b"".join(path_bytes(text) + b"\0" for text in texts)


def _texts(container: Container, name: str) -> list[str]:
    return bytes(container.section(name)).decode("utf-8", "surrogateescape").split("\0")[:-1]
