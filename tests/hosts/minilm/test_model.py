"""The real embedder, over the real protocol. Needs the extra: run by ``make test-llama``."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from repairlab.contract.errors import InfrastructureFailure
from repairlab.contract.models import Models
from repairlab.contract.strict import load
from repairlab.hosts.client import LMStudioClient
from repairlab.hosts.embedder import Embedder, EmbeddingSettings
from repairlab.hosts.embedding_probe import cosine, probe
from repairlab.hosts.emulator.spawn import EmulatorProcess
from repairlab.hosts.facts import ModelFacts
from repairlab.hosts.failures import FailureRules
from repairlab.hosts.residency import Residency

pytestmark = pytest.mark.llama

CONTRACTS = Path(__file__).resolve().parents[3] / "contracts"
SETTINGS = EmbeddingSettings(1024, 2.0, "Find the code.", native_dimensions=384)
CODE = "def parse_invoice_date(text):\n    return date.fromisoformat(text)\n"
OTHER = "class Socket:\n    def close(self):\n        self.handle = None\n"
TWICE = """
import json, sys
from repairlab.hosts.minilm.model import MiniLm
from repairlab.hosts.minilm.package import find_minilm
model = MiniLm(find_minilm())
model.embed("something else first " * int(sys.argv[1]), 32768)
print(json.dumps([model.embed(text, 32768) for text in json.loads(sys.argv[2])]))
"""


@pytest.fixture(scope="module")
def facts() -> ModelFacts:
    """What the contract pins, with a context whose end is reached quickly."""
    pinned = ModelFacts.of(load(Models, CONTRACTS / "models.toml").root["MINILM"], 65_536)
    return replace(pinned, context_tokens=2560)


@pytest.fixture(scope="module")
def process() -> Iterator[EmulatorProcess]:
    with EmulatorProcess(minilm=True) as running:
        yield running


@pytest.fixture
def start(
    process: EmulatorProcess, connect: Callable[..., LMStudioClient], rules: FailureRules, facts: ModelFacts
) -> Callable[[EmbeddingSettings], Embedder]:
    """The embedder, resident and verified, under these settings."""
    client = connect(process.url, silence=60.0, call=60.0)

    def make(settings: EmbeddingSettings) -> Embedder:
        verified = (
            Residency(client, time.monotonic, time.sleep, rules=rules).ensure(facts, fresh=True).verified
        )
        assert "padded with zeros" in str(verified.display_name)
        return Embedder(client, verified, settings, rules)

    return make


def test_it_passes_the_examination_as_what_it_declares_to_be(
    start: Callable[[EmbeddingSettings], Embedder], facts: ModelFacts
) -> None:
    assert facts.native_dimensions == 384
    assert probe(start(SETTINGS), facts.context_tokens, 2.0) == ()


def test_without_the_declaration_the_examination_finds_the_padding(
    start: Callable[[EmbeddingSettings], Embedder], facts: ModelFacts
) -> None:
    (finding,) = probe(start(replace(SETTINGS, native_dimensions=None)), facts.context_tokens, 2.0)
    assert "end in zeros behind 384 numbers, and no padding is declared" in finding.what


def test_fewer_native_dimensions_than_there_are_void_the_reply(
    start: Callable[[EmbeddingSettings], Embedder],
) -> None:
    with pytest.raises(InfrastructureFailure, match="a number other than 0 behind the 300 that are declared"):
        start(replace(SETTINGS, native_dimensions=300)).documents([CODE])


def test_a_query_finds_the_code_that_it_means(start: Callable[[EmbeddingSettings], Embedder]) -> None:
    embedder = start(SETTINGS)
    query = embedder.query("where is the date of an invoice parsed")
    right, wrong = embedder.documents([CODE, OTHER])
    assert query is not None
    assert cosine(query, right) > cosine(query, wrong) + 0.3
    assert [len(one) for one in (query, right)] == [1024, 1024]
    assert math.isclose(math.hypot(*right), 1.0, abs_tol=1e-6)
    assert not any(right[384:])


def test_a_text_beyond_the_context_is_refused_and_not_cut(
    process: EmulatorProcess, connect: Callable[..., LMStudioClient], facts: ModelFacts, raw_ask: Any
) -> None:
    connect(process.url).load(facts.key, facts.context_tokens)
    body = {"model": facts.key, "input": ["word " * (facts.context_tokens + 1)]}
    answered = raw_ask(process.url, "POST", "/v1/embeddings", body)
    assert answered.status == 400
    assert "2561 tokens exceeds the available context size" in answered.json["error"]["message"]


def test_two_processes_give_the_same_bits_whatever_was_asked_before() -> None:
    texts = json.dumps([CODE, OTHER * 60, CODE + "x"])
    runs = [
        subprocess.run(
            [sys.executable, "-c", TWICE, number, texts], capture_output=True, text=True, check=True
        ).stdout
        for number in ("1", "400")
    ]
    assert runs[0] == runs[1]
    assert len(json.loads(runs[0])) == 3
