from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from repairlab.hosts.chat import ChatRequest

CHAT = "/v1/chat/completions"
LOAD = "/api/v1/models/load"
UNLOAD = "/api/v1/models/unload"


def test_the_greeting(host: Any):
    answered = host.ask("GET", "/lmstudio-greeting")
    assert answered.status == 200
    assert answered.json["lmstudio"] is True


def test_golden_shape_of_the_native_list(host: Any):
    host.load()
    llm, *_, embedder = host.ask("GET", "/api/v1/models").json["models"]
    config = {
        "context_length": 65536,
        "eval_batch_size": 512,
        "flash_attention": True,
        "offload_kv_cache_to_gpu": True,
        "parallel": 4,
    }
    assert llm == {
        "type": "llm",
        "publisher": "acme",
        "key": "acme/agent-9b",
        "display_name": "Agent 9B",
        "quantization": {"name": "Q4_K_M", "bits_per_weight": None},
        "size_bytes": 5900000000,
        "params_string": "9B",
        "loaded_instances": [{"id": "acme/agent-9b", "config": config}],
        "max_context_length": 262144,
        "format": "gguf",
        "architecture": "qwen35",
        "capabilities": {
            "vision": False,
            "trained_for_tool_use": True,
            "reasoning": {"allowed_options": ["off", "on"], "default": "on"},
        },
        "description": None,
        "variants": ["acme/agent-9b@q4_k_m", "acme/agent-9b@q8_0"],
        "selected_variant": "acme/agent-9b@q4_k_m",
    }
    assert set(embedder) & {"architecture", "capabilities", "description", "variants"} == set()
    assert embedder["type"] == "embedding"


def test_golden_shape_of_a_load(host: Any):
    body = {"model": "acme/agent-9b", "context_length": 65536, "echo_load_config": True}
    assert host.ask("POST", LOAD, body).json == {
        "type": "llm",
        "instance_id": "acme/agent-9b",
        "load_time_seconds": 0.0,
        "status": "loaded",
        "load_config": {
            "context_length": 65536,
            "eval_batch_size": 512,
            "flash_attention": True,
            "offload_kv_cache_to_gpu": True,
        },
    }
    assert "load_config" not in host.load("text-embedding-acme", 4096)


def test_a_load_without_a_context_takes_the_hosts_default(host: Any):
    reply = host.ask("POST", LOAD, {"model": "acme/agent-9b", "echo_load_config": True}).json
    assert reply["load_config"]["context_length"] == 4096


def test_loading_is_not_idempotent_and_ids_are_reused_when_free(host: Any):
    ids = [host.load("acme/navigator", 4096)["instance_id"] for _ in range(3)]
    assert ids == ["acme/navigator", "acme/navigator:2", "acme/navigator:3"]
    assert host.ask("POST", UNLOAD, {"instance_id": "acme/navigator"}).json == {
        "instance_id": "acme/navigator"
    }
    assert host.load("acme/navigator", 4096)["instance_id"] == "acme/navigator"
    listed = [entry["id"] for entry in host.ask("GET", "/v1/models").json["data"]]
    assert sorted(listed) == ids


@pytest.mark.parametrize(
    ("path", "body", "status", "kind", "code"),
    [
        (LOAD, {"model": "acme/none"}, 404, "model_not_found", None),
        (LOAD, {"model": "acme/agent-9b@q4_k_m"}, 404, "model_not_found", None),
        (LOAD, {}, 400, "invalid_request", "missing_required_parameter"),
        (LOAD, {"model": "acme/agent-9b", "ttl": 60}, 400, "invalid_request", "unrecognized_keys"),
        (LOAD, {"model": "acme/agent-9b", "parallel": 1}, 400, "invalid_request", "unrecognized_keys"),
        (LOAD, {"model": 7}, 400, "invalid_request", "invalid_type"),
        (LOAD, {"model": "acme/agent-9b", "context_length": True}, 400, "invalid_request", "invalid_type"),
        (LOAD, {"model": "acme/agent-9b", "context_length": 0}, 400, "invalid_request", "invalid_value"),
        (
            LOAD,
            {"model": "text-embedding-acme", "context_length": 65536},
            400,
            "invalid_request",
            "invalid_value",
        ),
        (LOAD, b"{", 400, "invalid_request", "invalid_json"),
        (UNLOAD, {"instance_id": "acme/agent-9b"}, 404, "model_not_found", None),
        (UNLOAD, {"model": "acme/agent-9b"}, 400, "invalid_request", "unrecognized_keys"),
    ],
)
def test_native_errors(host: Any, path: str, body: Any, status: int, kind: str, code: str | None):
    answered = host.ask("POST", path, body)
    assert answered.status == status
    assert answered.json["error"]["type"] == kind
    assert answered.json["error"].get("code") == code
    assert answered.json["error"]["message"]


