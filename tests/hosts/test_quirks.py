"""One test for each reported fault of a real host: the emulated host shows it, class and message are checked.

What is expected is written out here and not read from the table, so that a changed table is noticed.
"""

from __future__ import annotations

import json
import math
import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from repairlab.agents.calls import InvalidCall, parse_call
from repairlab.contract.errors import InfrastructureFailure, IntegrityViolation, RefuseToStart
from repairlab.contract.failures import Condition, FailureClass
from repairlab.contract.wording import load_wording
from repairlab.hosts.asking import Asked, Conversation, Retry
from repairlab.hosts.chat import ChatReply, ChatRequest, UnparsableCall
from repairlab.hosts.client import LMStudioClient
from repairlab.hosts.devices import NvidiaSmi
from repairlab.hosts.embedder import Embedder, EmbeddingSettings
from repairlab.hosts.embedding_probe import probe
from repairlab.hosts.facts import ModelFacts, VerifiedFacts
from repairlab.hosts.failures import FailureRules
from repairlab.hosts.lms import Lms
from repairlab.hosts.provenance import hold_equal, look
from repairlab.hosts.residency import Residency
from repairlab.hosts.serving import ServerControl
from repairlab.hosts.transport import Exchange

CHAT = "POST /v1/chat/completions"
LOAD = "POST /api/v1/models/load"
UNLOAD = "POST /api/v1/models/unload"
LIST = "GET /api/v1/models"
EMBEDDINGS = "POST /v1/embeddings"
KEEP = "tokens to keep from the initial prompt"
ROOT = Path(__file__).resolve().parents[2]
REFUSE, INFRASTRUCTURE = FailureClass.REFUSE, FailureClass.INFRASTRUCTURE
MODEL, ACCEPT = FailureClass.MODEL, FailureClass.ACCEPT


def instead(route: str, body: Any, status: int = 200, **more: Any) -> dict[str, Any]:
    text = body if isinstance(body, str) else json.dumps(body)
    return {"route": route, "do": {"kind": "reply-instead", "status": status, "body": text}, **more}


def reshape(shape: str, **more: Any) -> dict[str, Any]:
    return {"route": CHAT, "do": {"kind": "reshape", "shape": shape}, **more}


@pytest.fixture
def residency(client: LMStudioClient, rules: FailureRules) -> Residency:
    return Residency(client, time.monotonic, lambda _: None, rules=rules, unload_seconds=0.5)


@pytest.fixture
def refused(residency: Residency, agent: ModelFacts) -> Callable[..., RefuseToStart]:
    """The refusal with which the first transition to a model ends."""

    def run(facts: ModelFacts = agent, using: Residency = residency) -> RefuseToStart:
        with pytest.raises(RefuseToStart) as caught:
            using.ensure(facts, fresh=True)
        assert caught.value.repair
        return caught.value

    return run


@pytest.fixture
def void(residency: Residency) -> Callable[[], InfrastructureFailure]:
    """The failure with which a block of requests ends."""

    def run() -> InfrastructureFailure:
        with pytest.raises(InfrastructureFailure) as caught:
            residency.verify()
        return caught.value

    return run


@pytest.fixture
def ask(
    host: Any, client: LMStudioClient, rules: FailureRules, request_for: Callable[..., ChatRequest]
) -> Callable[..., Asked]:
    """One request of a conversation with a loaded agent."""

    def run(*faults: dict[str, Any], retries: list[Retry] | None = None) -> Asked:
        host.reset(*faults)
        host.load()
        told = retries.append if retries is not None else None
        return Conversation(client, rules, 65_536, told).ask(request_for(), math.inf)

    return run


@pytest.fixture
def fails(ask: Callable[..., Asked]) -> Callable[..., InfrastructureFailure]:
    """The infrastructure failure with which such a request ends."""

    def run(*faults: dict[str, Any]) -> InfrastructureFailure:
        with pytest.raises(InfrastructureFailure) as caught:
            ask(*faults)
        return caught.value

    return run


@pytest.fixture
def classed(rules: FailureRules) -> Callable[..., None]:
    """Asserts number, classes at start and in a run, and repetitions of a condition's row."""

    def check(
        condition: Condition, quirk: int, at_start: FailureClass, in_run: FailureClass, retries: int = 0
    ) -> None:
        row = rules.of(condition)
        assert (row.quirk, row.at_start, row.in_run, row.retries) == (quirk, at_start, in_run, retries)

    return check


