"""The symbols of every blob of a corpus, parsed once and kept by content."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version

from repairlab.contract.canonical import digest_of, sha256_hex
from repairlab.contract.errors import InfrastructureFailure
from repairlab.contract.task import Language
from repairlab.search.cache import Cache, Table, code_of
from repairlab.search.corpus import Corpus
from repairlab.search.symbols_blob import Columns, unpack
from repairlab.search.symbols_parse import Grammar, parse_packed, query_source
from repairlab.search.symbols_worker import framed, unframed

_MODULES = ("symbols_blob", "symbols_parse", "symbols_imports", "symbols_references", "tokens")
_PACKAGES = ("tree-sitter", "tree-sitter-go", "tree-sitter-python")
WORKER = "repairlab.search.symbols_worker"
_FEWEST_BYTES = 2**22
"""Less than this is parsed sooner than further processes have started."""


def code(language: Language) -> str:
    """Version of what makes these entries: own code, queries, parsers."""
    return digest_of(
        {
            "modules": code_of(*(f"repairlab.search.{name}" for name in _MODULES)),
            "queries": [sha256_hex(query_source(name).encode()) for name in (language, f"{language}-top")],
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
        InfrastructureFailure: the cache cannot be written (kind ``cache-write``), or a process that parses
            came to grief (``symbol-worker``).
    """
    table = Table("symbols", code(language), [language])
    file_of = {file.blob_id: number for number, file in enumerate(corpus.files)}

    def make(blob_ids: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        blobs = [corpus.data(file_of[blob_id]) for blob_id in blob_ids]
        return zip(blob_ids, _parsed(language, blobs, processes), strict=True)

    return {blob_id: unpack(value) for blob_id, value in cache.get_or_make(table, file_of, make).items()}


def _parsed(language: Language, blobs: Sequence[bytes], processes: int) -> Iterator[bytes]:
    """The stored symbols of each blob, in order."""
    if processes == 1 or sum(map(len, blobs)) < _FEWEST_BYTES:
        return parse_packed(Grammar(language), blobs)
    shares = _shares(blobs, processes)
    with ThreadPoolExecutor(processes) as pool:  # a thread only waits for its process
        results = pool.map(lambda share: _in_worker(language, [blobs[n] for n in share]), shares)
        parsed = dict(
            pair
            for share, result in zip(shares, results, strict=True)
            for pair in zip(share, result, strict=True)
        )
    return (parsed[number] for number in range(len(blobs)))


def _shares(blobs: Sequence[bytes], processes: int) -> list[list[int]]:
    """The numbers of the blobs in shares of much the same size: from the longest on, each to the smallest."""
    shares: list[list[int]] = [[] for _ in range(processes)]
    sizes = [0] * processes
    for number in sorted(range(len(blobs)), key=lambda number: -len(blobs[number])):
        least = sizes.index(min(sizes))
        shares[least].append(number)
        sizes[least] += len(blobs[number])
    return shares


def _in_worker(language: Language, blobs: Sequence[bytes]) -> list[bytes]:
    command = [sys.executable, "-P", "-m", WORKER, language]
    done = subprocess.run(command, input=framed(blobs), capture_output=True, check=False)
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip()[-500:]
        raise _worker_failure(f"ended with status {done.returncode}: {said}")
    try:
        parsed = list(unframed(done.stdout))
    except ValueError as error:
        raise _worker_failure(f"gave an answer that is {error}") from error
    if len(parsed) != len(blobs):
        raise _worker_failure(f"gave {len(parsed)} answers for {len(blobs)} files")
    return parsed


def _worker_failure(what: str) -> InfrastructureFailure:
    return InfrastructureFailure(f"a process that parses sources {what}", kind="symbol-worker")