def test_a_load_beyond_the_memory_fails(host: Any):
    host.load()
    host.load()
    answered = host.ask("POST", LOAD, {"model": "acme/agent-9b"})
    assert answered.status == 500
    assert "insufficient system resources" in answered.json["error"]["message"]


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_q27_an_unknown_route_is_a_success_with_an_error(host: Any, method: str):
    answered = host.ask(method, "/v1/models/unload")
    assert answered.status == 200
    assert answered.json == {"error": f"Unexpected endpoint or method. ({method} /v1/models/unload)"}


def test_just_in_time_loading_is_off_and_loads_with_the_default_context_when_on(
    host: Any, request_for: Callable[..., ChatRequest]
):
    body = request_for().body() | {"tools": [], "stream": False}
    answered = host.ask("POST", CHAT, body)
    assert answered.status == 400
    assert answered.json["error"]["code"] is None
    host.load("acme/navigator", 4096)
    answered = host.ask("POST", CHAT, body)
    assert (answered.status, answered.json["error"]["code"]) == (404, "model_not_found")
    host.reset(jit=True)
    assert len(host.ask("GET", "/v1/models").json["data"]) == 4
    assert host.ask("POST", CHAT, body).status == 200
    instance = host.ask("GET", "/api/v1/models").json["models"][0]["loaded_instances"][0]
    assert instance["config"]["context_length"] == 4096


def test_an_embedding_model_does_not_chat(host: Any, request_for: Callable[..., ChatRequest]):
    host.load("text-embedding-acme", 4096)
    answered = host.ask("POST", CHAT, request_for(model="text-embedding-acme").body())
    assert "is not an llm" in answered.json["error"]["message"]


def test_each_instance_answers_under_its_own_id(host: Any, request_for: Callable[..., ChatRequest]):
    host.load()
    host.load()
    body = request_for(model="acme/agent-9b:2").body() | {"stream": False}
    assert host.ask("POST", CHAT, body).json["model"] == "acme/agent-9b:2"


def test_golden_shape_of_a_reply(host: Any, request_for: Callable[..., ChatRequest]):
    host.load()
    body = host.ask("POST", CHAT, request_for().body() | {"stream": False}).json
    assert list(body) == [
        "id",
        "object",
        "created",
        "model",
        "choices",
        "usage",
        "stats",
        "system_fingerprint",
    ]
    assert body["object"] == "chat.completion"
    assert body["usage"]["total_tokens"] == sum(
        body["usage"][key] for key in ("prompt_tokens", "completion_tokens")
    )
    (choice,) = body["choices"]
    assert list(choice) == ["index", "logprobs", "finish_reason", "message"]
    assert list(choice["message"]["tool_calls"][0]) == ["id", "type", "function"]


def test_golden_shape_of_a_stream(host: Any, request_for: Callable[..., ChatRequest]):
    host.load()
    answered = host.ask("POST", CHAT, request_for().body())
    assert dict(answered.headers)["Content-Type"] == "text/event-stream"
    lines = answered.content.decode().split("\n\n")
    assert lines[-2:] == ["data: [DONE]", ""]
    assert '"choices":[]' in lines[-3]
    assert '"usage":{"prompt_tokens":' in lines[-3]
    assert '"finish_reason":"tool_calls"' in lines[-4]
    without = request_for().body()
    del without["stream_options"]
    assert b'"usage"' not in host.ask("POST", CHAT, without).content