@pytest.fixture
def vectors(
    host: Any, client: LMStudioClient, embedder_facts: ModelFacts, rules: FailureRules
) -> Callable[..., Embedder]:
    """The embedder, resident and verified, under faults of what follows."""

    def make(*faults: dict[str, Any], phase: Any = "run") -> Embedder:
        host.reset(*({"route": EMBEDDINGS, "from": 2, **fault} for fault in faults))
        residency = Residency(client, time.monotonic, time.sleep, rules=rules)
        verified = residency.ensure(embedder_facts, fresh=True).verified
        return Embedder(client, verified, EmbeddingSettings(1024, 2.0, "Find."), rules.at(phase))

    return make


# Lifecycle


@pytest.mark.parametrize("echo_tells", [True, False])
def test_quirk_01_a_load_takes_another_context(
    host: Any, refused: Callable[..., RefuseToStart], classed: Callable[..., None], echo_tells: bool
):
    clamp = {"kind": "context-clamp", "context": 262_144, "echo_tells": echo_tells}
    host.reset({"route": LOAD, "do": clamp})
    refusal = refused()
    assert "context is 262144 where 65536 is required" in refusal.message
    assert "GGUF" in refusal.repair
    classed("loaded-context-differs", 1, REFUSE, INFRASTRUCTURE)


def test_quirk_02_the_context_changes_with_the_first_prompt(
    host: Any, refused: Callable[..., RefuseToStart], classed: Callable[..., None]
):
    host.reset({"route": CHAT, "do": {"kind": "context-drift", "context": 65_792}})
    refusal = refused()  # by the warm-up request, before anything is scored
    assert "context is 65792 where 65536 is required" in refusal.message
    assert "multiple of 256" in refusal.repair
    classed("context-drifted", 2, REFUSE, INFRASTRUCTURE)


def test_quirk_03_a_second_instance_beside_the_one_loaded(
    host: Any, residency: Residency, agent: ModelFacts, refused: Any, classed: Any
):
    host.reset({"route": LOAD, "times": 1, "do": {"kind": "extra-instance", "context": 8192}})
    refusal = refused()
    assert "acme/agent-9b:2" in refusal.message
    assert "serve this study alone" in refusal.repair
    assert residency.ensure(agent, fresh=True).unloaded == ("acme/agent-9b", "acme/agent-9b:2")
    classed("second-instance", 3, REFUSE, INFRASTRUCTURE)


def test_quirk_04_another_instance_appears_in_mid_run(
    host: Any, residency: Residency, agent: ModelFacts, client: LMStudioClient, request_for: Any, void: Any
):
    stray = {"kind": "stray-load", "key": "acme/agent-9b", "context": 4096}
    host.reset({"route": CHAT, "from": 2, "do": stray})
    residency.ensure(agent, fresh=True)
    client.chat(request_for(), math.inf)
    failure = void()
    assert failure.kind == "residency-changed"
    assert "['acme/agent-9b', 'acme/agent-9b:2']" in failure.message


@pytest.mark.parametrize("after_frames", [0, 3])
def test_quirk_05_the_model_is_unloaded_while_it_generates(
    host: Any,
    residency: Residency,
    agent: ModelFacts,
    client: LMStudioClient,
    request_for: Any,
    void: Any,
    after_frames: int,
):
    crash = {"kind": "crash", "after_frames": after_frames, "message": "Model unloaded."}
    host.reset({"route": CHAT, "from": 2, "times": 1, "do": crash})
    residency.ensure(agent, fresh=True)
    with pytest.raises(InfrastructureFailure, match=r"Model unloaded\.") as caught:
        client.chat(request_for(), math.inf)
    assert caught.value.kind == "host-model-not-loaded"
    assert void().kind == "host-model-not-loaded"
    assert residency.ensure(agent, fresh=True).verified.instance_id == agent.key


