from __future__ import annotations

import json
import logging
import math
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from repairlab.contract.errors import BadInput, InfrastructureFailure, IntegrityViolation, RefuseToStart
from repairlab.hosts.chat import ChatReply, ChatRequest, DeadlineReached, UnparsableCall
from repairlab.hosts.client import LMStudioClient
from repairlab.hosts.emulator.spawn import EmulatorProcess
from repairlab.hosts.failures import FailureRules
from repairlab.hosts.reader import Unpaid
from repairlab.hosts.transport import Exchange, Patience

CHAT = "POST /v1/chat/completions"
NEVER = math.inf


def instead(body: Any, status: int = 200, kind: str = "application/json", **more: Any) -> dict[str, Any]:
    text = body if isinstance(body, str) else json.dumps(body)
    return {
        "route": CHAT,
        "do": {"kind": "reply-instead", "status": status, "content_type": kind, "body": text, **more},
    }


def sse(*events: Any, done: bool = True, **more: Any) -> dict[str, Any]:
    lines = [f"data: {event if isinstance(event, str) else json.dumps(event)}\n\n" for event in events]
    return instead("".join(lines) + ("data: [DONE]\n\n" if done else ""), kind="text/event-stream", **more)


def chunk(delta: dict[str, Any], reason: str | None = None, model: str = "acme/agent-9b") -> dict[str, Any]:
    return {"id": "x", "model": model, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}


@pytest.fixture
def fails(host: Any, client: LMStudioClient, request_for: Callable[..., ChatRequest]) -> Callable[..., Any]:
    """The exception with which a chat under these faults ends."""

    def run(*faults: dict[str, Any]) -> Any:
        host.reset(*faults)
        host.load()
        with pytest.raises((InfrastructureFailure, RefuseToStart)) as caught:
            client.chat(request_for(), NEVER)
        return caught.value

    return run


def test_a_reply_is_whole_and_typed(
    host: Any, client: LMStudioClient, request_for: Callable[..., ChatRequest]
):
    host.load()
    reply = client.chat(request_for(), NEVER)
    assert isinstance(reply, ChatReply)
    assert [call.name for call in reply.tool_calls] == ["search"]
    assert json.loads(reply.tool_calls[0].arguments)["mode"] == "substring"
    assert (reply.finish_reason, reply.model) == ("tool_calls", "acme/agent-9b")
    assert reply.usage is not None
    assert reply.usage.prompt_tokens > 100
    assert reply.usage.completion_tokens > 10


def test_every_setting_is_sent(
    host: Any, client: LMStudioClient, request_for: Callable[..., ChatRequest], journal: list[Exchange]
):
    host.load()
    client.chat(request_for(seed=2, temperature=0.2), NEVER)
    sent = journal[-1].request
    assert isinstance(sent, dict)
    expected = {"temperature": 0.2, "top_p": 1.0, "seed": 2, "max_tokens": 8192, "stream": True}
    assert expected.items() <= sent.items()
    assert sent["stream_options"] == {"include_usage": True}


def test_the_journal_holds_the_reply_to_the_byte(
    host: Any, client: LMStudioClient, request_for: Callable[..., ChatRequest], journal: list[Exchange]
):
    host.load()
    request = request_for()
    client.chat(request, NEVER)
    raw = host.ask("POST", "/v1/chat/completions", request.body())
    assert journal[-1].reply.encode() == raw.content
    assert journal[-1].status == 200
    assert journal[-1].failure == ""


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (instead({"error": "The model has crashed. (Exit code: 6)"}, 400), "host-model-crashed"),
        (instead({"error": {"message": "No models loaded.", "code": None}}, 404), "host-model-not-loaded"),
        (instead({"error": "Model unloaded."}, 200), "host-model-not-loaded"),
        (instead("<html>busy</html>", 503, "text/html"), "host-error"),
        (instead("not json"), "host-protocol"),
        (instead("[" * 100_000), "host-protocol"),
        (instead({"choices": [], "model": "acme/agent-9b"}), "host-protocol"),
        (
            sse({"error": {"message": "n_keep: tokens to keep from the initial prompt"}}),
            "host-context-overflow",
        ),
        (sse({"error": "Model unloaded."}), "host-model-not-loaded"),
        (sse("{broken"), "host-protocol"),
        (sse(chunk({"content": "a"})), "host-protocol"),
        (sse(), "host-protocol"),
    ],
)
def test_an_error_is_a_failure_at_every_status_and_in_a_stream(
    fails: Callable[..., Any], fault: dict[str, Any], kind: str
):
    assert fails(fault).kind == kind