def test_equal_requests_get_equal_bytes(host: Any, request_for: Callable[..., ChatRequest]):
    seen = set()
    for _ in range(3):
        host.reset()
        host.load()
        replies = [host.ask("POST", CHAT, request_for(seed=seed).body()) for seed in (0, 0, 1)]
        seen.add(tuple((one.status, tuple(one.headers), one.content) for one in replies))
    (replies,) = seen
    assert "Date" not in dict(replies[0][1])  # it would make equal bytes a matter of luck
    assert replies[0] == replies[1]
    assert replies[0] != replies[2]  # the id tells other requests apart


def test_a_reply_is_cut_at_max_tokens_and_one_token_less_is_counted(
    host: Any, request_for: Callable[..., ChatRequest]
):
    host.load()
    body = host.ask("POST", CHAT, request_for(max_tokens=10).body() | {"stream": False}).json
    assert body["choices"][0]["finish_reason"] == "length"
    assert body["usage"]["completion_tokens"] == 9


def test_q24_a_prompt_over_the_context_is_refused(host: Any, request_for: Callable[..., ChatRequest]):
    host.load("acme/agent-9b", 1024)
    answered = host.ask("POST", CHAT, request_for(text="word " * 2000).body())
    assert answered.status == 400
    assert "tokens to keep from the initial prompt" in answered.json["error"]


CALL = {"id": "1", "type": "function", "function": {"name": "run_tests", "arguments": "{}"}}
USER = {"role": "user", "content": "hello"}


@pytest.mark.parametrize(
    ("messages", "said"),
    [
        ([], "must be a list that is not empty"),
        ([{"role": "robot", "content": ""}], "no known role"),
        ([{"role": "user"}], "has no content"),
        ([USER, {"role": "system", "content": "x"}], "jinja"),
        ([{"role": "system", "content": "x"}], "jinja"),
        ([USER, {"role": "tool", "tool_call_id": "1", "content": "x"}], "answers no call"),
        ([USER, {"role": "assistant", "tool_calls": [CALL | {"id": ""}]}], "is not whole"),
        ([USER, {"role": "assistant", "tool_calls": [CALL | {"function": {"name": "a"}}]}], "is not whole"),
        (
            [
                USER,
                {"role": "assistant", "tool_calls": [CALL]},
                USER,
                {"role": "tool", "tool_call_id": "1", "content": "x"},
            ],
            "answers no call",
        ),
    ],
)
def test_q12_q20_messages_that_the_real_host_fails_on_are_refused(host: Any, messages: list[Any], said: str):
    host.load()
    answered = host.ask("POST", CHAT, {"model": "acme/agent-9b", "messages": messages})
    assert answered.status == 400
    assert said in answered.json["error"]


@pytest.mark.parametrize(
    ("key", "value"),
    [("seed", "1"), ("seed", 1.5), ("max_tokens", True), ("temperature", "0"), ("stream", 1), ("tools", {})],
)
def test_settings_of_another_type_are_refused(host: Any, key: str, value: Any):
    host.load()
    answered = host.ask("POST", CHAT, {"model": "acme/agent-9b", "messages": [USER], key: value})
    assert answered.status == 400
    assert answered.json["error"]["param"] == key


def test_a_token_is_asked_for_where_one_is_set(tmp_path: Any, raw_ask: Callable[..., Any]):
    import json

    from repairlab.hosts.emulator.spawn import EmulatorProcess

    models = tmp_path / "models.json"
    models.write_text(json.dumps({"schema_version": 1, "models": [], "token": "the-right-one"}))
    with EmulatorProcess(models_config=models) as locked:
        for headers in ({}, {"Authorization": "Bearer wrong-one"}):
            answered = raw_ask(locked.url, "GET", "/api/v1/models", None, headers)
            assert answered.status == 401
            assert answered.json["error"]["code"] == "invalid_api_key"
        right = {"Authorization": "Bearer the-right-one"}
        assert raw_ask(locked.url, "GET", "/api/v1/models", None, right).json == {"models": []}
        assert raw_ask(locked.url, "POST", "/emulator/control", {}, right).json["error"].startswith("Unexp")
