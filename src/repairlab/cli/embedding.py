"""An embedder for a single question from the shell."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from repairlab.cli.alone import no_run_meanwhile
from repairlab.cli.hosting import connect
from repairlab.cli.settings import Settings
from repairlab.contract.controls import SharedControls
from repairlab.contract.errors import BadInput
from repairlab.contract.failures import load_failures
from repairlab.contract.models import Model, Models, embedder_facts
from repairlab.contract.strict import load
from repairlab.contract.study import Study
from repairlab.hosts.embedder import Embedder
from repairlab.hosts.emulator.spawn import EmulatorProcess
from repairlab.hosts.failures import FailureRules
from repairlab.runner.embedding import DocumentEmbedder, embedding_facts, embedding_settings
from repairlab.search.chunks import ChunkRules, CorpusChunks
from repairlab.search.corpus import Corpus
from repairlab.search.dense import DenseIndex, embed_corpus
from repairlab.search.dense_search import DenseSearch
from repairlab.search.toolset import SearchPlaces
from repairlab.search.vectors import QueryVectors, VectorStore


def embedder_named(study: Study, name: str) -> Model:
    """The embedder that ``contracts/models.toml`` calls `name`.

    Raises:
        BadInput: there is none.
    """
    models = load(Models, study.contracts / "models.toml").root
    known = sorted(one for one, model in models.items() if model.role == "embedder")
    if name not in known:
        raise BadInput(f"--embedder {name}: there are {', '.join(known)}")
    return models[name]


@contextmanager
def dense_search(
    study: Study,
    model: Model,
    corpus: Corpus,
    shared: SharedControls,
    places: SearchPlaces,
    settings: Settings,
) -> Iterator[DenseSearch]:
    """Dense search of a corpus; chunks without a vector are embedded first, as a preparation would.

    A calibration embedder is served by an emulated host of our own, any other by the host of the settings.

    Raises:
        RefuseToStart, InfrastructureFailure: the host is not to be had, or has not this model; or a run of
            the study is under way, whose model would be unloaded.
    """
    rules = FailureRules(load_failures(study.contracts))
    silence = shared.generation.silence_seconds
    store = VectorStore(places.blobs, embedder_facts(model), shared.dense.dimensions)
    chunks = CorpusChunks(corpus, ChunkRules.of(shared.dense), places.blobs)
    with ExitStack() as stack:
        if model.calibration:
            emulator = stack.enter_context(EmulatorProcess())
            host = stack.enter_context(connect(emulator.url, None, rules, silence, {}))
        else:
            stack.enter_context(no_run_meanwhile(study))
            host = stack.enter_context(connect(settings.host, settings.token, rules, silence, os.environ))
        verified = host.residency.ensure(embedding_facts(model, shared), fresh=True).verified
        embedder = Embedder(host.client, verified, embedding_settings(model, shared), rules)
        asked = DocumentEmbedder(embedder, host.residency)
        embed_corpus(chunks, store, asked)
        queries = QueryVectors(asked, shared.dense.query_instruction, shared.dense.dimensions)
        yield DenseSearch(DenseIndex(chunks, store), queries, shared.search, shared.dense, shared.view)
        host.residency.release()
