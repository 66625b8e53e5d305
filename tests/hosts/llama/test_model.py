"""The real model, over the real protocol. Needs the extra: run by ``make test-llama``."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from repairlab.contract.errors import InfrastructureFailure, RefuseToStart
from repairlab.contract.models import Models
from repairlab.contract.strict import load
from repairlab.hosts.chat import ChatReply, ChatRequest
from repairlab.hosts.client import LMStudioClient
from repairlab.hosts.emulator.engines.llama import COMPLETION_TOKENS
from repairlab.hosts.emulator.spawn import EmulatorProcess
from repairlab.hosts.facts import ModelFacts
from repairlab.hosts.failures import FailureRules
from repairlab.hosts.llama.package import MODEL_KEY
from repairlab.hosts.residency import Residency
from repairlab.hosts.transport import Exchange, Patience

pytestmark = pytest.mark.llama

CONTRACTS = Path(__file__).resolve().parents[3] / "contracts"


@pytest.fixture(scope="module")
def facts() -> ModelFacts:
    """What the contract pins, with a context that loads quickly."""
    pinned = ModelFacts.of(load(Models, CONTRACTS / "models.toml").root["SMOL"], 65_536)
    return replace(pinned, context_tokens=2048)


@pytest.fixture(scope="module")
def process() -> Iterator[EmulatorProcess]:
    with EmulatorProcess(llama=True, control=True) as running:
        yield running


@pytest.fixture
def client(process: EmulatorProcess, connect: Callable[..., LMStudioClient]) -> LMStudioClient:
    return connect(process.url, silence=120.0, call=30.0)


@pytest.fixture
def residency(client: LMStudioClient, rules: FailureRules) -> Residency:
    return Residency(client, time.monotonic, time.sleep, rules=rules)


@pytest.fixture
def asked(conversation: list[Any], offered: list[Any]) -> ChatRequest:
    return ChatRequest(MODEL_KEY, tuple(conversation[:2]), tuple(offered), 0.0, 1.0, 0, 8192)


def _ask(client: LMStudioClient, request: ChatRequest) -> ChatReply:
    reply = client.chat(request, float("inf"))
    assert isinstance(reply, ChatReply)
    return reply


def _engine_processes(emulator: int) -> list[int]:
    """Ids of the children of the host's process."""
    children = Path(f"/proc/{emulator}/task").glob("*/children")
    return [int(pid) for file in children for pid in file.read_text().split()]


def _runs(pid: int) -> bool:
    """Whether a process exists; one that nobody has waited for yet does not count."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_temperature_0_and_seed_0_give_identical_bytes_in_three_runs(
    residency: Residency,
    client: LMStudioClient,
    facts: ModelFacts,
    asked: ChatRequest,
    conversation: list[Any],
    journal: list[Exchange],
) -> None:
    runs = []
    for _ in range(3):
        residency.ensure(facts, fresh=True)
        journal.clear()
        _ask(client, asked)
        _ask(client, replace(asked, messages=tuple(conversation)))
        runs.append([exchange.reply for exchange in journal])
    assert len(runs[0]) == 2
    assert all(runs[0])
    assert runs[0] == runs[1] == runs[2]


def test_every_reply_calls_one_offered_tool_and_counts_as_the_engine_does(
    residency: Residency, client: LMStudioClient, facts: ModelFacts, asked: ChatRequest, offered: list[Any]
) -> None:
    residency.ensure(facts, fresh=True)
    reply = _ask(client, asked)
    assert reply.finish_reason == "tool_calls"
    assert [call.name in {tool["function"]["name"] for tool in offered} for call in reply.tool_calls] == [
        True
    ]
    longer = _ask(client, replace(asked, messages=(*asked.messages, {"role": "user", "content": "now"})))
    assert reply.usage is not None
    assert longer.usage is not None
    # the word, and what the chat template puts around a message
    assert 4 <= longer.usage.prompt_tokens - reply.usage.prompt_tokens <= 8


def test_seed_and_temperature_reach_the_sampler(
    residency: Residency, client: LMStudioClient, facts: ModelFacts
) -> None:
    residency.ensure(facts, fresh=True)
    messages = ({"role": "user", "content": "Tell me a story."},)

    def told(seed: int) -> str:
        return _ask(client, ChatRequest(MODEL_KEY, messages, (), 1.0, 1.0, seed, 24)).content

    told(1)  # so that all that follow meet the same prompt cache
    first, again, other = told(1), told(1), told(2)
    assert first == again
    assert first != other


def test_a_reply_ends_at_the_engines_limit_and_says_so(
    residency: Residency, client: LMStudioClient, facts: ModelFacts
) -> None:
    residency.ensure(facts, fresh=True)
    messages = (
        {"role": "user", "content": "Count from 1 to 1000. Write every number: 1, 2, 3, 4, 5, 6, 7, 8,"},
    )
    reply = _ask(client, ChatRequest(MODEL_KEY, messages, (), 0.0, 1.0, 0, 8192))
    assert reply.finish_reason == "length"
    assert reply.usage is not None
    assert reply.usage.completion_tokens == COMPLETION_TOKENS


def test_a_context_that_the_engine_rounds_is_told_and_refused(
    process: EmulatorProcess, connect: Callable[..., LMStudioClient], rules: FailureRules, facts: ModelFacts
) -> None:
    client = connect(process.url, silence=120.0, phase="start")
    residency = Residency(client, time.monotonic, time.sleep, rules=rules.at("start"))
    with pytest.raises(RefuseToStart, match="loaded context is 768 where 600 is required"):
        residency.ensure(replace(facts, context_tokens=600), fresh=True)


def test_a_prompt_that_does_not_fit_is_an_overflow_and_not_cut(
    residency: Residency, client: LMStudioClient, facts: ModelFacts
) -> None:
    residency.ensure(replace(facts, context_tokens=256), fresh=True)
    messages = ({"role": "user", "content": "word " * 400},)
    with pytest.raises(InfrastructureFailure) as failure:
        client.chat(ChatRequest(MODEL_KEY, messages, (), 0.0, 1.0, 0, 16), float("inf"))
    assert failure.value.kind == "host-context-overflow"


def test_unloading_ends_the_engine_and_so_does_the_end_of_the_host(
    facts: ModelFacts, rules: FailureRules
) -> None:
    patience = Patience(silence=120.0)
    with (
        EmulatorProcess(llama=True) as host,
        LMStudioClient(host.url, None, time.monotonic, patience=patience, rules=rules) as client,
    ):
        client.load(facts.key, facts.context_tokens)
        (first,) = _engine_processes(host.pid)
        client.unload(MODEL_KEY)
        assert _engine_processes(host.pid) == []
        assert not _runs(first)
        client.load(facts.key, facts.context_tokens)
        (second,) = _engine_processes(host.pid)
        assert _runs(second)
    limit = time.monotonic() + 10
    while _runs(second) and time.monotonic() < limit:
        time.sleep(0.05)
    assert not _runs(second)
