from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from repairlab.contract.errors import InfrastructureFailure, RefuseToStart
from repairlab.contract.models import UNPINNED, Model
from repairlab.hosts.chat import ChatRequest
from repairlab.hosts.client import LMStudioClient
from repairlab.hosts.facts import ModelFacts
from repairlab.hosts.failures import FailureRules
from repairlab.hosts.residency import Residency
from repairlab.hosts.transport import Exchange

LOAD = "POST /api/v1/models/load"
UNLOAD = "POST /api/v1/models/unload"
CHAT = "POST /v1/chat/completions"


@pytest.fixture
def residency(client: LMStudioClient, rules: FailureRules) -> Residency:
    return Residency(client, time.monotonic, time.sleep, rules=rules, unload_seconds=2.0, retry_seconds=0.0)


def routes(journal: list[Exchange]) -> list[str]:
    return [f"{exchange.method} {exchange.path}" for exchange in journal]


def test_a_transition_is_verified_and_has_no_clock_in_it(
    host: Any, residency: Residency, agent: ModelFacts, journal: list[Exchange]
):
    first = residency.ensure(agent, fresh=True)
    assert (first.loaded, first.unloaded, first.level) == (True, (), "rest")
    assert first.verified.instance_id == "acme/agent-9b"
    assert first.verified.context_tokens == 65_536
    assert first.verified.instance_config["parallel"] == 4
    assert residency.seconds_spent > 0
    second = residency.ensure(agent, fresh=True)
    assert second == replace(first, unloaded=("acme/agent-9b",))
    assert "load_time_seconds" not in repr(second.facts())


def test_a_resident_model_is_kept_only_when_it_need_not_be_fresh(
    host: Any, residency: Residency, agent: ModelFacts, journal: list[Exchange]
):
    residency.ensure(agent, fresh=False)
    journal.clear()
    kept = residency.ensure(agent, fresh=False)
    assert (kept.loaded, kept.unloaded) == (False, ())
    assert LOAD not in routes(journal)
    residency.ensure(agent, fresh=True)
    assert routes(journal).count(LOAD) == 1


def test_everything_else_is_unloaded_first(host: Any, residency: Residency, agent: ModelFacts):
    host.load("acme/navigator", 4096)
    host.load("acme/agent-9b", 8192)
    host.load("acme/agent-9b", 8192)
    transition = residency.ensure(agent, fresh=False)
    assert transition.unloaded == ("acme/agent-9b", "acme/agent-9b:2", "acme/navigator")
    assert transition.verified.inference_ids == ("acme/agent-9b",)


def test_agent_and_embedder_are_never_resident_together(host: Any, residency: Residency, agent: ModelFacts):
    embedder = ModelFacts("text-embedding-acme", "embedding", 32_768, format="gguf", quantization="Q8_0")
    residency.ensure(embedder, fresh=True)
    transition = residency.ensure(agent, fresh=True)
    assert transition.unloaded == ("text-embedding-acme",)
    assert residency.ensure(embedder, fresh=True).verified.instance_config == {"context_length": 32_768}


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"key": "acme/agent"}, "models with this key is 0"),
        ({"key": "acme/agent-9b@q4_k_m"}, "models with this key is 0"),
        ({"kind": "embedding"}, "type is 'llm'"),
        ({"context_tokens": 524_288}, "largest context is 262144"),
        ({"format": "mlx"}, "format is 'gguf'"),
        ({"quantization": "Q8_0"}, "quantization is 'Q4_K_M'"),
        ({"quantization": None}, "quantization is 'Q4_K_M'"),
        ({"selected_variant": "acme/agent-9b@q8_0"}, "selected_variant is"),
        ({"reasoning_default": "off"}, "reasoning_default is 'on'"),
        ({"reasoning_default": None}, "reasoning_default is 'on'"),
        ({"inference_key": "agent"}, "loaded instance is"),
    ],
)
def test_a_fact_that_differs_refuses_by_name_with_a_repair(
    host: Any, residency: Residency, agent: ModelFacts, change: dict[str, Any], named: str
):
    with pytest.raises(RefuseToStart) as caught:
        residency.ensure(replace(agent, **change), fresh=True)
    assert named in caught.value.message
    assert caught.value.repair


def test_a_refusal_by_the_catalogue_leaves_the_host_as_it_was(
    host: Any, residency: Residency, agent: ModelFacts, journal: list[Exchange]
):
    host.load("acme/navigator", 4096)
    with pytest.raises(RefuseToStart):
        residency.ensure(replace(agent, format="mlx"), fresh=True)
    assert UNLOAD not in routes(journal)


def test_an_unpinned_fact_is_not_compared(host: Any, residency: Residency, agent: ModelFacts):
    loose = replace(
        agent,
        format=UNPINNED,
        quantization=UNPINNED,
        selected_variant=UNPINNED,
        reasoning_default=UNPINNED,
        inference_key=UNPINNED,
    )
    assert residency.ensure(loose, fresh=True).verified.quantization == "Q4_K_M"


@pytest.mark.parametrize("echo_tells", [True, False])
def test_q1_a_load_that_took_another_context_refuses(
    host: Any, residency: Residency, agent: ModelFacts, echo_tells: bool
):
    host.reset({"route": LOAD, "do": {"kind": "context-clamp", "context": 262_144, "echo_tells": echo_tells}})
    with pytest.raises(RefuseToStart, match="context is 262144 where 65536") as caught:
        residency.ensure(agent, fresh=True)
    assert "GGUF" in caught.value.repair


