"""A host whose inference routes call an instance otherwise than by its key."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from repairlab.contract.errors import RefuseToStart
from repairlab.contract.models import UNPINNED
from repairlab.hosts.chat import ChatReply, ChatRequest
from repairlab.hosts.client import LMStudioClient
from repairlab.hosts.embedder import Embedder, EmbeddingSettings
from repairlab.hosts.emulator.spawn import EmulatorProcess
from repairlab.hosts.facts import ModelFacts
from repairlab.hosts.failures import FailureRules
from repairlab.hosts.residency import Residency
from repairlab.hosts.transport import Exchange

AGENT = ModelFacts("acme/agent-9b", "llm", 65_536, inference_key="agent-for-the-study")
EMBEDDER = ModelFacts("text-embedding-acme", "embedding", 32_768, inference_key="vectors@q8_0")
MODELS: list[dict[str, Any]] = [
    {
        "key": AGENT.key,
        "engine": "floor",
        "max_context_length": 65_536,
        "instance_name": AGENT.inference_key,
    },
    {
        "key": EMBEDDER.key,
        "type": "embedding",
        "engine": "hashing",
        "max_context_length": 32_768,
        "instance_name": EMBEDDER.inference_key,
    },
]


@pytest.fixture(scope="module")
def renaming(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    config = tmp_path_factory.mktemp("renaming") / "models.json"
    config.write_text(json.dumps({"schema_version": 1, "models": MODELS}))
    with EmulatorProcess(models_config=config) as process:
        yield process.url


@pytest.fixture
def renamed(renaming: str, connect: Callable[..., LMStudioClient]) -> LMStudioClient:
    return connect(renaming)


@pytest.fixture
def residency(renamed: LMStudioClient, rules: FailureRules) -> Iterator[Residency]:
    made = Residency(renamed, time.monotonic, time.sleep, rules=rules)
    yield made
    made.release()


def test_requests_go_to_the_name_that_the_inference_routes_show(
    renamed: LMStudioClient,
    residency: Residency,
    rules: FailureRules,
    request_for: Callable[..., ChatRequest],
    journal: list[Exchange],
) -> None:
    vectors = residency.ensure(EMBEDDER, fresh=True).verified
    settings = EmbeddingSettings(1024, 2.0, "Find the code.")
    assert len(Embedder(renamed, vectors, settings, rules).documents(["one", "two"])) == 2
    agent = residency.ensure(AGENT, fresh=True)
    assert agent.unloaded == (EMBEDDER.inference_key,)
    assert (agent.verified.key, agent.verified.instance_id) == (AGENT.key, AGENT.inference_key)
    reply = renamed.chat(request_for(model=agent.verified.instance_id), math.inf)
    assert isinstance(reply, ChatReply)
    assert reply.model == AGENT.inference_key
    residency.verify()
    asked = [one.request for one in journal if one.path in ("/v1/chat/completions", "/v1/embeddings")]
    assert {one["model"] for one in asked} == {AGENT.inference_key, EMBEDDER.inference_key}  # type: ignore[index,call-overload]  # JSON
    loads = [one.request["model"] for one in journal if one.path.endswith("/load")]  # type: ignore[index,call-overload]  # JSON
    assert loads == [EMBEDDER.key, AGENT.key]


@pytest.mark.parametrize(
    ("pinned", "expected"), [(None, AGENT.key), (AGENT.key, AGENT.key), ("another-name", "another-name")]
)
def test_another_name_than_the_pinned_one_refuses(
    residency: Residency, pinned: str | None, expected: str
) -> None:
    with pytest.raises(RefuseToStart) as caught:
        residency.ensure(replace(AGENT, inference_key=pinned), fresh=True)
    assert f"loaded instance is {AGENT.inference_key!r} where {expected!r} is required" in str(caught.value)


def test_a_name_that_is_not_pinned_is_taken_as_it_is_shown(residency: Residency) -> None:
    verified = residency.ensure(replace(AGENT, inference_key=UNPINNED), fresh=True).verified
    assert verified.instance_id == AGENT.inference_key
    assert verified.inference_ids == (AGENT.inference_key,)
