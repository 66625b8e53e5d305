"""What a fresh process answers with every search tool, for `test_fresh_processes.py`: a script of its own.

    python fresh_answers.py CONTRACTS CACHE

Indexes of two embedded repositories are built into CACHE, an empty folder; the answers go to standard output.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from repairlab.contract.controls import SharedControls
from repairlab.contract.strict import load
from repairlab.contract.task import Language
from repairlab.hosts.emulator.engines.hashing import DIMENSIONS, embed
from repairlab.repositories import embedded
from repairlab.search.chunks import ChunkRules, CorpusChunks
from repairlab.search.dense import DenseIndex, embed_corpus
from repairlab.search.dense_search import DenseSearch
from repairlab.search.exact import Mode
from repairlab.search.fusion_dense_first import DenseFirstSearch
from repairlab.search.graph_search import Seed
from repairlab.search.hybrid import HybridSearch
from repairlab.search.results import render
from repairlab.search.toolset import SearchPlaces, dense_component, open_toolset
from repairlab.search.vectors import QueryVectors, VectorStore

QUERIES: dict[Language, tuple[str, ...]] = {
    "python": ("allocate", "the rounding of an amount is wrong", "Money.round_to", "parze_row", "money.py"),
    "go": ("Bucket", "workers stall when the queue is full", "queue.Push", "retri", "limit/bucket.go"),
}
PATTERNS = (r"\w+ = \w+", "(?i)error", r"\breturn\b", ".")


class Entry(NamedTuple):
    path: str
    mode: str
    blob_id: str
    size: int


class Tree:
    def __init__(self, name: str) -> None:
        root = Path(embedded.__file__).parent / "embedded" / name / "tree"
        files = {p.relative_to(root).as_posix(): p.read_bytes() for p in root.rglob("*") if p.is_file()}
        ids = {
            path: hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest() for path, data in files.items()
        }
        self._entries = [Entry(path, "100644", ids[path], len(data)) for path, data in files.items()]
        self._blobs = {ids[path]: data for path, data in files.items()}

    def entries(self, _commit: str) -> Sequence[Entry]:
        return self._entries

    def read_blobs(self, ids: Sequence[str]) -> Iterable[tuple[str, bytes]]:
        return [(name, self._blobs[name]) for name in ids]


class Hashing:
    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        return [embed(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return embed(text)


def answers(shared: SharedControls, name: str, language: Language, places: SearchPlaces) -> Iterator[str]:
    """Every answer as text, with all ranks; then digests of what was built."""
    tools = open_toolset(Tree(name), "", language, shared, places)
    chunks = CorpusChunks(tools.corpus, ChunkRules.of(shared.dense), places.blobs)
    store = VectorStore(places.blobs, {"key": "hashing"}, DIMENSIONS)
    embed_corpus(chunks, store, Hashing())
    index = DenseIndex(chunks, store)
    queries = QueryVectors(Hashing(), shared.dense.query_instruction, DIMENSIONS)
    dense = DenseSearch(index, queries, shared.search, shared.dense, shared.view)
    fused = HybridSearch({**tools.components, "dense": dense_component(dense)}, shared.search, shared.fusion)
    for pattern in PATTERNS:
        yield repr((pattern, tools.exact.find(pattern, Mode.REGEX)))
    for query in QUERIES[language]:
        yield repr([(mode, tools.exact.find(query, mode)) for mode in (Mode.LITERAL, Mode.SUBSTRING)])
        yield repr((tools.lexical.find(query), tools.symbols.find(query), dense.find(query)))
        yield repr(tools.lexical.rank(query, 50))
        yield repr(tools.symbols.rank(query, 50))
        yield repr(dense.rank(query, 50))
        yield repr(DenseFirstSearch(tools.exact, dense, shared.search).find(query, Mode.SUBSTRING))
        hybrid = fused.find(query)
        yield repr(hybrid)
        seeds = [Seed(hit.path, min(hit.matching_lines, default=hit.start_line)) for hit in hybrid.hits]
        ranking, hits = tools.graph.find(seeds)
        yield repr(ranking) + render(hits, summary=tools.graph.summary(ranking))
    yield repr([used.encoded() for used in queries.used])
    yield index.digest
    for path in sorted((*places.corpora.iterdir(), *places.indexes.iterdir())):
        yield f"{path.name} {hashlib.sha256(path.read_bytes()).hexdigest()}"


def main() -> None:
    shared = load(SharedControls, Path(sys.argv[1]) / "shared.toml")
    places = SearchPlaces(Path(sys.argv[2]))
    for name, language in (("ledgerline", "python"), ("millrace", "go")):
        for answer in answers(shared, name, language, places):
            print(answer)


if __name__ == "__main__":
    main()
