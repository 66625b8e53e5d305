"""What the treatments of an experiment search at one base commit, opened or built."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from repairlab.contract.canonical import Json
from repairlab.contract.models import embedder_facts
from repairlab.contract.study import Inputs
from repairlab.contract.task import Task
from repairlab.contract.treatments import Treatment
from repairlab.search.blobs import BlobSource
from repairlab.search.chunks import ChunkRules, CorpusChunks
from repairlab.search.corpus import Corpus, build_corpus
from repairlab.search.dense import DenseIndex
from repairlab.search.symbols_index import SymbolIndex, build_symbols
from repairlab.search.toolset import SearchPlaces, Toolset, open_toolset
from repairlab.search.vectors import VectorStore

_INDEXED = frozenset({"lexical", "symbols", "graph"})
_HELD_BY = {"lexical": "words", "symbols": "symbols", "graph": "symbols", "dense": "vectors"}
"""Component to the index that it looks up; exact search and paths need the text alone."""

EmbedDocuments = Callable[[Sequence[CorpusChunks], VectorStore], None]
"""Sees to it that the store has a vector for each text of the chunks."""


@dataclass(frozen=True, slots=True)
class Indexes:
    """The searched text of one base commit and the indexes over it that some treatment needs."""

    corpus: Corpus
    toolset: Toolset | None = None
    dense: DenseIndex | None = None
    symbols: SymbolIndex | None = None
    """Where a staged treatment needs its skeleton."""
    digests: Mapping[str, str] = field(default_factory=dict)
    """Name of each index to a digest of the bytes that it holds; see `used_digests`."""


def used_digests(indexes: Indexes | None, treatment: Treatment) -> dict[str, Json]:
    """Digests of what `treatment` looks things up in: text, words, symbols (the graph's too), vectors.

    They cover contents alone, not the code that made them: an index that other code builds to the same bytes
    is the same index.
    """
    if indexes is None or not treatment.searches:
        return {}
    named = {_HELD_BY[component] for component in treatment.components if component in _HELD_BY}
    if treatment.kind == "staged":
        named.add("symbols")
    return {name: indexes.digests[name] for name in sorted({"text", *named} & indexes.digests.keys())}


def open_indexes(inputs: Inputs, task: Task, source: BlobSource, places: SearchPlaces) -> Indexes | None:
    """All but vectors; ``None`` where no treatment searches.

    Raises:
        IntegrityViolation, InfrastructureFailure: see `repairlab.search.toolset.open_toolset`.
    """
    arms = inputs.treatments.values()
    if not any(arm.searches for arm in arms):
        return None
    shared = inputs.shared
    if any(_INDEXED & set(arm.components) for arm in arms):
        toolset = open_toolset(source, task.base, task.language, shared, places)
        digests = {
            "text": toolset.corpus.content(),
            "words": toolset.words.content(),
            "symbols": toolset.index.content(),
        }
        found = Indexes(toolset.corpus, toolset, digests=digests)
    else:
        corpus = build_corpus(source, task.base, task.language, shared.corpus, cache=places.corpora)
        found = Indexes(corpus, digests={"text": corpus.content()})
    if any(arm.kind == "staged" for arm in arms):
        return open_symbols(inputs, task, source, places, found)
    return found


def open_symbols(
    inputs: Inputs, task: Task, source: BlobSource, places: SearchPlaces, found: Indexes | None = None
) -> Indexes:
    """`found`, or else the corpus alone, with the symbols of the base."""
    if found is None:
        rules = inputs.shared.corpus
        corpus = build_corpus(source, task.base, task.language, rules, cache=places.corpora)
        found = Indexes(corpus, digests={"text": corpus.content()})
    symbols = build_symbols(found.corpus, task.language, cache=places.blobs, folder=places.indexes)
    return replace(found, symbols=symbols, digests={**found.digests, "symbols": symbols.content()})


def with_vectors(
    inputs: Inputs, indexes: Mapping[str, Indexes], places: SearchPlaces, embed: EmbedDocuments | None
) -> dict[str, Indexes]:
    """Each task's indexes with its vectors; unchanged where no treatment embeds.

    Args:
        inputs: the experiment.
        indexes: by task.
        places: where vectors are kept.
        embed: embeds what has no vector; ``None`` where there is no host, as in a replay.

    Raises:
        RefuseToStart: a vector is missing and `embed` is ``None``.
    """
    if inputs.embedder is None:
        return dict(indexes)
    shared = inputs.shared
    store = VectorStore(places.blobs, embedder_facts(inputs.embedder), shared.dense.dimensions)
    rules = ChunkRules.of(shared.dense)
    chunks = {name: CorpusChunks(one.corpus, rules, places.blobs) for name, one in sorted(indexes.items())}
    if embed is not None:
        embed(list(chunks.values()), store)
    dense = {name: DenseIndex(one, store) for name, one in chunks.items()}
    return {
        name: replace(one, dense=dense[name], digests={**one.digests, "vectors": dense[name].digest})
        for name, one in indexes.items()
    }
