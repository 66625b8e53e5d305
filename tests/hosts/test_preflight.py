"""The preflight against an emulated host with one fault on; what a run must not start with is refused."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from repairlab.contract.canonical import Json
from repairlab.hosts.client import LMStudioClient
from repairlab.hosts.embedder import EmbeddingSettings
from repairlab.hosts.facts import ModelFacts
from repairlab.hosts.failures import FailureRules
from repairlab.hosts.preflight import Examination, examine, examine_embedder, jit_finding
from repairlab.hosts.preflight_asking import Finding, Opening, Terms
from repairlab.hosts.preflight_checks import LONG_TOKENS
from repairlab.hosts.preflight_texts import COUNT_AGAIN, COUNT_UP
from repairlab.hosts.residency import Residency
from repairlab.hosts.transport import Exchange

CHAT = "POST /v1/chat/completions"
EMBEDDINGS = "POST /v1/embeddings"
LOAD = "POST /api/v1/models/load"
KEY = "acme/statement"
# Chat requests in their order, counted from 1. The first after each load is residency's warm-up.
SEED, FIRST_A, CYCLE_A, FIRST_B, CYCLE_B, LONG_PROMPT, CODE, DENSE, COUNT, AGAIN, OTHER = (
    2,
    3,
    4,
    5,
    6,
    7,
    8,
    9,
    10,
    12,
    13,
)
LAST = OTHER


def rule(messages: Sequence[Json], tools: Sequence[Json]) -> int:
    return math.ceil(len(json.dumps([*messages, *tools])) / 2)


def terms(**changes: Any) -> Terms:
    settings: dict[str, Any] = {
        "temperature": 0.0,
        "top_p": 1.0,
        "seed": 0,
        "completion_tokens": 8192,
        "deterministic": True,
        "prompt_bound": rule,
        "reminder": "Call exactly one of the tools.",
    }
    return Terms(**(settings | changes))


@pytest.fixture
def openings(tools: tuple[dict[str, Any], ...]) -> tuple[Opening, ...]:
    """Two kinds of arms: with search and without."""
    messages: tuple[Json, ...] = (
        {"role": "system", "content": "You repair one fault. In every reply, call a tool."},
        {"role": "user", "content": "A fault:\n\n<statement>\nTotals of `Basket` are wrong.\n</statement>\n"},
    )
    return (Opening("A", messages, tools), Opening("B", messages, tools[1:]))


@pytest.fixture
def examined(
    host: Any, client: LMStudioClient, rules: FailureRules, openings: tuple[Opening, ...]
) -> Callable[..., Examination]:
    """The examination of one model under these faults."""

    def make(*faults: dict[str, Any], facts: ModelFacts | None = None, **changes: Any) -> Examination:
        host.reset(*faults)
        model = facts or ModelFacts(KEY, "llm", 65_536)
        residency = Residency(client, time.monotonic, time.sleep, rules=rules)
        return examine(client, residency, rules, model, openings, terms(**changes), time.monotonic)

    return make


def at(request: int, do: dict[str, Any], times: int = 1) -> dict[str, Any]:
    return {"route": CHAT, "from": request, "times": times, "do": do}


def instead(status: int, body: Any) -> dict[str, Any]:
    return {"kind": "reply-instead", "status": status, "body": json.dumps(body)}


def refusals(examination: Examination) -> list[str]:
    return [one.what for one in examination.findings if one.needed and not one.good]


def finding(examination: Examination, what: str) -> Finding:
    (one,) = [one for one in examination.findings if one.what == what]
    return one


def streamed(text: str, completion_tokens: int, reason: str) -> dict[str, Any]:
    """A reply with a token count of its own, as a literal stream."""
    head = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": KEY}
    choices = [{"index": 0, "delta": {"content": text}, "finish_reason": None}]
    end = [{"index": 0, "delta": {}, "finish_reason": reason}]
    usage = {"prompt_tokens": 40, "completion_tokens": completion_tokens, "total_tokens": 40}
    frames = [{**head, "choices": choices}, {**head, "choices": end}, {**head, "choices": [], "usage": usage}]
    body = "".join(f"data: {json.dumps(frame)}\n\n" for frame in frames) + "data: [DONE]\n\n"
    return {"kind": "reply-instead", "status": 200, "content_type": "text/event-stream", "body": body}


def test_a_host_without_faults_may_run(examined: Callable[..., Examination], journal: list[Exchange]) -> None:
    examination = examined()
    assert [one for one in examination.findings if not one.good] == []
    assert finding(examination, "tools of A").found.startswith("called search; then answered")
    assert examination.speeds
    assert examination.speeds.prompt
    assert examination.speeds.completion
    chats = [exchange.request for exchange in journal if exchange.path == "/v1/chat/completions"]
    assert len(chats) == LAST
    roles = [[message["role"] for message in chat["messages"]] for chat in chats]  # type: ignore[index,call-overload,union-attr]  # JSON
    assert roles[CYCLE_A - 1] == ["system", "user", "assistant", "tool", "user"]
    assert [roles[number - 1] for number in (SEED, FIRST_A, AGAIN)] == [["system", "user"]] * 3
    assert chats[SEED - 1] == chats[AGAIN - 1]
    assert {**chats[OTHER - 1], "seed": 0} == chats[SEED - 1]  # type: ignore[dict-item]  # JSON
    assert chats[COUNT - 1]["messages"][0]["content"] == COUNT_UP  # type: ignore[index,call-overload]  # JSON
    assert all(chat["max_tokens"] <= 8192 for chat in chats)  # type: ignore[index,call-overload,operator]  # JSON


def test_the_seed_is_looked_at_after_two_fresh_loads(
    examined: Callable[..., Examination], journal: list[Exchange]
) -> None:
    examined()
    paths = [exchange.path for exchange in journal]
    first, second = (number for number, path in enumerate(paths) if path.endswith("/load"))
    chats = [number for number, path in enumerate(paths) if path.endswith("/completions")]
    assert first < chats[0] < chats[COUNT - 1] < second < chats[AGAIN - 2]


GRAMMAR = {"error": "Engine protocol predict request returned 400: failed to parse grammar"}
TEMPLATE = {"error": 'Error rendering prompt with jinja template: "No user query found in messages."'}


def test_quirk_19_a_tool_list_that_breaks_the_grammar_is_named(
    examined: Callable[..., Examination],
) -> None:
    examination = examined(at(FIRST_A, instead(400, GRAMMAR)))
    assert refusals(examination) == ["tools of A"]
    assert "grammar" in finding(examination, "tools of A").found


def test_quirk_20_a_template_that_breaks_after_a_tool_result_is_found(
    examined: Callable[..., Examination],
) -> None:
    examination = examined(at(CYCLE_B, instead(400, TEMPLATE)))
    assert refusals(examination) == ["tools of B"]
    assert "jinja" in finding(examination, "tools of B").found


def test_quirk_13_calls_that_always_stand_as_text_are_refused(
    examined: Callable[..., Examination],
) -> None:
    as_text = {"kind": "reshape", "shape": "call-in-content"}
    assert refusals(examined(at(1, as_text, times=LAST))) == ["calls are read by the host"]
    once = examined(at(FIRST_A, as_text))
    assert refusals(once) == []
    assert not finding(once, "tools of A").good


def test_quirk_22_think_tags_in_the_content_are_refused(examined: Callable[..., Examination]) -> None:
    tags = {"kind": "reshape", "shape": "think-tags"}
    assert refusals(examined(at(CYCLE_A, tags))) == ["tools of A"]


def test_quirk_23_a_model_that_never_reasons_contradicts_its_pinned_default(
    examined: Callable[..., Examination], agent: ModelFacts
) -> None:
    examination = examined(facts=agent)
    assert refusals(examination) == ["reasoning as pinned"]
    reasoning = {"kind": "reshape", "shape": "reasoning-only"}
    assert refusals(examined(at(FIRST_A, reasoning), facts=agent)) == []


def test_quirk_25_a_prompt_that_shrinks_while_the_conversation_grows_is_refused(
    examined: Callable[..., Examination],
) -> None:
    fewer = {"kind": "count-tokens", "prompt_tokens": 9, "completion_tokens": 9}
    examination = examined(at(CYCLE_A, fewer))
    assert refusals(examination) == ["tools of A"]
    assert "9 prompt tokens" in finding(examination, "tools of A").found


@pytest.mark.parametrize("tokens", [4096, 1000])
def test_quirk_26_output_cut_below_what_was_asked_is_refused(
    examined: Callable[..., Examination], tokens: int
) -> None:
    examination = examined(at(COUNT, streamed("1\n2\n", tokens, "length")))
    assert refusals(examination) == ["no limit on output below the budget"]
    assert f"after {tokens} of {LONG_TOKENS}" in finding(examination, refusals(examination)[0]).found


def test_quirk_26_one_token_less_than_asked_is_accepted(examined: Callable[..., Examination]) -> None:
    assert refusals(examined(at(COUNT, streamed("1\n2\n", LONG_TOKENS - 1, "length")))) == []


def test_quirk_26_two_long_replies_that_stop_alike_were_stopped(
    examined: Callable[..., Examination], journal: list[Exchange]
) -> None:
    alike = examined(
        at(COUNT, streamed("1\n2\n", 4090, "stop")), at(COUNT + 1, streamed("7001\n", 4096, "stop"))
    )
    assert refusals(alike) == ["no limit on output below the budget"]
    asked = [exchange.request for exchange in journal if exchange.path == "/v1/chat/completions"]
    assert asked[COUNT]["messages"][0]["content"] == COUNT_AGAIN  # type: ignore[index,call-overload]  # JSON
    other = examined(
        at(COUNT, streamed("1\n2\n", 3000, "stop")), at(COUNT + 1, streamed("7001\n", 1700, "stop"))
    )
    assert refusals(other) == []


def test_quirk_39_replies_that_differ_are_refused_where_determinism_is_promised(
    examined: Callable[..., Examination],
) -> None:
    unstable = {"kind": "reshape", "shape": "unstable"}
    assert refusals(examined(at(1, unstable, times=LAST))) == ["one seed, one reply"]
    draws = examined(at(1, unstable, times=LAST), deterministic=False, temperature=0.2)
    assert refusals(draws) == []
    assert "seed_honoured is false" in finding(draws, "one seed, one reply").found


def test_a_seed_that_changes_nothing_is_told_where_seeds_are_to_make_draws(
    examined: Callable[..., Examination],
) -> None:
    greedy = finding(examined(), "another seed")
    assert greedy.good
    drawn = finding(examined(deterministic=False, temperature=0.2), "another seed")
    assert not drawn.good
    assert not drawn.needed
    assert "the same reply" in drawn.found


def test_a_failed_seed_request_is_no_proof_of_determinism(examined: Callable[..., Examination]) -> None:
    lost = {"kind": "cut-stream", "after_frames": 1}
    examination = examined(at(SEED, lost), at(AGAIN, lost))
    assert refusals(examination) == ["one seed, one reply"]
    assert "only 1 of 3 requests" in finding(examination, "one seed, one reply").found


def test_a_token_rule_below_the_truth_is_refused(examined: Callable[..., Examination]) -> None:
    many = {"kind": "count-tokens", "prompt_tokens": 9000, "completion_tokens": 9}
    examination = examined(at(CODE, many))
    assert refusals(examination) == ["token rule is above the host's counts"]
    assert "9000 tokens where the rule allows" in finding(examination, refusals(examination)[0]).found
    assert refusals(examined(at(DENSE, many))) == []


def test_a_rule_of_too_many_bytes_a_token_is_refused(examined: Callable[..., Examination]) -> None:
    def generous(messages: Sequence[Json], tools: Sequence[Json]) -> int:
        return rule(messages, tools) // 4

    assert refusals(examined(prompt_bound=generous)) == ["token rule is above the host's counts"]


def test_replies_that_count_nothing_are_refused(examined: Callable[..., Examination]) -> None:
    nothing = {"kind": "count-tokens", "prompt_tokens": 0, "completion_tokens": 0}
    examination = examined(at(2, nothing, times=LAST))
    assert refusals(examination) == ["replies count their tokens", "token rule is above the host's counts"]
    assert examination.speeds
    assert (examination.speeds.prompt, examination.speeds.completion) == (None, None)


def test_quirk_01_another_context_ends_the_examination(examined: Callable[..., Examination]) -> None:
    clamp = {"kind": "context-clamp", "context": 4864}
    examination = examined({"route": LOAD, "do": clamp})
    assert [one.what for one in examination.findings] == ["loaded and verified as pinned"]
    assert "4864 where 65536" in examination.findings[0].found
    assert examination.speeds is None


def test_quirk_04_a_stray_instance_during_the_probes_is_found(examined: Callable[..., Examination]) -> None:
    stray = {"kind": "stray-load", "key": "acme/navigator", "context": 4096}
    examination = examined(at(DENSE, stray))
    assert "stays as it was verified" in refusals(examination)
    assert examination.speeds is None


def test_quirk_30_a_crash_fails_what_was_asked_and_what_follows(examined: Callable[..., Examination]) -> None:
    crash = {"kind": "crash", "after_frames": 1, "message": "The model has crashed"}
    examination = examined(at(FIRST_B, crash))
    assert "tools of B" in refusals(examination)
    assert "stays as it was verified" in refusals(examination)


def test_quirk_04_jit_loading_is_seen_before_anything_is_loaded(host: Any, client: LMStudioClient) -> None:
    host.reset(jit=True)
    found = jit_finding(client.list_models(), client.inference_ids())
    assert not found.good
    assert found.needed
    host.reset()
    host.load()
    assert jit_finding(client.list_models(), client.inference_ids()).good


@pytest.fixture
def embedder(
    host: Any, client: LMStudioClient, rules: FailureRules, embedder_facts: ModelFacts
) -> Callable[..., Examination]:
    """The examination of the embedder under these faults of the requests after the warm-up."""

    def make(*faults: dict[str, Any]) -> Examination:
        host.reset(*({"route": EMBEDDINGS, "from": 2, "do": fault} for fault in faults))
        residency = Residency(client, time.monotonic, time.sleep, rules=rules)
        settings = EmbeddingSettings(1024, 2.0, "Find the code.")
        return examine_embedder(client, residency, rules, embedder_facts, settings, time.monotonic)

    return make


def test_an_embedder_without_faults_may_run(embedder: Callable[..., Examination]) -> None:
    examination = embedder()
    assert [one.what for one in examination.findings if one.good] == [
        "loaded and verified as pinned",
        "vectors",
    ]
    assert not refusals(examination)


@pytest.mark.parametrize("fault", ["truncated", "constant", "nan", "wrong-length", "drifting"])
def test_quirks_35_36_vectors_that_are_wrong_are_refused(
    embedder: Callable[..., Examination], fault: str
) -> None:
    assert "vectors" in refusals(embedder({"kind": "bad-vectors", "fault": fault}))