def test_quirk_06_memory_stays_taken_after_an_acknowledged_unload(
    host: Any,
    client: LMStudioClient,
    agent: ModelFacts,
    embedder_facts: ModelFacts,
    rules: FailureRules,
    doubles: Any,
    refused: Any,
):
    host.reset({"route": UNLOAD, "do": {"kind": "held-memory"}}, memory_bytes=24_000_000_000)
    memory = NvidiaSmi(doubles() / "nvidia-smi", {})
    watched = Residency(
        client, time.monotonic, time.sleep, rules=rules, memory=memory, unload_seconds=0.2, warm_up=False
    )
    watched.ensure(agent, fresh=True)
    refusal = refused(embedder_facts, watched)  # the next load is refused, nothing is loaded beside the rest
    assert "bytes of device memory are still taken" in refusal.message
    assert "restart" in refusal.repair
    assert client.list_models().resident == ()


def test_quirk_07_an_exit_status_of_zero_proves_nothing(
    host: Any, doubles: Any, residency: Residency, agent: ModelFacts, classed: Any
):
    lms = doubles() / "lms"
    done = subprocess.run([lms, "unload", "nobody"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")
    assert not hasattr(Lms, "unload")  # so it is never used: the list decides what is loaded
    host.reset({"route": UNLOAD, "do": {"kind": "lingering-unload", "looks": 2}})
    residency.ensure(agent, fresh=True)
    assert residency.ensure(agent, fresh=True).unloaded == (agent.key,)
    classed("acknowledgement-only", 7, ACCEPT, ACCEPT)


def test_quirk_08_list_and_command_line_disagree_on_what_is_loaded(
    host: Any, client: LMStudioClient, rules: FailureRules, doubles: Any, refused: Any
):
    host.reset({"route": LOAD, "times": 1, "do": {"kind": "hidden-instance"}})
    host.load()
    watched = Residency(
        client, time.monotonic, time.sleep, rules=rules, lms=Lms(doubles() / "lms", {}, rules)
    )
    refusal = refused(using=watched)
    assert "acme/agent-9b@q4_k_m" in refusal.message
    assert "still disagree" in refusal.repair


def test_quirk_09_a_variant_cannot_be_loaded_by_name_and_another_may_be_selected(
    host: Any, client: LMStudioClient, agent: ModelFacts, refused: Any, classed: Any
):
    with pytest.raises(InfrastructureFailure, match="not found in downloaded models"):
        client.load("acme/agent-9b@q4_k_m", 4096)
    refusal = refused(replace(agent, selected_variant="acme/agent-9b@q8_0", quantization="Q8_0"))
    assert "quantization is 'Q4_K_M' where 'Q8_0' is required" in refusal.message
    assert "selected_variant is 'acme/agent-9b@q4_k_m'" in refusal.message
    assert "Select the pinned variant" in refusal.repair
    classed("variant-differs", 9, REFUSE, INFRASTRUCTURE)


def test_quirk_09_an_old_server_that_names_no_variant_refuses(host: Any, refused: Any):
    host.reset(old_server=True)
    assert "selected_variant is None" in refused().message


def test_quirk_10_another_key_is_loaded_than_was_asked_for(host: Any, refused: Any, classed: Any):
    host.reset({"route": LOAD, "do": {"kind": "other-model", "key": "acme/navigator"}})
    refusal = refused()
    assert "loaded instance is 'acme/navigator' where 'acme/agent-9b' is required" in refusal.message
    assert "compared exactly" in refusal.repair
    assert not hasattr(Lms, "load")
    classed("key-differs", 10, REFUSE, INFRASTRUCTURE)


def test_quirk_11_a_load_is_refused_for_resources_once_and_twice(
    host: Any,
    client: LMStudioClient,
    residency: Residency,
    agent: ModelFacts,
    journal: list[Exchange],
    rules: FailureRules,
):
    error = {"error": {"type": "unknown", "message": "stopped due to insufficient system resources"}}
    host.reset(instead(LOAD, error, 500, times=1))
    transition = residency.ensure(agent, fresh=True)
    assert transition.retries == ("resources-refused",)
    assert [exchange.status for exchange in journal if exchange.path.endswith("/load")] == [500, 200]
    host.reset(instead(LOAD, error, 500))
    journal.clear()
    with pytest.raises(InfrastructureFailure) as in_run:
        residency.ensure(agent, fresh=True)
    assert in_run.value.kind == "host-resources"
    assert [exchange.status for exchange in journal if exchange.path.endswith("/load")] == [500, 500]
    unknown = Residency(client, time.monotonic, lambda _: None, rules=rules, retry_seconds=0.0)
    with pytest.raises(RefuseToStart, match="insufficient system resources"):
        unknown.ensure(agent, fresh=True)


# Tool calls


def test_quirk_12_a_call_without_id_name_and_arguments(ask: Callable[..., Asked], classed: Any):
    asked = ask(reshape("missing-name"))
    assert isinstance(asked.outcome, ChatReply)
    (call,) = asked.outcome.tool_calls
    assert (call.id, call.name, call.form) == ("", "", "missing")
    assert asked.conditions == ("call-without-name",)
    classed("call-without-name", 12, MODEL, MODEL)
    tools = load_wording(ROOT / "contracts").tools
    refusal = parse_call(call.name, call.arguments, tools, 1000)
    assert isinstance(refusal, InvalidCall)
    accepted = ask(reshape("empty-id"))
    assert accepted.conditions == ()
    assert isinstance(accepted.outcome, ChatReply)
    assert (accepted.outcome.tool_calls[0].id, accepted.outcome.tool_calls[0].name) == ("", "search")


def test_quirk_13_a_call_is_left_as_text(ask: Callable[..., Asked], classed: Any):
    asked = ask(reshape("call-in-content"))
    assert isinstance(asked.outcome, ChatReply)
    assert asked.outcome.tool_calls == ()
    assert asked.conditions == ("call-in-content",)
    classed("call-in-content", 13, REFUSE, MODEL)


def test_quirk_14_a_call_is_written_inside_reasoning(ask: Callable[..., Asked], classed: Any):
    asked = ask(reshape("call-in-reasoning"))
    assert isinstance(asked.outcome, ChatReply)
    assert asked.outcome.tool_calls == ()
    assert asked.conditions == ("call-in-reasoning", "reasoning-only")
    classed("call-in-reasoning", 14, MODEL, MODEL)


def test_quirk_15_a_call_is_dropped_by_the_server(
    ask: Callable[..., Asked], journal: list[Exchange], classed: Any
):
    retries: list[Retry] = []
    once = ask(reshape("call-dropped", times=1), retries=retries)
    assert isinstance(once.outcome, ChatReply)
    assert once.outcome.tool_calls
    assert [(retry.condition, retry.number) for retry in retries] == [("call-dropped", 1)]
    assert retries[0].facts()["body"] == retries[0].raw
    first, second = (exchange.request for exchange in journal if exchange.path == "/v1/chat/completions")
    assert first == second
    journal.clear()
    always = ask(reshape("call-dropped"))
    assert isinstance(always.outcome, ChatReply)  # now it is the model's: one repetition and no more
    assert always.conditions == ("call-dropped",)
    assert len(journal) == 2
    classed("call-dropped", 15, MODEL, MODEL, retries=1)


def test_quirk_16_arguments_are_no_json(ask: Callable[..., Asked], classed: Any):
    asked = ask(reshape("bad-arguments"))
    assert isinstance(asked.outcome, ChatReply)
    assert asked.outcome.tool_calls[0].arguments == "<parameter=path>a.py</parameter>"
    assert asked.conditions == ("arguments-not-json",)
    error = {"error": {"code": 500, "message": "Failed to parse tool call arguments as JSON: column 74"}}
    refused = ask(instead(CHAT, error, 500)).outcome
    assert isinstance(refused, UnparsableCall)
    assert "column 74" in refused.message
    classed("arguments-not-json", 16, MODEL, MODEL)


def test_quirk_17_a_call_is_cut_at_the_token_limit(ask: Callable[..., Asked], classed: Any):
    asked = ask(reshape("cut-call"))
    assert asked.conditions == ("reply-cut",)
    assert isinstance(asked.outcome, ChatReply)
    assert asked.outcome.finish_reason == "length"
    assert not asked.outcome.tool_calls[0].arguments.endswith("}")
    classed("reply-cut", 17, MODEL, MODEL)


def test_quirk_18_the_finish_reason_does_not_fit_the_calls(ask: Callable[..., Asked], classed: Any):
    asked = ask(reshape("stop-with-calls"))
    assert isinstance(asked.outcome, ChatReply)
    assert (asked.outcome.finish_reason, len(asked.outcome.tool_calls)) == ("stop", 1)
    assert asked.conditions == ("finish-reason-differs",)
    classed("finish-reason-differs", 18, ACCEPT, ACCEPT)


def test_quirk_19_a_tool_schema_has_no_grammar(ask: Callable[..., Asked], journal: list[Exchange]):
    inner = '{"error":{"code":400,"message":"Failed to initialize samplers: failed to parse grammar"}}'
    with pytest.raises(RefuseToStart, match="cannot turn the tool schemas into a grammar") as caught:
        ask(instead(CHAT, {"error": f"Engine protocol predict request returned 400: {inner}"}, 400))
    assert "type, properties, required and enum only" in caught.value.repair
    assert len(journal) == 1


def test_quirk_20_the_chat_template_refuses_the_conversation(
    host: Any, client: LMStudioClient, request_for: Any
):
    host.load()
    messages = ({"role": "user", "content": "x"}, {"role": "system", "content": "late"})
    with pytest.raises(RefuseToStart, match="jinja") as caught:
        client.chat(request_for(messages=messages), math.inf)
    assert "template knows tools" in caught.value.repair


# Content and reasoning


def test_quirk_21_reasoning_is_filled_and_content_is_empty(ask: Callable[..., Asked], classed: Any):
    asked = ask(reshape("reasoning-only"))
    assert isinstance(asked.outcome, ChatReply)
    assert asked.outcome.content == ""
    assert asked.outcome.reasoning
    assert asked.conditions == ("reasoning-only",)
    classed("reasoning-only", 21, MODEL, MODEL)


def test_quirk_22_thinking_stands_between_tags_in_the_content(ask: Callable[..., Asked], classed: Any):
    assert ask(reshape("think-tags")).conditions == ("think-tags",)
    classed("think-tags", 22, REFUSE, MODEL)


def test_quirk_23_the_reasoning_switch_says_otherwise_than_the_model_does(
    host: Any, agent: ModelFacts, refused: Any, classed: Any
):
    refusal = refused(replace(agent, reasoning_default="off"))
    assert "reasoning_default is 'on' where 'off' is required" in refusal.message
    listed = host.ask("GET", "/api/v1/models").json
    listed["models"][0]["capabilities"]["reasoning"]["default"] = "off"
    listed["models"][0]["loaded_instances"] = [
        {"id": agent.key, "config": {"context_length": 65_536, "parallel": 4}}
    ]
    empty = json.loads(json.dumps(listed))
    empty["models"][0]["loaded_instances"] = []
    host.reset(reshape("reasoning-only"), instead(LIST, empty, times=1), instead(LIST, listed))
    refusal = refused(replace(agent, reasoning_default="off"))
    assert "reasoning is 'on' where 'off' is required" in refusal.message
    classed("reasoning-differs", 23, REFUSE, INFRASTRUCTURE)


@pytest.mark.parametrize(
    "fault",
    [
        instead(
            CHAT, {"error": "tokens to keep from the initial prompt (n_keep: 70001>= n_ctx: 65536)"}, 400
        ),
        instead(CHAT, {"error": {"code": 400, "type": "exceed_context_size_error", "message": "no"}}, 400),
        instead(CHAT, {"error": {"message": "the request exceeds the available context size"}}, 200),
        {
            "route": CHAT,
            "do": {
                "kind": "error-frame",
                "after_frames": 0,
                "body": {"error": {"message": KEEP}},
            },
        },
    ],
)
def test_quirk_24_a_prompt_over_the_context_in_four_forms(fails: Any, fault: dict[str, Any], classed: Any):
    assert fails(fault).kind == "host-context-overflow"
    classed("context-overflow", 24, MODEL, MODEL)


def test_quirk_24_an_empty_answer_to_a_prompt_that_fills_the_context(fails: Any):
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": ""}}
    usage = {"prompt_tokens": 70_112, "completion_tokens": 0, "total_tokens": 70_112}
    body = {"model": "acme/agent-9b", "choices": [choice], "usage": usage}
    assert fails(instead(CHAT, body)).kind == "host-context-overflow"


def test_quirk_25_prompt_tokens_fall_while_the_conversation_grows(
    host: Any, client: LMStudioClient, rules: FailureRules, request_for: Any, classed: Any
):
    fall = {"kind": "count-tokens", "prompt_tokens": 9, "completion_tokens": 5}
    host.reset({"route": CHAT, "from": 2, "do": fall})
    host.load()
    conversation = Conversation(client, rules, 65_536)
    request = request_for()
    conversation.ask(request, math.inf)
    longer = replace(request, messages=(*request.messages, {"role": "user", "content": "and more"}))
    with pytest.raises(InfrastructureFailure, match="9 prompt tokens for 3 messages") as caught:
        conversation.ask(longer, math.inf)
    assert caught.value.kind == "host-prompt-truncated"
    classed("prompt-shrank", 25, REFUSE, INFRASTRUCTURE)


def test_quirk_26_output_ends_early_and_counts_are_one_off(
    ask: Callable[..., Asked], host: Any, client: LMStudioClient, request_for: Any, classed: Any
):
    early = ask(reshape("stopped-early"))
    assert isinstance(early.outcome, ChatReply)
    assert early.outcome.finish_reason == "stop"  # in a run it cannot be told from a model that had done
    host.reset()
    host.load()
    cut = client.chat(request_for(max_tokens=10), math.inf)
    assert isinstance(cut, ChatReply)
    assert cut.usage is not None
    assert (cut.finish_reason, cut.usage.completion_tokens) == ("length", 9)
    classed("stopped-early", 26, REFUSE, MODEL)


# Transport and server


@pytest.mark.parametrize("status", [200, 404])
def test_quirk_27_an_unknown_route_is_answered_with_success(host: Any, client: LMStudioClient, status: int):
    host.reset(unknown_route_status=status)
    with pytest.raises(RefuseToStart, match=r"Unexpected endpoint or method\.") as caught:
        client._ask("POST", "/v1/models/unload", {"instance_id": "x"}, 5.0, type(client.list_models()))
    assert "no path after the port" in caught.value.repair


def test_quirk_28_another_model_answers(
    host: Any, client: LMStudioClient, request_for: Any, fails: Any, classed: Any
):
    assert (
        fails({"route": CHAT, "do": {"kind": "wrong-model", "model": "acme/other:2"}}).kind
        == "host-wrong-model"
    )
    host.reset(answers_any_model=True)
    host.load("acme/navigator", 65_536)
    with pytest.raises(InfrastructureFailure, match="'acme/navigator' answered where 'acme/agent-9b'"):
        client.chat(request_for(), math.inf)
    classed("host-wrong-model", 28, REFUSE, INFRASTRUCTURE)


def test_quirk_29_no_sign_of_life(
    host: Any, connect: Callable[..., LMStudioClient], request_for: Any, journal: list[Exchange], classed: Any
):
    host.reset({"route": CHAT, "do": {"kind": "delay", "seconds": 1.0}})
    host.load()
    with pytest.raises(InfrastructureFailure, match=r"no byte for 0\.2 seconds") as caught:
        connect(host.url, silence=0.2).chat(request_for(), math.inf)
    assert caught.value.kind == "host-silent"
    assert [exchange.failure for exchange in journal] == ["host-silent"]  # and it was not sent again
    classed("host-silent", 29, REFUSE, INFRASTRUCTURE)


def test_quirk_29_a_server_that_hangs_is_stopped_and_started(
    host: Any, connect: Callable[..., LMStudioClient], doubles: Any, rules: FailureRules
):
    host.reset({"route": LIST, "times": 1, "do": {"kind": "hang"}})
    client = connect(host.url, call=0.3)
    with pytest.raises(InfrastructureFailure):
        client.list_models()
    lms = Lms(doubles() / "lms", {}, rules)
    control = ServerControl(client, lms, None, time.monotonic, time.sleep, start_seconds=5.0)
    assert control.wake() == ("stop", "start")
    assert client.list_models().models


def test_quirk_30_the_worker_crashes_or_the_socket_is_cut(fails: Any, classed: Any):
    message = "The model has crashed without additional information. (Exit code: 18446744072635812000)"
    assert fails(instead(CHAT, {"error": message}, 400)).kind == "host-model-crashed"
    assert (
        fails({"route": CHAT, "do": {"kind": "crash", "after_frames": 2, "message": message}}).kind
        == "host-model-crashed"
    )
    assert (
        fails({"route": CHAT, "do": {"kind": "cut-stream", "after_frames": 2}}).kind == "host-connection-lost"
    )
    classed("host-connection-lost", 30, REFUSE, INFRASTRUCTURE)
    classed("host-stream-lost", 30, REFUSE, INFRASTRUCTURE)


def test_quirk_31_the_status_of_the_server_is_noisy_or_wrong(
    host: Any, client: LMStudioClient, doubles: Any, rules: FailureRules, classed: Any
):
    assert Lms(doubles("noisy-status") / "lms", {}, rules).server_status().running
    wrong = Lms(doubles("status-says-stopped") / "lms", {}, rules)
    status = wrong.server_status()
    assert (status.running, status.port) == (False, None)
    host.reset({"route": "GET /lmstudio-greeting", "do": {"kind": "delay", "seconds": 0.6}})
    control = ServerControl(client, wrong, None, time.monotonic, time.sleep)
    assert control.wake() == ()  # a greeting slower than the tool's 500 ms is one all the same
    classed("status-doubtful", 31, ACCEPT, ACCEPT)


def test_quirk_32_the_application_was_updated_or_is_away(
    host: Any, raw_ask: Any, doubles: Any, rules: FailureRules, connect: Any, classed: Any
):
    lms = Lms(doubles() / "lms", {}, rules)
    before = look(lms)
    raw_ask(host.channel, "POST", "/version", {"version": 2})
    try:
        with pytest.raises(InfrastructureFailure, match="emulator-1 became emulator-2") as caught:
            hold_equal(before, look(lms), rules)
        assert caught.value.kind == "host-unreachable"
    finally:
        raw_ask(host.channel, "POST", "/version", {"version": 1})
    with pytest.raises(RefuseToStart, match="cannot be reached") as away:
        connect("http://127.0.0.1:9", phase="start").list_models()
    assert "lms server start" in away.value.repair
    classed("version-changed", 32, REFUSE, INFRASTRUCTURE)


@pytest.mark.parametrize("form", ["text", "object"])
def test_quirk_33_no_models_loaded_as_text_and_as_object(
    host: Any, connect: Callable[..., LMStudioClient], request_for: Any, form: str
):
    host.reset(error_form=form)
    with pytest.raises(InfrastructureFailure, match="No models loaded") as in_run:
        connect(host.url).chat(request_for(), math.inf)
    assert in_run.value.kind == "host-model-not-loaded"
    with pytest.raises(RefuseToStart, match="No models loaded"):
        connect(host.url, phase="start").chat(request_for(), math.inf)


# Embeddings


def test_quirk_34_an_embedding_model_is_classed_as_an_llm(
    host: Any, client: LMStudioClient, agent: ModelFacts, refused: Any, classed: Any
):
    refusal = refused(replace(agent, kind="embedding"))
    assert "type is 'llm' where 'embedding' is required" in refusal.message
    assert "architecture and name" in refusal.repair
    host.load()
    with pytest.raises(RefuseToStart, match="Model is not embedding"):
        client.embed(agent.key, ("a text",))
    classed("type-differs", 34, REFUSE, REFUSE)


def test_quirk_35_a_long_text_is_cut_without_a_word(vectors: Callable[..., Embedder], classed: Any):
    cut = {"do": {"kind": "bad-vectors", "fault": "truncated", "tokens": 512}}
    embedder = vectors(cut)
    alone = [embedder.documents(["x " * 2000 + end])[0] for end in ("1", "2")]
    assert alone[0] == alone[1]  # what the host does; only the probe can notice it, one by one
    found = probe(embedder, 32_768, 2.0)
    assert {finding.condition for finding in found} == {"embedding-truncated"}
    with pytest.raises(InfrastructureFailure, match="texts 0 and 1 differ and have one vector"):
        embedder.documents(["x " * 2000 + end for end in ("1", "2")])
    classed("embedding-truncated", 35, REFUSE, REFUSE)


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("wrong-length", "512 numbers where 1024"),
        ("nan", "not finite"),
        ("null", "something else than a number"),
        ("zero", "zero"),
        ("constant", "have one vector"),
        ("index-repeated", "index 0 twice"),
        ("fewer", "1 vectors for 2 texts"),
    ],
)
def test_quirk_36_vectors_are_malformed(
    vectors: Callable[..., Embedder], classed: Any, fault: str, said: str
):
    do = {"do": {"kind": "bad-vectors", "fault": fault}}
    with pytest.raises(InfrastructureFailure, match=said) as caught:
        vectors(do).documents(["one text", "another"])
    assert caught.value.kind == "embedding-malformed"
    with pytest.raises(RefuseToStart, match=said):
        vectors(do, phase="start").documents(["one text", "another"])
    classed("embedding-malformed", 36, REFUSE, INFRASTRUCTURE, retries=1)