def test_q2_a_context_that_changes_with_the_first_prompt_voids_the_block(
    host: Any,
    residency: Residency,
    agent: ModelFacts,
    client: LMStudioClient,
    request_for: Callable[..., ChatRequest],
):
    host.reset({"route": CHAT, "from": 2, "do": {"kind": "context-drift", "context": 65_792}})
    residency.ensure(agent, fresh=True)
    residency.verify()
    client.chat(request_for(), float("inf"))
    with pytest.raises(InfrastructureFailure, match="65792") as caught:
        residency.verify()
    assert caught.value.kind == "residency-changed"


def test_q3_a_second_instance_refuses_at_first_and_is_infrastructure_later(
    host: Any, residency: Residency, agent: ModelFacts
):
    extra = {"kind": "extra-instance", "context": 8192}
    host.reset({"route": LOAD, "from": 1, "times": 1, "do": extra}, {"route": LOAD, "from": 3, "do": extra})
    with pytest.raises(RefuseToStart, match="acme/agent-9b:2"):
        residency.ensure(agent, fresh=True)
    assert residency.ensure(agent, fresh=True).unloaded == ("acme/agent-9b", "acme/agent-9b:2")
    with pytest.raises(InfrastructureFailure) as caught:
        residency.ensure(agent, fresh=True)
    assert caught.value.kind == "residency-changed"


def test_q4_an_instance_that_appears_in_mid_run_voids_the_block(
    host: Any, residency: Residency, agent: ModelFacts
):
    residency.ensure(agent, fresh=True)
    assert residency.verify().instance_id == "acme/agent-9b"
    host.load("acme/agent-9b", 8192)
    with pytest.raises(InfrastructureFailure, match=":2"):
        residency.verify()
    with pytest.raises(InfrastructureFailure, match="no model has been verified"):
        residency.verify()


def test_q5_a_model_that_is_gone_in_mid_run_voids_the_block(
    host: Any, residency: Residency, agent: ModelFacts
):
    residency.ensure(agent, fresh=True)
    host.ask("POST", "/api/v1/models/unload", {"instance_id": "acme/agent-9b"})
    with pytest.raises(InfrastructureFailure, match="loaded instances"):
        residency.verify()


def test_q6_an_acknowledged_unload_is_waited_for(host: Any, residency: Residency, agent: ModelFacts):
    host.reset({"route": UNLOAD, "do": {"kind": "lingering-unload", "looks": 3}})
    host.load()
    assert residency.ensure(agent, fresh=True).verified.instance_id == "acme/agent-9b"


def test_q6_an_unload_that_never_ends_stops_in_bounded_time(
    host: Any, client: LMStudioClient, agent: ModelFacts, rules: FailureRules
):
    host.reset({"route": UNLOAD, "do": {"kind": "lingering-unload", "looks": 10_000}})
    readings = iter(range(10_000))
    residency = Residency(
        client, lambda: float(next(readings)), lambda _: None, rules=rules, unload_seconds=5.0
    )
    residency.ensure(agent, fresh=True)
    with pytest.raises(InfrastructureFailure, match="acme/agent-9b") as caught:
        residency.ensure(agent, fresh=True)
    assert caught.value.kind == "unload-stuck"


def test_an_instance_that_another_client_is_just_unloading_is_waited_for(
    host: Any, residency: Residency, agent: ModelFacts
):
    host.reset({"route": UNLOAD, "do": {"kind": "lingering-unload", "looks": 2}})
    host.load()
    host.ask("POST", "/api/v1/models/unload", {"instance_id": "acme/agent-9b"})
    host.ask("GET", "/api/v1/models")
    assert residency.ensure(agent, fresh=True).loaded


def test_a_host_that_loads_just_in_time_refuses_unless_that_is_allowed(
    host: Any, client: LMStudioClient, residency: Residency, agent: ModelFacts, rules: FailureRules
):
    host.reset(jit=True)
    with pytest.raises(RefuseToStart) as caught:
        residency.ensure(agent, fresh=True)
    assert "just-in-time" in caught.value.repair
    tolerant = Residency(client, time.monotonic, time.sleep, rules=rules, allow_jit=True)
    assert len(tolerant.ensure(agent, fresh=True).verified.inference_ids) == 4


def test_a_model_that_does_not_fit_beside_itself_is_unloaded_before_the_load(
    host: Any, residency: Residency, agent: ModelFacts
):
    for _ in range(4):  # 5.9 GB each in a host of 12 GB: an order of load before unload would fail
        residency.ensure(agent, fresh=True)


def test_release_leaves_nothing(host: Any, residency: Residency, agent: ModelFacts, client: LMStudioClient):
    residency.ensure(agent, fresh=True)
    assert residency.release() == ("acme/agent-9b",)
    assert client.list_models().resident == ()
    with pytest.raises(InfrastructureFailure):
        residency.verify()


def test_facts_of_a_contract_entry():
    model = Model.model_validate_json(
        '{"role": "agent", "temperature": 0.0, "top_p": 1.0, "facts": {"key": "k", "format": "gguf"}}'
    )
    assert ModelFacts.of(model, 65_536) == ModelFacts("k", "llm", 65_536, format="gguf")
    embedder = Model.model_validate_json(
        '{"role": "embedder", "context_tokens": 32768, "facts": {"key": "e"}}'
    )
    assert ModelFacts.of(embedder, 65_536) == ModelFacts("e", "embedding", 32_768)
