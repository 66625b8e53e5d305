"""The engine that is a real language model: loads it, asks it, and gives its memory back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from repairlab.contract.canonical import Json
from repairlab.contract.errors import InfrastructureFailure
from repairlab.hosts.emulator.catalog import LLAMA, ModelSpec
from repairlab.hosts.emulator.chat_request import ChatCall
from repairlab.hosts.emulator.generation import Completion, completion_id, request_digest, written_call
from repairlab.hosts.llama.answer import Answer, PromptTooLong
from repairlab.hosts.llama.package import (
    ENGINE_PACKAGE,
    MODEL_KEY,
    QUANTIZATION,
    TRAINED_CONTEXT,
    LlamaPackage,
)
from repairlab.hosts.llama.server import FAILURE_KIND, LlamaServer
from repairlab.hosts.llama.translate import answer_schema, plain_messages, read_answer

LARGEST_CONTEXT = 2 * TRAINED_CONTEXT
"""Up to here the trained context is stretched; see docs/llama.md for why."""
COMPLETION_TOKENS = 320
"""This engine writes no more in one reply, whatever a request allows; the reply then ends for its length."""


def model_spec(package: LlamaPackage) -> ModelSpec:
    """The model as the emulated host lists it."""
    quantization = QUANTIZATION.lower()
    return ModelSpec(
        key=MODEL_KEY,
        type="llm",
        engine=LLAMA,
        display_name=f"SmolLM2 135M Instruct on {ENGINE_PACKAGE} {package.engine_version}",
        architecture="llama",
        format="gguf",
        quantization=QUANTIZATION,
        size_bytes=package.size_bytes,
        params_string="135M",
        max_context_length=LARGEST_CONTEXT,
        tool_use=False,
        description="A real language model, far too small to repair code: it shows that the path holds.",
        variants=(f"{MODEL_KEY}@{quantization}",),
        selected_variant=f"{MODEL_KEY}@{quantization}",
        parallel=1,
    )


class LlamaEngines:
    """The engine's processes, by the id of the instance.

    The application starts and stops under its lock; answers come without it.
    """

    def __init__(self, package: LlamaPackage) -> None:
        self._package = package
        self._servers: dict[str, LlamaServer] = {}

    def start(self, instance_id: str, context: int) -> int:
        """Load the model once more; its real context.

        Raises:
            InfrastructureFailure: it does not load, or the file says another quantization.
        """
        server = LlamaServer(self._package, context)
        if server.quantization != QUANTIZATION:
            server.stop()
            raise InfrastructureFailure(
                f"llama.cpp reads {server.quantization}, not {QUANTIZATION}", kind=FAILURE_KIND
            )
        self._servers[instance_id] = server
        return server.context

    def stop(self, instance_id: str) -> None:
        """Unload; nothing happens for an id that has no process."""
        server = self._servers.pop(instance_id, None)
        if server is not None:
            server.stop()

    def answer(self, instance_id: str, call: ChatCall) -> Completion | PromptTooLong:
        """The model's reply to `call`.

        Raises:
            InfrastructureFailure: the process is gone, or does not answer as it should.
        """
        server = self._servers.get(instance_id)
        if server is None:
            raise InfrastructureFailure(f"{instance_id} was unloaded meanwhile", kind=FAILURE_KIND)
        answered = server.answer(engine_request(call))
        return answered if isinstance(answered, PromptTooLong) else completion(call, answered, instance_id)

    def runs(self, instance_id: str) -> bool:
        """Whether the instance has a process that has not ended."""
        server = self._servers.get(instance_id)
        return server is not None and server.alive


def engine_request(call: ChatCall) -> dict[str, Json]:
    """The request that the engine gets for `call`."""
    tools: list[Mapping[str, Any]] = call.body.get("tools") or []
    body: dict[str, Json] = {
        "messages": plain_messages(call.asked.messages, tools),
        "max_tokens": min(call.max_tokens or COMPLETION_TOKENS, COMPLETION_TOKENS),
    }
    body |= {key: call.body[key] for key in ("temperature", "top_p", "seed") if key in call.body}
    if tools:
        schema: Json = {"schema": answer_schema(tools)}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    return body


def completion(call: ChatCall, answer: Answer, model: str) -> Completion:
    """The engine's `answer` in the shape that the host sends. An answer that was cut stays text."""
    digest = request_digest(call)
    read = read_answer(answer.text) if call.body.get("tools") and answer.finish_reason != "length" else None
    identity, created = completion_id(digest)
    return Completion(
        id=identity,
        created=created,
        model=model,
        content="" if read else answer.text,
        reasoning="",
        calls=(written_call(digest, 0, read.name, read.arguments),) if read else (),
        finish_reason="tool_calls" if read else answer.finish_reason,
        prompt_tokens=answer.prompt_tokens,
        completion_tokens=answer.completion_tokens,
    )