def test_quirk_36_order_and_length_are_put_right_by_rule(vectors: Callable[..., Embedder]):
    wanted = vectors().documents(["one text", "another"])
    for fault in ("reordered", "not-normalised"):
        found = vectors({"do": {"kind": "bad-vectors", "fault": fault}}).documents(["one text", "another"])
        for one, other in zip(found, wanted, strict=True):
            assert list(one) == pytest.approx(list(other), abs=1e-6)


def test_quirk_37_an_empty_text_is_never_sent(
    vectors: Callable[..., Embedder], host: Any, client: LMStudioClient, journal: list[Exchange], classed: Any
):
    embedder = vectors()
    journal.clear()
    assert embedder.query(" \n") is None  # the model's own failure
    with pytest.raises(IntegrityViolation):
        embedder.documents(["a", ""])
    assert journal == []
    with pytest.raises(InfrastructureFailure, match="Failed to embed string"):
        client.embed("text-embedding-acme", ("",))
    classed("empty-input", 37, MODEL, MODEL)


def test_quirk_38_the_pinned_context_is_larger_than_the_models(
    embedder_facts: ModelFacts, refused: Any, journal: list[Exchange], classed: Any
):
    refusal = refused(replace(embedder_facts, context_tokens=65_536))
    assert "largest context is 32768 where 'at least 65536' is required" in refusal.message
    assert "at most the maximum" in refusal.repair
    assert "/api/v1/models/load" not in [exchange.path for exchange in journal]
    classed("context-over-maximum", 38, REFUSE, REFUSE)


