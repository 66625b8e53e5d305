"""The embedder over the real client and an emulated host with the feature-hashing engine."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import pytest

from repairlab.contract.errors import InfrastructureFailure, IntegrityViolation, RefuseToStart
from repairlab.hosts.client import LMStudioClient
from repairlab.hosts.embedder import Embedder, EmbeddingRetry, EmbeddingSettings, instructed, token_bound
from repairlab.hosts.embedding_probe import cosine, probe
from repairlab.hosts.facts import ModelFacts
from repairlab.hosts.failures import FailureRules
from repairlab.hosts.residency import Residency
from repairlab.hosts.transport import Exchange

EMBEDDINGS = "POST /v1/embeddings"
SETTINGS = EmbeddingSettings(1024, 2.0, "Find the code.", batch_texts=4, batch_bytes=400)


@pytest.fixture
def retries() -> list[EmbeddingRetry]:
    return []


@pytest.fixture
def start(
    host: Any,
    client: LMStudioClient,
    embedder_facts: ModelFacts,
    rules: FailureRules,
    retries: list[EmbeddingRetry],
) -> Callable[..., Embedder]:
    """The embedder, resident and verified, under these faults of the requests after the warm-up."""

    def make(*faults: dict[str, Any], **more: Any) -> Embedder:
        host.reset(*({"route": EMBEDDINGS, "from": 2, **fault} for fault in faults))
        residency = Residency(client, time.monotonic, time.sleep, rules=rules)
        verified = residency.ensure(embedder_facts, fresh=True).verified
        return Embedder(client, verified, SETTINGS, more.get("rules", rules), retries.append)

    return make


def bad(fault: str, **more: Any) -> dict[str, Any]:
    return {"do": {"kind": "bad-vectors", "fault": fault}, **more}


def test_batches_keep_the_order_of_the_texts(start: Callable[..., Embedder], journal: list[Exchange]):
    embedder = start()
    journal.clear()
    texts = [f"def function_{number}(): pass" for number in range(10)] + ["x" * 399, "y" * 399]
    vectors = embedder.documents(texts)
    sizes = [len(exchange.request["input"]) for exchange in journal]  # type: ignore[call-overload,index]  # JSON
    assert sizes == [4, 4, 2, 1, 1]
    alone = [embedder.documents([text])[0] for text in texts]
    assert vectors == alone
    assert all(len(vector) == 1024 for vector in vectors)
    assert all(math.hypot(*vector) == pytest.approx(1.0, abs=1e-6) for vector in vectors)


def test_a_query_carries_the_frozen_instruction_and_a_chunk_does_not(
    start: Callable[..., Embedder], journal: list[Exchange]
):
    embedder = start()
    embedder.query("total of an order")
    embedder.documents(["total of an order"])
    sent = [exchange.request["input"] for exchange in journal[-2:]]  # type: ignore[call-overload,index]  # JSON
    assert sent == [["Instruct: Find the code.\nQuery:total of an order"], ["total of an order"]]
    assert instructed("Find the code.", "total of an order") == sent[0][0]


def test_a_relevant_chunk_is_nearer_than_another(start: Callable[..., Embedder]):
    embedder = start()
    query = embedder.query("parse the header of an HTTP message")
    near, far = embedder.documents(["def parse_http_header(message):", "class OrderTotals: pass"])
    assert query is not None
    assert cosine(query, near) > 0.4 > cosine(query, far)


@pytest.mark.parametrize(
    "fault", ["wrong-length", "nan", "null", "zero", "index-repeated", "fewer", "constant"]
)
def test_a_malformed_reply_is_asked_for_once_more_and_then_fails(
    start: Callable[..., Embedder],
    retries: list[EmbeddingRetry],
    journal: list[Exchange],
    rules: FailureRules,
    fault: str,
):
    embedder = start(bad(fault))
    journal.clear()
    with pytest.raises(InfrastructureFailure) as caught:
        embedder.documents(["a b", "c d"])
    assert caught.value.kind == "embedding-malformed"
    assert [retry.number for retry in retries] == [1]
    assert len(journal) == 2
    with pytest.raises(RefuseToStart):
        start(bad(fault), rules=rules.at("start")).documents(["a b", "c d"])


def test_a_reply_that_is_malformed_once_is_replaced(
    start: Callable[..., Embedder], retries: list[EmbeddingRetry]
):
    wanted = start().documents(["a b", "c d"])
    assert start(bad("null", times=1)).documents(["a b", "c d"]) == wanted
    assert retries[0].facts()["condition"] == "embedding-malformed"


@pytest.mark.parametrize("fault", ["reordered", "not-normalised"])
def test_what_can_be_put_right_by_rule_is(start: Callable[..., Embedder], fault: str):
    wanted = start().documents(["a b", "c d"])
    for one, other in zip(start(bad(fault)).documents(["a b", "c d"]), wanted, strict=True):
        assert list(one) == pytest.approx(list(other), abs=1e-6)


def test_another_model_is_noticed_and_the_verified_variant_is_none(
    start: Callable[..., Embedder],
):
    with pytest.raises(InfrastructureFailure) as caught:
        start({"do": {"kind": "wrong-model", "model": "other"}}).documents(["a"])
    assert caught.value.kind == "host-wrong-model"
    start({"do": {"kind": "wrong-model", "model": "text-embedding-acme@q8_0"}}).documents(["a"])


def test_nothing_that_might_not_fit_is_sent_and_nothing_is_cut(
    start: Callable[..., Embedder], journal: list[Exchange]
):
    embedder = start()
    journal.clear()
    longest = "x" * (2 * 32_767)
    assert token_bound(longest, 2.0) == 32_767
    assert embedder.fits(longest)
    for text in (longest + "x", "\u20ac" * 30_000):
        with pytest.raises(IntegrityViolation, match="32768"):
            embedder.documents(["fine", text])
        with pytest.raises(IntegrityViolation):
            embedder.query(text)
    with pytest.raises(IntegrityViolation, match="empty"):
        embedder.documents(["fine", " \n"])
    assert journal == []


def test_the_probe_finds_nothing_on_a_sound_embedder(start: Callable[..., Embedder]):
    embedder = start()
    reference = {"def f(): pass": embedder.documents(["def f(): pass"])[0]}
    assert probe(embedder, 32_768, 2.0, reference) == ()


def test_the_probe_finds_a_reader_that_stops_early(start: Callable[..., Embedder]):
    cut = {"do": {"kind": "bad-vectors", "fault": "truncated", "tokens": 512}}
    found = probe(start(cut), 32_768, 2.0)
    # the emulated tokenizer takes four bytes for a token: 512 of its tokens are 1,024 by the rule
    assert [finding.condition for finding in found] == ["embedding-truncated"] * 2


def test_the_probe_finds_vectors_that_drift_and_ones_that_are_not_the_stored_ones(
    start: Callable[..., Embedder],
):
    found = probe(start(bad("drifting")), 32_768, 2.0)
    assert "embedding-malformed" in [finding.condition for finding in found]
    embedder = start()
    other = embedder.documents(["class Other"])[0]
    (finding,) = probe(embedder, 32_768, 2.0, {"def f(): pass": other})
    assert "stored text" in finding.what
