"""A trace: what may not stand in it, and that the emulated host can repeat one."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repairlab.contract.errors import BadInput
from repairlab.hosts.chat import ChatRequest
from repairlab.hosts.client import LMStudioClient
from repairlab.hosts.conformance import (
    Secrets,
    differences,
    emulated_models,
    read_trace,
    shape,
    trace_lines,
)
from repairlab.hosts.emulator.spawn import EmulatorProcess
from repairlab.hosts.facts import ModelFacts
from repairlab.hosts.failures import FailureRules
from repairlab.hosts.residency import Residency
from repairlab.hosts.transport import Exchange

NOTHING = Secrets((), ())
TRACES = Path(__file__).parent / "traces"
CHAT = "POST /v1/chat/completions"


@pytest.fixture
def recorded(
    host: Any,
    client: LMStudioClient,
    rules: FailureRules,
    agent: ModelFacts,
    request_for: Callable[..., ChatRequest],
    journal: list[Exchange],
    tmp_path: Path,
) -> Callable[..., Path]:
    """The trace of one load and two requests, the second under this fault."""

    def make(fault: dict[str, Any] | None = None) -> Path:
        host.reset(*([{"route": CHAT, "from": 3, "do": fault}] if fault else []))
        client.greet()
        verified = Residency(client, time.monotonic, time.sleep, rules=rules).ensure(agent, fresh=True)
        for text in ("One.", "Two."):
            client.chat(request_for(text, model=verified.verified.instance_id), float("inf"))
        path = tmp_path / "trace.jsonl"
        path.write_text("".join(f"{line}\n" for line in trace_lines(journal, {}, NOTHING)))
        return path

    return make


def asker(url: str, raw_ask: Callable[..., Any]) -> Callable[[str, str, Any], tuple[int, str]]:
    def ask(method: str, path: str, body: Any) -> tuple[int, str]:
        answered = raw_ask(url, method, path, None if body is None else json.dumps(body).encode())
        return answered.status, answered.content.decode()

    return ask


@pytest.mark.parametrize(
    "fault",
    [
        None,
        {"kind": "reshape", "shape": "call-in-content"},
        {
            "kind": "reply-instead",
            "status": 500,
            "body": '{"error":{"code":500,"message":"Failed to parse tool call arguments as JSON"}}',
        },
    ],
)
def test_the_emulated_host_repeats_a_trace(
    recorded: Callable[..., Path], raw_ask: Callable[..., Any], tmp_path: Path, fault: dict[str, Any] | None
) -> None:
    trace = recorded(fault)
    exchanges = read_trace(trace)
    models = tmp_path / "models.json"
    models.write_text(json.dumps(emulated_models(exchanges)))
    with EmulatorProcess(models_config=models, recordings=trace) as process:
        assert list(differences(exchanges, asker(process.url, raw_ask))) == []


@pytest.mark.parametrize("trace", sorted(TRACES.glob("*.jsonl")), ids=lambda path: path.stem)
def test_the_emulated_host_repeats_the_traces_that_were_recorded(
    trace: Path, raw_ask: Callable[..., Any], tmp_path: Path
) -> None:
    """`repairlab doctor EXPERIMENT --record FILE` writes one; a file put there is held against the host."""
    exchanges = read_trace(trace)
    models = tmp_path / "models.json"
    models.write_text(json.dumps(emulated_models(exchanges)))
    with EmulatorProcess(models_config=models, recordings=trace) as process:
        assert list(differences(exchanges, asker(process.url, raw_ask))) == []


def test_there_is_a_recorded_trace_of_a_language_model() -> None:
    (trace,) = TRACES.glob("smollm2-135m.jsonl")
    exchanges = read_trace(trace)
    assert len([one for one in exchanges if one.path == "/v1/chat/completions"]) >= 10


def test_another_host_answers_a_trace_in_another_form(
    recorded: Callable[..., Path], raw_ask: Callable[..., Any], host: Any
) -> None:
    exchanges = read_trace(recorded())
    host.reset(old_server=True)
    found = list(differences(exchanges, asker(host.url, raw_ask)))
    assert any("GET /api/v1/models" in one for one in found)
    host.reset(unknown_route_status=404)
    odd = [exchanges[0].model_copy(update={"path": "/api/v1/nothing"})]
    assert list(differences(odd, asker(host.url, raw_ask))) == [
        "0: GET /api/v1/nothing: status 404 where 200 was recorded"
    ]


def exchange(**changes: Any) -> Exchange:
    settings: dict[str, Any] = {
        "method": "GET",
        "path": "/api/v1/models",
        "request": None,
        "status": 200,
        "reply": "{}",
        "failure": "",
        "seconds": 0.5,
    }
    return Exchange(**(settings | changes))


@given(token=st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=6, max_size=30))
def test_no_token_stands_in_a_trace_however_it_is_quoted(token: str) -> None:
    held = exchange(
        request={"token": token, "list": [token]},
        reply=json.dumps({"echo": token, "twice": json.dumps({"echo": token})}) + token,
    )
    text = "\n".join(trace_lines([held], {"seen": f"a{token}b"}, Secrets((token,), ())))
    values = [*_texts([json.loads(line) for line in text.split("\n")])]
    values = [value.replace("(removed)", "") for value in values]
    once = json.dumps(token)[1:-1]
    for form in (token, once, json.dumps(once)[1:-1]):
        assert not [value for value in values if form in value]


def _texts(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for key, one in value.items() if key != "type" for text in _texts(one)]
    if isinstance(value, list):
        return [text for one in value for text in _texts(one)]
    return [value] if isinstance(value, str) else []


def test_names_of_machines_are_removed_as_words_and_nothing_else() -> None:
    held = exchange(reply='{"a":"desk at Desk.lan and desktop","b":"/home/anna/m.gguf"}')
    secrets = Secrets((), ("desk", "desk.lan", "/home/anna"))
    (_, line) = trace_lines([held], {}, secrets)
    assert json.loads(json.loads(line)["reply"]) == {
        "a": "(removed) at (removed) and desktop",
        "b": "(removed)/m.gguf",
    }


def test_a_cut_or_failed_chat_is_kept_as_an_exchange_and_not_as_a_reply() -> None:
    frame = 'data: {"model":"m","choices":[{"index":0,"delta":{"content":"x"}}]}\n\n'
    for reply, failure in (
        (frame, ""),
        (frame + "data: [DONE]\n\n", "host-connection-lost"),
        ('data: {"error":"gone"}\n\ndata: [DONE]\n\n', ""),
        ("data: {\n\n", ""),
    ):
        chat = exchange(method="POST", path="/v1/chat/completions", reply=reply, failure=failure, request={})
        lines = [json.loads(line) for line in trace_lines([chat], {}, NOTHING)]
        assert [line["type"] for line in lines] == ["trace", "exchange"]


def test_a_file_that_is_no_trace_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    for text in ("", "{}\n", '{"type":"request"}\n', "not JSON\n", "[]\n"):
        path.write_text(text)
        with pytest.raises(BadInput, match=r"trace\.jsonl:1: "):
            read_trace(path)
    path.write_text('{"type":"trace","schema_version":1,"host":{}}\n{"type":"exchange","method":1}\n')
    with pytest.raises(BadInput, match=r"trace\.jsonl:2: method"):
        read_trace(path)
    with pytest.raises(BadInput, match="no list of models"):
        emulated_models([])


def test_the_shape_of_a_reply_has_keys_and_types_and_no_values() -> None:
    assert shape({"b": [1, 2.5, "x"], "a": None, "c": True}) == {
        "a": "NoneType",
        "b": ["number", "str"],
        "c": "bool",
    }
