"""``POST /v1/chat/completions`` of the emulated host, once the instance is found."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from repairlab.contract.canonical import Json
from repairlab.hosts.emulator.actions import (
    Action,
    ContextDrift,
    CountTokens,
    Crash,
    CutStream,
    ErrorFrame,
    Pace,
    Reshape,
    WrongModel,
)
from repairlab.hosts.emulator.bodies import Whole, text_error
from repairlab.hosts.emulator.chat_request import ChatCall
from repairlab.hosts.emulator.engines.protocol import Engine
from repairlab.hosts.emulator.engines.recorded import Recorded
from repairlab.hosts.emulator.generation import (
    Completion,
    complete,
    event,
    frames,
    prompt_tokens,
    replayed,
    whole_body,
)
from repairlab.hosts.emulator.replies import Reply, Stream, Wait
from repairlab.hosts.emulator.shapes import counted, reshaped
from repairlab.hosts.emulator.state import Loaded, Processes, Residents
from repairlab.hosts.llama.answer import PromptTooLong


class LanguageModels(Processes, Protocol):
    """Instances of a real language model; `repairlab.hosts.emulator.engines.llama` has them."""

    def answer(self, instance_id: str, call: ChatCall) -> Completion | PromptTooLong: ...

    def runs(self, instance_id: str) -> bool: ...


def chat(
    residents: Residents, instance: Loaded, call: ChatCall, engine: Engine, action: Action | None, number: int
) -> Reply:
    """The reply of `engine` to `call`, changed by `action`; `number` counts the requests of the route."""
    asked = prompt_tokens(call.body)
    if asked >= instance.context:
        return _too_long(asked, instance.context)
    completion = complete(call, engine.reply(call.asked), instance.id, instance.context)
    return _sent(residents, instance, call, _changed(completion, action, number), action)


def told(
    residents: Residents,
    instance: Loaded,
    call: ChatCall,
    answered: Completion | PromptTooLong,
    action: Action | None,
    number: int,
) -> Reply:
    """What a real language model `answered` to `call`, changed by `action`."""
    if isinstance(answered, PromptTooLong):
        return _too_long(answered.prompt_tokens, answered.context)
    return _sent(residents, instance, call, _changed(answered, action, number), action)


def _too_long(tokens: int, context: int) -> Whole:
    return text_error(
        400,
        "The number of tokens to keep from the initial prompt is greater than the context length "
        f"(n_keep: {tokens}>= n_ctx: {context})",
    )


def replay(instance: Loaded, call: ChatCall, recorded: Recorded) -> Reply:
    """The recorded reply to `call`; an error where none is recorded."""
    recording = recorded.next(call.body)
    if recording is None:
        return text_error(500, f"{instance.id}: no reply to this request is recorded")
    if recording.kind == "unparsable-call":
        message = f"Failed to parse tool call arguments as JSON: {recording.body}"
        error: dict[str, Json] = {"code": 500, "message": message}
        return Whole(500, {"error": error})
    completion = replayed(recording.body)
    if not call.stream:
        return Whole(200, whole_body(completion))
    return Stream((b"".join(frames(completion, include_usage=call.include_usage)),))


def _changed(completion: Completion, action: Action | None, number: int) -> Completion:
    if isinstance(action, WrongModel):
        return replace(completion, model=action.model)
    if isinstance(action, Reshape):
        return reshaped(completion, action, number)
    if isinstance(action, CountTokens):
        return counted(completion, action)
    return completion


def _sent(
    residents: Residents, instance: Loaded, call: ChatCall, completion: Completion, action: Action | None
) -> Reply:
    if isinstance(action, ContextDrift):
        residents.set_context(instance.id, action.context)
    if isinstance(action, Crash):
        residents.unload(instance.id, 0)
    if not call.stream:
        body: dict[str, Json] = {"error": action.message} if isinstance(action, Crash) else {}
        return Whole(400 if body else 200, body or whole_body(completion))
    return _shape(frames(completion, include_usage=call.include_usage), action)


def _shape(parts: tuple[bytes, ...], action: Action | None) -> Stream:
    if isinstance(action, CutStream):
        return Stream(parts[: action.after_frames], cut=True)
    if isinstance(action, ErrorFrame):
        return Stream((*parts[: action.after_frames], event(action.body)))
    if isinstance(action, Crash):
        return Stream((*parts[: action.after_frames], event({"error": action.message})))
    if isinstance(action, Pace):
        steps: list[bytes | Wait] = []
        for number, part in enumerate(parts):
            silent = action.silent_seconds if number == action.silent_before_frame else 0.0
            steps += [Wait(action.frame_seconds + silent), part]
        return Stream(tuple(steps))
    return Stream((b"".join(parts),))
