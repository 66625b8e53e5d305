"""What the emulated host can be told to do, seen by raw requests."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from repairlab.hosts.chat import ChatOutcome, ChatReply, ChatRequest, DeadlineReached, UnparsableCall
from repairlab.hosts.client import LMStudioClient
from repairlab.hosts.emulator.spawn import EmulatorProcess

CHAT = "/v1/chat/completions"
EMBEDDINGS = "/v1/embeddings"


def loaded(host: Any) -> list[str]:
    models = host.ask("GET", "/api/v1/models").json["models"]
    return [instance["id"] for model in models for instance in model["loaded_instances"]]


def said(host: Any, model: str, **more: Any) -> Any:
    body = {"model": model, "messages": [{"role": "user", "content": "x"}], **more}
    return host.ask("POST", CHAT, body)


def test_a_model_loaded_just_in_time_goes_after_its_idle_time_and_each_use_counts_anew(host: Any):
    host.reset(jit=True, virtual_clock=True, jit_ttl_seconds=100)
    assert said(host, "acme/navigator").status == 200
    for _ in range(3):
        host.advance(99)
        assert said(host, "acme/navigator").status == 200
    host.advance(99.9)
    assert loaded(host) == ["acme/navigator"]
    host.advance(0.2)
    assert loaded(host) == []
    assert said(host, "acme/navigator", ttl=7).status == 200
    host.advance(7)
    assert loaded(host) == []


def test_an_explicit_load_has_no_idle_limit_and_is_never_evicted(host: Any):
    host.reset(jit=True, virtual_clock=True)
    host.load()
    said(host, "acme/navigator")
    said(host, "acme/statement")
    assert loaded(host) == ["acme/agent-9b", "acme/statement"]  # navigator was evicted, the agent was not
    host.advance(1e4)
    assert loaded(host) == ["acme/agent-9b"]
    host.reset(jit=True, auto_evict=False)
    said(host, "acme/navigator")
    said(host, "acme/statement")
    assert loaded(host) == ["acme/navigator", "acme/statement"]


def test_a_load_takes_its_time_on_a_virtual_clock_without_sleeping(tmp_path: Path, raw_ask: Any):
    models = tmp_path / "models.json"
    slow = {"key": "slow", "engine": "floor", "load_seconds": 500}
    models.write_text(json.dumps({"schema_version": 1, "models": [slow], "virtual_clock": True}))
    with EmulatorProcess(models_config=models) as process:
        begun = time.monotonic()
        reply = raw_ask(process.url, "POST", "/api/v1/models/load", {"model": "slow"}).json
        assert reply["load_time_seconds"] == 500
        assert time.monotonic() - begun < 5


def test_memory_is_asked_for_before_a_just_in_time_load_too(host: Any):
    host.reset(jit=True, memory_bytes=6_000_000_000)
    host.load()
    answered = host.ask("POST", EMBEDDINGS, {"model": "text-embedding-acme", "input": "x"})
    assert answered.status == 500
    assert "insufficient system resources" in answered.json["error"]["message"]


def test_the_older_native_routes(host: Any):
    assert host.ask("GET", "/api/v0/models").json == {"object": "list", "data": []}
    host.load("text-embedding-acme", 4096)
    (entry,) = host.ask("GET", "/api/v0/models").json["data"]
    assert (entry["type"], entry["state"], entry["loaded_context_length"]) == ("embeddings", "loaded", 4096)
    one = host.ask("GET", "/api/v0/models/acme/agent-9b").json
    assert (one["type"], one["state"], one["quantization"]) == ("llm", "not-loaded", "Q4_K_M")
    assert "loaded_context_length" not in one
    assert host.ask("GET", "/api/v0/models/nobody").status == 404


def test_an_old_server_leaves_out_what_it_does_not_know(host: Any):
    host.reset(old_server=True)
    host.load()
    entry = host.ask("GET", "/api/v1/models").json["models"][0]
    assert not {"variants", "selected_variant"} & set(entry)
    assert "reasoning" not in entry["capabilities"]
    assert "parallel" not in entry["loaded_instances"][0]["config"]


@pytest.mark.parametrize("form", ["object", "text"])
def test_both_forms_of_a_rejected_token(tmp_path: Path, raw_ask: Any, form: str):
    models = tmp_path / "models.json"
    models.write_text(json.dumps({"schema_version": 1, "models": [], "token": "right", "auth_form": form}))
    with EmulatorProcess(models_config=models) as locked:
        body = raw_ask(locked.url, "GET", "/v1/models", None, {"Authorization": "Bearer wrong-one"}).json
        inner = body["error"] if form == "object" else body
        assert inner["code"] == "invalid_api_key"
        assert "wrong-" in json.dumps(body)  # the beginning of what was offered is echoed


def test_golden_shape_of_embeddings(host: Any):
    host.load("text-embedding-acme", 4096)
    body = host.ask("POST", EMBEDDINGS, {"model": "text-embedding-acme", "input": ["a", "b"]}).json
    assert [list(entry) for entry in body["data"]] == [["object", "index", "embedding"]] * 2
    assert (body["object"], body["model"]) == ("list", "text-embedding-acme")
    assert body["usage"] == {"prompt_tokens": 0, "total_tokens": 0}
    single = host.ask("POST", EMBEDDINGS, {"model": "text-embedding-acme", "input": "a"}).json
    assert single["data"] == body["data"][:1]
    for wrong in ({}, {"input": [1]}, {"input": []}):
        assert host.ask("POST", EMBEDDINGS, {"model": "text-embedding-acme", **wrong}).status == 400


def test_a_text_beyond_the_context_is_cut_without_a_word(host: Any):
    host.load("text-embedding-acme", 256)
    texts = ["x" * 1024 + end for end in "ab"]
    body = host.ask("POST", EMBEDDINGS, {"model": "text-embedding-acme", "input": texts}).json
    assert body["data"][0]["embedding"] == body["data"][1]["embedding"]


def test_a_fault_can_be_bound_to_the_hosts_clock(host: Any):
    stray = {"kind": "stray-unload"}
    host.reset({"route": "GET /v1/models", "after_seconds": 50, "do": stray}, virtual_clock=True)
    host.load()
    assert host.ask("GET", "/v1/models").json["data"]
    host.advance(50)
    assert host.ask("GET", "/v1/models").json["data"] == []


@pytest.mark.parametrize(
    "settings",
    [{"error_form": "xml"}, {"jit": 1}, {"default_context": 0}, {"nothing": 1}, {"advance_seconds": -1}],
)
def test_a_setting_that_is_wrong_is_refused(host: Any, settings: dict[str, Any]):
    answered = host.ask("POST", "/emulator/control", {"faults": [], **settings})
    assert answered.status == 400
    assert next(iter(settings)) in answered.json["error"]


def test_recorded_replies_come_back_to_the_letter(
    host: Any,
    client: LMStudioClient,
    connect: Callable[..., LMStudioClient],
    request_for: Callable[..., ChatRequest],
    tmp_path: Path,
):
    """A transcript of several kinds of outcomes, played by a host that knows nothing else."""
    error = json.dumps({"error": {"code": 500, "message": "Failed to parse tool call arguments as JSON: x"}})
    doings: list[dict[str, Any]] = [
        {"kind": "reshape", "shape": "bad-arguments"},
        {"kind": "reshape", "shape": "call-in-reasoning"},
        {"kind": "reply-instead", "status": 500, "body": error},
    ]
    faults = [
        {"route": f"POST {CHAT}", "from": number, "times": 1, "do": do}
        for number, do in enumerate(doings, start=2)
    ]
    host.reset(*faults)
    host.load()
    requests = [request_for(seed=seed) for seed in (0, 1, 2, 3, 0)]
    lines: list[dict[str, Any]] = []
    first: list[ChatOutcome] = []
    for request in requests:
        outcome = client.chat(request, math.inf)
        assert not isinstance(outcome, DeadlineReached)
        first.append(outcome)
        kind = "reply" if isinstance(outcome, ChatReply) else "unparsable-call"
        lines += [{"type": "request", "body": request.body()}, {"type": kind, "body": outcome.raw}]
    transcript = tmp_path / "transcript.jsonl"
    transcript.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
    models = tmp_path / "models.json"
    spec = {"key": "acme/agent-9b", "engine": "recorded"}
    models.write_text(json.dumps({"schema_version": 1, "models": [spec]}))
    with EmulatorProcess(models_config=models, recordings=transcript) as process:
        again = connect(process.url)
        again.load("acme/agent-9b", 65_536)
        for request, outcome in zip(requests, first, strict=True):
            replayed = again.chat(request, math.inf)
            assert isinstance(replayed, type(outcome))
            if isinstance(outcome, ChatReply):
                assert replayed == outcome
            else:
                assert isinstance(replayed, UnparsableCall)
        with pytest.raises(Exception, match="no reply to this request is recorded"):
            again.chat(requests[1], math.inf)
        with pytest.raises(Exception, match="no reply to this request is recorded"):
            again.chat(request_for(seed=77), math.inf)
