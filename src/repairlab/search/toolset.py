"""All searches over one commit that need no embedder, opened from the cache or built into it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from repairlab.contract.controls import SharedControls
from repairlab.contract.task import Language
from repairlab.search.blobs import BlobSource
from repairlab.search.cache import Cache
from repairlab.search.chunks import ChunkRules
from repairlab.search.corpus import Corpus, build_corpus
from repairlab.search.dense_search import DenseSearch
from repairlab.search.exact import ExactSearch, Mode
from repairlab.search.graph import SymbolGraph
from repairlab.search.graph_search import GraphSearch
from repairlab.search.hybrid import Component, HybridSearch, component
from repairlab.search.lexical import LexicalSearch
from repairlab.search.lexical_index import LexicalIndex, build_lexical
from repairlab.search.symbols import SymbolSearch
from repairlab.search.symbols_index import SymbolIndex, build_symbols

_PARSING_PROCESSES = 2
"""Used only where there is much to parse; the index does not depend on it."""


@dataclass(frozen=True, slots=True)
class SearchPlaces:
    """Where derived search material lies, under one folder."""

    root: Path

    @property
    def corpora(self) -> Path:
        return self.root / "corpora"

    @property
    def indexes(self) -> Path:
        return self.root / "indexes"

    @property
    def blobs(self) -> Cache:
        """What was derived from single blobs and chunks, keyed by content."""
        return Cache(self.root / "blobs")


@dataclass(frozen=True, slots=True)
class Toolset:
    """The searches over one commit."""

    corpus: Corpus
    exact: ExactSearch
    lexical: LexicalSearch
    symbols: SymbolSearch
    graph: GraphSearch
    components: dict[str, Component]
    """What `hybrid` fuses, by name; dense retrieval joins them where there is an embedder."""
    hybrid: HybridSearch
    words: LexicalIndex
    """What `lexical` looks up."""
    index: SymbolIndex
    """What `symbols` and `graph` look up."""


def dense_component(dense: DenseSearch) -> Component:
    """Dense retrieval as one of the components that are fused."""
    return component(
        dense.rank,
        lambda ranking: ranking.files,
        lambda ranking, chunk, rank, ranks: dense.hit(ranking, chunk, rank=rank, components=ranks),
    )


def open_toolset(
    source: BlobSource, commit: str, language: Language, shared: SharedControls, places: SearchPlaces
) -> Toolset:
    """Open every index of `commit`; what is not there yet is built first.

    Raises:
        IntegrityViolation: a git object is damaged or missing.
        InfrastructureFailure: the cache cannot be written.
    """
    corpus = build_corpus(source, commit, language, shared.corpus, cache=places.corpora)
    search, view = shared.search, shared.view
    suffixes = shared.corpus.python_suffixes if language == "python" else shared.corpus.go_suffixes
    rules = ChunkRules.of(shared.dense)
    words = build_lexical(corpus, rules, shared.lexical, cache=places.blobs, folder=places.indexes)
    index = build_symbols(
        corpus, language, cache=places.blobs, folder=places.indexes, processes=_PARSING_PROCESSES
    )
    exact = ExactSearch(corpus, search, view, shared.exact)
    lexical = LexicalSearch(corpus, words, suffixes, search, view, shared.fuzzy, shared.named_paths)
    symbols = SymbolSearch(corpus, index, search, view, shared.symbols)
    graph = GraphSearch(SymbolGraph(index, shared.graph), search, view, shared.fusion)
    components = {
        # As a component exact search takes the query for one text, wherever it stands.
        "exact": component(
            lambda query, _: exact.rank(query, Mode.SUBSTRING),
            lambda ranking: ranking.files,
            lambda ranking, file, rank, ranks: exact.hit(ranking, file, rank=rank, components=ranks),
        ),
        "lexical": component(
            lexical.rank,
            lambda ranking: ranking.files,
            lambda ranking, file, rank, ranks: lexical.hit(ranking, file, rank=rank, components=ranks),
        ),
        "symbols": component(
            symbols.rank,
            lambda ranking: ranking.files,
            lambda ranking, file, rank, ranks: symbols.hit(ranking, file, rank=rank, components=ranks),
        ),
    }
    hybrid = HybridSearch(components, search, shared.fusion)
    return Toolset(corpus, exact, lexical, symbols, graph, components, hybrid, words, index)