def test_c07c_a_stream_without_its_end_mark_executes_nothing(fails: Callable[..., Any]):
    calls = [{"index": 0, "id": "a", "function": {"name": "read_file", "arguments": '{"path":"a.py"}'}}]
    whole = chunk({"tool_calls": calls}, "tool_calls")
    assert fails(sse(whole, done=False)).kind == "host-stream-lost"
    assert fails(sse(whole, done=False, cut=True)).kind == "host-connection-lost"


def test_q30_a_socket_cut_in_mid_stream_is_the_hosts_failure(
    fails: Callable[..., Any], journal: list[Exchange]
):
    failure = fails({"route": CHAT, "do": {"kind": "cut-stream", "after_frames": 2}})
    assert failure.kind == "host-connection-lost"
    assert journal[-1].failure == "host-connection-lost"
    assert journal[-1].reply.startswith("data: {")


def test_c07e_an_error_event_is_a_failure_with_its_reason(fails: Callable[..., Any]):
    body = 'event: error\ndata: {"error":{"message":"Context size has been exceeded."}}\n\n'
    assert fails(instead(body, kind="text/event-stream")).kind == "host-context-overflow"
    assert fails(instead("event: error\ndata: it broke\n\n", kind="text/event-stream")).kind == "host-error"


def test_an_error_after_some_frames_is_a_failure(fails: Callable[..., Any]):
    do = {"kind": "error-frame", "after_frames": 2, "body": {"error": {"message": "Model unloaded."}}}
    assert fails({"route": CHAT, "do": do}).kind == "host-model-not-loaded"


def test_c09f_another_model_that_answers_is_noticed(fails: Callable[..., Any]):
    do = {"kind": "wrong-model", "model": "acme/agent-9b:2"}
    assert fails({"route": CHAT, "do": do}).kind == "host-wrong-model"
    whole = {"model": "other", "choices": [{"index": 0, "finish_reason": "stop", "message": {}}]}
    assert fails(instead(whole)).kind == "host-wrong-model"
    mixed = sse(chunk({"content": "a"}), chunk({}, "stop", model="other"))
    assert fails(mixed).kind == "host-wrong-model"


def test_a_reply_that_names_no_model_is_not_taken(fails: Callable[..., Any]):
    assert (
        fails(sse({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})).kind == "host-protocol"
    )


def test_q27_an_unknown_route_refuses(fails: Callable[..., Any]):
    failure = fails(instead({"error": "Unexpected endpoint or method. (POST /v1/chat/completions)"}))
    assert isinstance(failure, RefuseToStart)


def test_q16_text_that_the_host_cannot_parse_as_a_call_is_the_models_own(
    host: Any, client: LMStudioClient, request_for: Callable[..., ChatRequest]
):
    error = {"error": {"code": 500, "message": "Failed to parse tool call arguments as JSON: column 74"}}
    for fault in (instead(error, 500), sse(error)):
        host.reset(fault)
        host.load()
        assert isinstance(client.chat(request_for(), NEVER), UnparsableCall)


def test_a_reply_sent_at_once_is_read_like_a_stream(
    host: Any, client: LMStudioClient, request_for: Callable[..., ChatRequest]
):
    message = {"role": "assistant", "content": "done", "tool_calls": []}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    host.reset(instead({"model": "acme/agent-9b", "choices": [choice]}))
    host.load()
    reply = client.chat(request_for(), NEVER)
    assert isinstance(reply, ChatReply)
    assert reply.content == "done"


def test_a_line_separator_inside_text_does_not_break_the_stream(
    host: Any, client: LMStudioClient, request_for: Callable[..., ChatRequest]
):
    parts = [chunk({"content": "a\u2028b\x85c"}), chunk({}, "stop")]
    host.reset(sse(*(json.dumps(part, ensure_ascii=False) for part in parts)))
    host.load()
    reply = client.chat(request_for(), NEVER)
    assert isinstance(reply, ChatReply)
    assert reply.content == "a\u2028b\x85c"


def test_a_deadline_while_frames_come_is_an_outcome_with_what_had_come(
    host: Any, client: LMStudioClient, request_for: Callable[..., ChatRequest]
):
    host.reset({"route": CHAT, "do": {"kind": "pace", "frame_seconds": 0.15}})
    host.load()
    outcome = client.chat(request_for(), time.monotonic() + 0.4)
    assert isinstance(outcome, DeadlineReached)
    assert isinstance(outcome.partial, dict)
    assert outcome.partial["model"] == "acme/agent-9b"


def test_silence_is_the_hosts_failure_even_when_the_deadline_falls_into_it(
    host: Any, connect: Callable[..., LMStudioClient], request_for: Callable[..., ChatRequest]
):
    pace = {"kind": "pace", "silent_before_frame": 1, "silent_seconds": 3.0}
    host.reset({"route": CHAT, "do": pace})
    host.load()
    with pytest.raises(InfrastructureFailure) as caught:
        connect(host.url, silence=0.4).chat(request_for(), time.monotonic() + 0.1)
    assert caught.value.kind == "host-silent"


