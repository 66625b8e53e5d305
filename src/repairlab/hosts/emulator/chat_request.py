"""Reading a chat completion request as strictly as the real host is known to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from repairlab.hosts.emulator.bodies import Whole, compatible_error, text_error
from repairlab.hosts.emulator.engines.protocol import EngineRequest, ToolOffer

_ROLES = ("system", "user", "assistant", "tool")


@dataclass(frozen=True, slots=True)
class ChatCall:
    """A request that is in order."""

    model: str
    asked: EngineRequest
    max_tokens: int | None
    stream: bool
    include_usage: bool
    body: Mapping[str, Any]


def read_request(body: Mapping[str, Any]) -> ChatCall | Whole:
    """`body` as a call, or the reply that refuses it."""
    fault = _settings_fault(body) or _messages_fault(body.get("messages"))
    if fault is not None:
        return fault
    offers = _offers(body.get("tools", []))
    if isinstance(offers, Whole):
        return offers
    limit = body.get("max_tokens")
    options = body.get("stream_options")
    return ChatCall(
        model=body["model"],
        asked=EngineRequest(tuple(body["messages"]), offers),
        max_tokens=limit if isinstance(limit, int) and limit > 0 else None,
        stream=body.get("stream", False),
        include_usage=isinstance(options, dict) and options.get("include_usage") is True,
        body=body,
    )


def _settings_fault(body: Mapping[str, Any]) -> Whole | None:
    if not isinstance(body.get("model"), str):
        return compatible_error(400, "'model' must be given as text", None, "model")
    for key in ("seed", "max_tokens"):
        if key in body and not _is_number(body[key], int):
            return compatible_error(400, f"'{key}' must be a whole number", None, key)
    for key in ("temperature", "top_p"):
        if key in body and not _is_number(body[key], int, float):
            return compatible_error(400, f"'{key}' must be a number", None, key)
    if not isinstance(body.get("stream", False), bool):
        return compatible_error(400, "'stream' must be true or false", None, "stream")
    return None


def _is_number(value: object, *kinds: type) -> bool:
    return isinstance(value, kinds) and not isinstance(value, bool)


def _messages_fault(messages: object) -> Whole | None:
    if not isinstance(messages, list) or not messages:
        return text_error(400, "'messages' must be a list that is not empty")
    awaited: set[str] = set()
    for number, message in enumerate(messages):
        if not isinstance(message, dict) or message.get("role") not in _ROLES:
            return text_error(400, f"Invalid 'messages': number {number} has no known role")
        fault = _template_fault(number, message) or _calls_fault(number, message)
        if fault is not None:
            return fault
        if message["role"] == "tool":
            if message.get("tool_call_id") not in awaited:
                return text_error(400, f"Invalid 'messages': number {number} answers no call before it")
        else:
            awaited = {call["id"] for call in message.get("tool_calls") or ()}
    if not any(message["role"] == "user" for message in messages):
        return _template_error("No user query found in messages.")
    return None


def _template_fault(number: int, message: Mapping[str, Any]) -> Whole | None:
    if message["role"] == "system" and number > 0:
        return _template_error("System message must be at the beginning.")
    if message["role"] in ("user", "system", "tool") and not isinstance(message.get("content"), str | list):
        return text_error(400, f"Invalid 'messages': number {number} has no content")
    return None


def _template_error(reason: str) -> Whole:
    return text_error(400, f'Error rendering prompt with jinja template: "{reason}"')


def _calls_fault(number: int, message: Mapping[str, Any]) -> Whole | None:
    calls = message.get("tool_calls")
    if calls is None:
        return None
    if not isinstance(calls, list):
        return text_error(400, f"Invalid 'messages': tool_calls of number {number} is no list")
    for call in calls:
        function = call.get("function") if isinstance(call, dict) else None
        whole = (
            isinstance(function, dict)
            and isinstance(call.get("id"), str)
            and bool(call["id"])
            and isinstance(function.get("name"), str)
            and isinstance(function.get("arguments"), str)
        )
        if not whole:
            return text_error(400, f"Invalid 'messages': a tool call of number {number} is not whole")
    return None


def _offers(tools: object) -> tuple[ToolOffer, ...] | Whole:
    if not isinstance(tools, list):
        return compatible_error(400, "'tools' must be a list", None, "tools")
    offers: list[ToolOffer] = []
    for tool in tools:
        function = tool.get("function") if isinstance(tool, dict) else None
        if not isinstance(function, dict) or not isinstance(function.get("name"), str):
            return compatible_error(400, "a tool without a function name", None, "tools")
        parameters = function.get("parameters")
        properties = parameters.get("properties") if isinstance(parameters, dict) else None
        names = tuple(properties) if isinstance(properties, dict) else ()
        offers.append(ToolOffer(function["name"], names, _choices(properties)))
    return tuple(offers)


def _choices(properties: object) -> dict[str, tuple[str, ...]]:
    if not isinstance(properties, dict):
        return {}
    listed = {name: one.get("enum") for name, one in properties.items() if isinstance(one, dict)}
    return {name: tuple(map(str, values)) for name, values in listed.items() if isinstance(values, list)}
