"""The symbols of every blob of a corpus, parsed once and kept by content."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from importlib.metadata import version
from multiprocessing import get_context

from repairlab.contract.canonical import digest_of, sha256_hex
from repairlab.contract.task import Language
from repairlab.search.cache import Cache, Table, code_of
from repairlab.search.corpus import Corpus
from repairlab.search.symbols_blob import Columns, unpack
from repairlab.search.symbols_parse import parse_packed, query_source

_MODULES = ("symbols_blob", "symbols_parse", "symbols_imports", "tokens")
_PACKAGES = ("tree-sitter", "tree-sitter-go", "tree-sitter-python")
_BYTES_FOR_EACH_TASK = 2**20
_FEWEST_BYTES = 2**22
"""Less than this is parsed sooner than further processes have started."""


def code(language: Language) -> str:
    """Version of what makes these entries: own code, queries, parsers."""
    return digest_of(
        {
            "modules": code_of(*(f"repairlab.search.{name}" for name in _MODULES)),
            "query": sha256_hex(query_source(language).encode()),
            "packages": {name: version(name) for name in _PACKAGES},
        }
    )


def symbols_by_blob(corpus: Corpus, language: Language, cache: Cache, processes: int) -> dict[str, Columns]:
    """The symbols of every distinct blob of `corpus`, by blob id.

    Args:
        corpus: whose files are read.
        language: of the corpus.
        cache: keeps the entries.
        processes: how many may parse at once.

    Raises:
        InfrastructureFailure: the cache cannot be written (kind ``cache-write``).
    """
    table = Table("symbols", code(language), [language])
    file_of = {file.blob_id: number for number, file in enumerate(corpus.files)}

    def make(blob_ids: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        blobs = [corpus.data(file_of[blob_id]) for blob_id in blob_ids]
        return zip(blob_ids, _parsed(language, blobs, processes), strict=True)

    return {blob_id: unpack(value) for blob_id, value in cache.get_or_make(table, file_of, make).items()}


def _parsed(language: Language, blobs: Sequence[bytes], processes: int) -> Iterator[bytes]:
    if processes == 1 or sum(map(len, blobs)) < _FEWEST_BYTES:
        yield from parse_packed(language, blobs)
        return
    # Fresh processes, not copies of this one: it may have threads.
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        tasks = list(_tasks(blobs))
        for parsed in pool.map(parse_packed, [language] * len(tasks), tasks):
            yield from parsed


def _tasks(blobs: Sequence[bytes]) -> Iterator[list[bytes]]:
    """The blobs in order, some together: as many as it takes to reach a size."""
    task: list[bytes] = []
    size = 0
    for data in blobs:
        task.append(data)
        size += len(data)
        if size >= _BYTES_FOR_EACH_TASK:
            yield task
            task, size = [], 0
    if task:
        yield task