def test_a_host_that_speaks_again_after_the_deadline_was_alive(
    host: Any, connect: Callable[..., LMStudioClient], request_for: Callable[..., ChatRequest]
):
    pace = {"kind": "pace", "silent_before_frame": 1, "silent_seconds": 0.5}
    host.reset({"route": CHAT, "do": pace})
    host.load()
    started = time.monotonic()
    outcome = connect(host.url, silence=4.0).chat(request_for(), started + 0.2)
    assert isinstance(outcome, DeadlineReached)
    assert 0.4 < time.monotonic() - started < 3.0


def test_a_deadline_that_has_passed_sends_nothing(
    client: LMStudioClient, request_for: Callable[..., ChatRequest], journal: list[Exchange]
):
    assert client.chat(request_for(), time.monotonic() - 1) == DeadlineReached(None)
    assert journal == []


def test_an_error_after_the_deadline_is_still_the_hosts_failure(
    host: Any, rules: FailureRules, request_for: Callable[..., ChatRequest]
):
    host.reset(sse({"error": "The model has crashed. (Exit code: 6)"}))
    host.load()
    readings = iter([0.0, 0.0, *([100.0] * 50)])
    late = LMStudioClient(host.url, None, lambda: next(readings), patience=Patience(silence=5.0), rules=rules)
    with late, pytest.raises(InfrastructureFailure) as caught:
        late.chat(request_for(), 50.0)
    assert caught.value.kind == "host-model-crashed"


def test_nobody_at_the_address_is_unreachable(
    connect: Callable[..., LMStudioClient], journal: list[Exchange]
):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        client = connect(f"http://127.0.0.1:{unused.getsockname()[1]}")
        with pytest.raises(InfrastructureFailure) as caught:
            client.list_models()
    assert caught.value.kind == "host-unreachable"
    assert (journal[-1].status, journal[-1].failure) == (None, "host-unreachable")


def test_a_proxy_in_the_environment_is_not_used(
    monkeypatch: pytest.MonkeyPatch, host: Any, connect: Callable[..., LMStudioClient]
):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    connect(host.url).greet()


def test_the_list_is_read_with_what_the_host_leaves_out(client: LMStudioClient):
    llm, *_, embedder = client.list_models().models
    assert (llm.quantization_name, llm.reasoning_default) == ("Q4_K_M", "on")
    assert llm.selected_variant == "acme/agent-9b@q4_k_m"
    assert (embedder.capabilities, embedder.architecture, embedder.variants) == (None, None, None)


def test_an_extra_key_in_the_list_is_allowed_and_a_missing_one_refuses(host: Any, client: LMStudioClient):
    route = "GET /api/v1/models"
    entry: dict[str, Any] = {"type": "llm", "key": "k", "loaded_instances": [], "max_context_length": 9}

    def answer(model: dict[str, Any]) -> dict[str, Any]:
        body = json.dumps({"models": [model], "new": 1})
        return {"route": route, "do": {"kind": "reply-instead", "status": 200, "body": body}}

    host.reset(answer({**entry, "novel": {"a": 1}}))
    assert client.list_models().models[0].key == "k"
    for key in entry:
        host.reset(answer({name: value for name, value in entry.items() if name != key}))
        with pytest.raises(RefuseToStart, match=key):
            client.list_models()


def test_a_rejected_token_is_never_quoted(
    tmp_path: Path,
    connect: Callable[..., LMStudioClient],
    journal: list[Exchange],
    caplog: pytest.LogCaptureFixture,
):
    token = "sk-offered-5f2c91"
    models = tmp_path / "models.json"
    models.write_text(json.dumps({"schema_version": 1, "models": [], "token": "the-right-one"}))
    with EmulatorProcess(models_config=models) as locked, caplog.at_level(logging.DEBUG):
        client = connect(locked.url, token)
        client.greet()
        with pytest.raises(RefuseToStart) as refused:
            client.list_models()
        connect(locked.url, "the-right-one").list_models()
    told = [str(refused.value), repr(refused.value), repr(client)]
    told += [repr(exchange) for exchange in journal] + [caplog.text]
    assert not any(token[:6] in text for text in told)


@pytest.mark.parametrize("status", [200, 400, 401, 403, 500])
def test_a_token_that_an_error_echoes_is_taken_out(
    status: int,
    host: Any,
    connect: Callable[..., LMStudioClient],
    journal: list[Exchange],
    request_for: Callable[..., ChatRequest],
):
    token = "sk-offered-5f2c91"
    host.reset(instead({"error": {"message": f"bad {token}", "type": token}}, status))
    with pytest.raises((InfrastructureFailure, RefuseToStart)) as caught:
        connect(host.url, token).chat(request_for(), NEVER)
    assert token not in str(caught.value)
    assert token not in repr(journal)


