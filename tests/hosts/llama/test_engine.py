"""Around the model's process, without one: requests to it, its answers, its end."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from repairlab.contract.errors import InfrastructureFailure
from repairlab.hosts.emulator.app import Application
from repairlab.hosts.emulator.bodies import Whole
from repairlab.hosts.emulator.catalog import HostConfig
from repairlab.hosts.emulator.chat_request import ChatCall, read_request
from repairlab.hosts.emulator.chatting import LanguageModels
from repairlab.hosts.emulator.engines.llama import (
    COMPLETION_TOKENS,
    completion,
    engine_request,
    model_spec,
)
from repairlab.hosts.emulator.faults import Scenario
from repairlab.hosts.emulator.generation import Completion
from repairlab.hosts.emulator.replies import Pending
from repairlab.hosts.llama.answer import Answer, PromptTooLong
from repairlab.hosts.llama.package import MODEL_KEY, LlamaPackage
from repairlab.hosts.llama.server import FAILURE_KIND, LlamaServer

PACKAGE = LlamaPackage(Path("no-such-weights.gguf"), 100, "1")


@pytest.fixture
def call(conversation: list[Any], offered: list[Any]) -> ChatCall:
    body = {"model": MODEL_KEY, "messages": conversation, "tools": offered, "temperature": 0.2, "top_p": 0.9}
    read = read_request(body | {"seed": 7, "max_tokens": 8192})
    assert isinstance(read, ChatCall)
    return read


def test_sampling_goes_through_and_the_engines_own_limit_holds(call: ChatCall) -> None:
    asked = engine_request(call)
    assert (asked["temperature"], asked["top_p"], asked["seed"]) == (0.2, 0.9, 7)
    assert asked["max_tokens"] == COMPLETION_TOKENS


def test_a_request_may_ask_for_less_than_the_limit() -> None:
    messages = [{"role": "user", "content": "hello"}]
    read = read_request({"model": MODEL_KEY, "messages": messages, "max_tokens": 16})
    assert isinstance(read, ChatCall)
    assert engine_request(read) == {"messages": messages, "max_tokens": 16}


def test_an_answer_becomes_a_call_with_the_engines_own_counts(call: ChatCall) -> None:
    text = '{\n  "name": "read_file",\n  "arguments": {"path": "a.py", "start_line": 2}\n}'
    done = completion(call, Answer(text, "stop", 321, 45), "instance")
    assert (done.finish_reason, done.content, done.model) == ("tool_calls", "", "instance")
    assert [(one.name, one.arguments) for one in done.calls] == [
        ("read_file", '{"path":"a.py","start_line":2}')
    ]
    assert (done.prompt_tokens, done.completion_tokens) == (321, 45)


def test_an_answer_that_was_cut_is_never_made_a_call(call: ChatCall) -> None:
    text = '{"name": "run_tests", "arguments": {}}'
    done = completion(call, Answer(text, "length", 9, COMPLETION_TOKENS), "instance")
    assert (done.finish_reason, done.content, done.calls) == ("length", text, ())


def test_an_engine_that_does_not_start_says_why(tmp_path: Path) -> None:
    with pytest.raises(InfrastructureFailure, match=r"no start \(status 1\)") as failure:
        LlamaServer(LlamaPackage(tmp_path / "none.gguf", 0, "1"), 512)
    assert failure.value.kind == FAILURE_KIND


@dataclass
class Processes(LanguageModels):
    """Keeps which processes run; a context is rounded up to a multiple of 256, as the engine does."""

    running: dict[str, int] = field(default_factory=dict)
    fails: bool = False
    long: bool = False
    gone: bool = False

    def start(self, instance_id: str, context: int) -> int:
        if self.fails:
            raise InfrastructureFailure("out of memory", kind=FAILURE_KIND)
        self.running[instance_id] = -(-context // 256) * 256
        return self.running[instance_id]

    def stop(self, instance_id: str) -> None:
        self.running.pop(instance_id, None)

    def runs(self, instance_id: str) -> bool:
        return instance_id in self.running and not self.fails

    def answer(self, instance_id: str, call: ChatCall) -> Completion | PromptTooLong:
        if self.fails or self.gone:
            raise InfrastructureFailure("the process is gone", kind=FAILURE_KIND)
        if self.long:
            return PromptTooLong(700, self.running[instance_id])
        return completion(call, Answer("hello", "stop", 5, 1), instance_id)


@pytest.fixture
def processes() -> Processes:
    return Processes()


@pytest.fixture
def application(processes: Processes) -> Application:
    config = HostConfig((model_spec(PACKAGE),), jit=True, virtual_clock=True)
    return Application(config, {}, Scenario(), lambda: 0.0, language_models=processes, control=True)


def _ask(application: Application, path: str, content: bytes) -> Whole:
    reply = application.handle("POST", path, "", content)
    if isinstance(reply, Pending):
        reply = reply.make()
    assert isinstance(reply, Whole)
    return reply


def _load(application: Application, context: int = 600) -> Whole:
    body = f'{{"model": "{MODEL_KEY}", "context_length": {context}, "echo_load_config": true}}'
    return _ask(application, "/api/v1/models/load", body.encode())


def _chat(application: Application) -> Whole:
    body = f'{{"model": "{MODEL_KEY}", "messages": [{{"role": "user", "content": "hello"}}]}}'
    return _ask(application, "/v1/chat/completions", body.encode())


def test_the_context_that_is_told_is_the_engines(application: Application, processes: Processes) -> None:
    reply: Any = _load(application).body
    listed: Any = application.handle("GET", "/api/v1/models", "", b"")
    assert reply["load_config"]["context_length"] == 768
    config = listed.body["models"][0]["loaded_instances"][0]["config"]
    assert (config["context_length"], config["parallel"], config["offload_kv_cache_to_gpu"]) == (
        768,
        1,
        False,
    )


def test_a_load_that_fails_leaves_nothing_loaded(application: Application, processes: Processes) -> None:
    processes.fails = True
    reply: Any = _load(application)
    assert reply.status == 500
    assert "out of memory" in reply.body["error"]["message"]
    assert application.view("ps") == []


def test_every_way_of_unloading_ends_the_process(application: Application, processes: Processes) -> None:
    _load(application)
    _ask(application, "/api/v1/models/unload", f'{{"instance_id": "{MODEL_KEY}"}}'.encode())
    assert not processes.running
    _chat(application)  # loads just in time
    assert list(processes.running) == [MODEL_KEY]
    _ask(application, "/emulator/control", b'{"advance_seconds": 3601}')
    assert application.view("ps") == []
    assert not processes.running
    _load(application)
    _ask(application, "/emulator/control", b'{"faults": []}')
    assert not processes.running


def test_a_process_that_is_gone_takes_its_instance_with_it(
    application: Application, processes: Processes
) -> None:
    _load(application)
    processes.fails = True
    reply: Any = _chat(application)
    assert (reply.status, application.view("ps")) == (500, [])
    assert "the process is gone" in reply.body["error"]


def test_the_host_answers_other_requests_while_the_model_writes(
    application: Application, processes: Processes
) -> None:
    _load(application)
    body = f'{{"model": "{MODEL_KEY}", "messages": [{{"role": "user", "content": "hello"}}]}}'.encode()
    writing = application.handle("POST", "/v1/chat/completions", "", body)
    assert isinstance(writing, Pending)
    assert application.handle("GET", "/api/v1/models", "", b"").status == 200
    _ask(application, "/api/v1/models/unload", f'{{"instance_id": "{MODEL_KEY}"}}'.encode())
    _load(application)  # another instance with the same id, which the failure of the old one leaves alone
    processes.gone = True
    assert writing.make().status == 500
    assert list(processes.running) == [MODEL_KEY]


def test_a_prompt_longer_than_the_context_is_told_as_the_host_tells_it(
    application: Application, processes: Processes
) -> None:
    _load(application)
    processes.long = True
    reply: Any = _chat(application)
    assert reply.status == 400
    assert "(n_keep: 700>= n_ctx: 768)" in reply.body["error"]
