"""Reading one whole reply (streamed and assembled, or sent at once) as a value."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from repairlab.contract.canonical import Json
from repairlab.hosts.assemble import is_object, join_surrogates, protocol_fault
from repairlab.hosts.chat import ChatReply, RawToolCall, Usage


def read_completion(raw: Mapping[str, Any]) -> ChatReply:
    """`raw` as a typed reply.

    Raises:
        InfrastructureFailure: kind ``host-protocol``: not exactly one choice, no ``finish_reason``, no model
            named, or a value of another type than the protocol has.
    """
    choices = raw.get("choices")
    if not isinstance(choices, list) or len(choices) != 1 or not is_object(choices[0]):
        raise protocol_fault("not exactly one choice")
    message = choices[0].get("message")
    reason = choices[0].get("finish_reason")
    model = raw.get("model")
    if not is_object(message):
        raise protocol_fault("no message")
    if not isinstance(reason, str):
        raise protocol_fault("it ended without a finish_reason")
    if not isinstance(model, str):
        raise protocol_fault("it does not say which model answered")
    content = _optional_text(message, "content")
    reasoning = _optional_text(message, "reasoning_content") or _optional_text(message, "reasoning")
    calls = _calls(message.get("tool_calls"))
    wrote = bool(content or reasoning or calls)
    kept: Json = dict(raw)
    return ChatReply(content, reasoning, calls, reason, read_usage(raw.get("usage"), wrote), model, kept)


def read_usage(usage: object, wrote: bool) -> Usage | None:
    """Token counts, or ``None`` where they are absent or cannot be true.

    Args:
        usage: the reply's ``usage`` value.
        wrote: whether the reply holds anything; then zero completion tokens cannot be true. Zero prompt
            tokens never can.
    """
    if not is_object(usage):
        return None
    prompt = _count(usage.get("prompt_tokens"))
    completion = _count(usage.get("completion_tokens"))
    if not prompt or completion is None or (wrote and completion == 0):
        return None
    details = usage.get("completion_tokens_details")
    reasoning = _count(details.get("reasoning_tokens")) if is_object(details) else None
    return Usage(prompt, completion, reasoning)


def _count(value: object) -> int | None:
    ok = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return value if ok and isinstance(value, int) else None


def _optional_text(message: Mapping[str, Any], key: str) -> str:
    value = message.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise protocol_fault(f"{key} of the message is no text")
    return join_surrogates(value)


def _calls(entries: object) -> tuple[RawToolCall, ...]:
    if entries is None:
        return ()
    if not isinstance(entries, list) or not all(is_object(entry) for entry in entries):
        raise protocol_fault("tool_calls is no list of objects")
    return tuple(_call(entry) for entry in entries)


def _call(entry: Mapping[str, Any]) -> RawToolCall:
    function = entry.get("function")
    function = function if is_object(function) else {}
    call_id = entry.get("id")
    name = function.get("name")
    call_id = call_id if isinstance(call_id, str) else ""
    name = name if isinstance(name, str) else ""
    arguments = function.get("arguments")
    if isinstance(arguments, str):
        return RawToolCall(call_id, name, join_surrogates(arguments))
    if is_object(arguments):
        return RawToolCall(call_id, name, json.dumps(arguments, separators=(",", ":")), "object")
    if arguments is None:
        return RawToolCall(call_id, name, "", "missing")
    raise protocol_fault("arguments of a tool call are neither text nor an object")