@pytest.mark.parametrize("token", ["", "two words", "line\nbreak", "d\u00e9j\u00e0"])
def test_a_token_that_no_header_can_hold_is_refused_without_being_quoted(token: str, rules):
    with pytest.raises(BadInput) as caught:
        LMStudioClient("http://127.0.0.1:1", token, time.monotonic, patience=Patience(silence=1), rules=rules)
    assert not token or token not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    ["127.0.0.1:1234", "ftp://h", "http://", "http://me:secret@h:1", "http://h:1/v1", "http://h:1?x=1"],
)
def test_a_base_url_of_another_form_is_refused(url: str, rules):
    with pytest.raises(BadInput) as caught:
        LMStudioClient(url, None, time.monotonic, patience=Patience(silence=1), rules=rules)
    assert "secret" not in str(caught.value)


def test_text_that_is_no_unicode_is_never_sent(
    client: LMStudioClient, request_for: Callable[..., ChatRequest], journal: list[Exchange]
):
    with pytest.raises(IntegrityViolation):
        client.chat(request_for(text="half \ud83d"), NEVER)
    assert journal == []


def test_a_server_that_is_another_refuses(host: Any, client: LMStudioClient):
    client.greet()
    with pytest.raises(RefuseToStart):
        client._ask("GET", "/nowhere", None, 5.0, type(client.list_models()))


class Unpaying:
    """Keeps what it is told of the time before a first token."""

    def __init__(self, most_seconds: float) -> None:
        self.told: list[float] = []
        self.unpaid = Unpaid(most_seconds, self.told.append)


def silent_before(frame: int, seconds: float) -> dict[str, Any]:
    pace = {"kind": "pace", "frame_seconds": 0.02, "silent_before_frame": frame, "silent_seconds": seconds}
    return {"route": CHAT, "do": pace}


@pytest.mark.parametrize("frame", [0, 1])
def test_time_before_the_first_token_can_be_another_s_and_moves_the_deadline(
    host: Any, client: LMStudioClient, request_for: Callable[..., ChatRequest], frame: int
):
    """The part with the role alone (number 0) is no token: hosts may send it before they read the prompt."""
    host.reset(silent_before(frame, 0.3))
    host.load()
    assert isinstance(client.chat(request_for(), time.monotonic() + 0.15), DeadlineReached)
    unpaying = Unpaying(most_seconds=5.0)
    assert isinstance(client.chat(request_for(), time.monotonic() + 0.15, unpaying.unpaid), ChatReply)
    (seconds,) = unpaying.told
    assert 0.3 <= seconds < 0.45


def test_time_after_the_first_token_is_the_agent_s(
    host: Any, client: LMStudioClient, request_for: Callable[..., ChatRequest]
):
    host.reset(silent_before(2, 0.3))
    host.load()
    unpaying = Unpaying(most_seconds=5.0)
    assert isinstance(client.chat(request_for(), time.monotonic() + 0.15, unpaying.unpaid), DeadlineReached)
    (seconds,) = unpaying.told
    assert seconds < 0.15


def test_only_so_much_time_before_a_first_token_is_another_s(
    host: Any, client: LMStudioClient, request_for: Callable[..., ChatRequest]
):
    host.reset(silent_before(1, 0.4))
    host.load()
    unpaying = Unpaying(most_seconds=0.1)
    assert isinstance(client.chat(request_for(), time.monotonic() + 0.15, unpaying.unpaid), DeadlineReached)
    assert unpaying.told == [0.1]


@pytest.mark.parametrize("rest", [{}, {"frame_seconds": 0.0}], ids=["one piece", "many pieces"])
def test_a_reply_that_comes_whole_shows_no_time_before_its_first_token(
    host: Any, client: LMStudioClient, request_for: Callable[..., ChatRequest], rest: dict[str, Any]
):
    """Of a host that sends nothing until all is written, the writing must not be taken for reading."""
    held_back: dict[str, Any] = {"kind": "pace", "silent_before_frame": 1, "silent_seconds": 0.3}
    host.reset({"route": CHAT, "do": {**held_back, **rest} if rest else {"kind": "delay", "seconds": 0.3}})
    host.load()
    unpaying = Unpaying(most_seconds=5.0)
    assert isinstance(client.chat(request_for(), time.monotonic() + 5.0, unpaying.unpaid), ChatReply)
    assert isinstance(client.chat(request_for(), time.monotonic() + 0.15, unpaying.unpaid), DeadlineReached)
    assert unpaying.told == []