# Determinism


def test_quirk_39_equal_seeds_give_other_replies(
    host: Any, client: LMStudioClient, request_for: Any, classed: Any
):
    def repeats() -> bool:
        replies = [client.chat(request_for(), math.inf) for _ in range(2)]
        contents = [reply.content for reply in replies if isinstance(reply, ChatReply)]
        return len(contents) == 2 and contents[0] == contents[1]

    host.load()
    assert repeats()
    host.reset(reshape("unstable"))
    host.load()
    assert not repeats()
    classed("seed-ignored", 39, REFUSE, REFUSE)


def test_quirk_40_two_requests_under_way_at_once(
    host: Any, client: LMStudioClient, request_for: Any, journal: list[Exchange], fails: Any, classed: Any
):
    host.reset({"route": CHAT, "do": {"kind": "delay", "seconds": 0.6}})
    host.load()
    first = threading.Thread(target=lambda: client.chat(request_for(), math.inf))
    first.start()
    time.sleep(0.2)
    with pytest.raises(InfrastructureFailure, match="while another one was under way") as caught:
        client.chat(request_for(), math.inf)
    first.join()
    assert caught.value.kind == "requests-overlap"
    assert len(journal) == 1  # the second was never sent
    client.list_models()
    error = {"error": {"code": 500, "message": "Context size has been exceeded."}}
    assert fails(instead(CHAT, error, 500)).kind == "host-context-overflow"  # with one under way: quirk 24
    classed("requests-overlap", 40, REFUSE, INFRASTRUCTURE)


def test_each_of_the_forty_quirks_has_a_test_here():
    numbers = {name.split("_")[2] for name in globals() if name.startswith("test_quirk_")}
    assert numbers == {f"{number:02d}" for number in range(1, 41)}


def test_verified_facts_hold_no_clock():
    assert not [name for name in VerifiedFacts.__dataclass_fields__ if "seconds" in name or "time" in name]
