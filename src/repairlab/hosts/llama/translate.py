"""Between the messages and tools of a chat request and what a small model can follow.

Its chat template knows no tools. So they are listed in the system message, the answer is held to a JSON
schema with one branch for each tool, and the answer becomes a tool call again. Past calls and results become
plain messages. Everything is a pure function, and a longer conversation only ever appends.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from repairlab.contract.canonical import Json

TEXT_CHARACTERS = 160
"""Longest text that a tool's argument can have."""
DIFF_CHARACTERS = 600
"""Longest text of an argument called ``diff``."""
_INTEGER_LIMIT = 99_999


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call, as the model wrote it."""

    name: str
    arguments: dict[str, Json]


def plain_messages(messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]]) -> list[Json]:
    """`messages` with roles system, user and assistant alone, the tools listed in the first one."""
    names = {call["id"]: call["function"]["name"] for one in messages for call in one.get("tool_calls") or ()}
    plain = [_plain(message, names) for message in messages]
    if not tools:
        return [*plain]
    listed = _instructions([tool["function"] for tool in tools])
    if plain and plain[0]["role"] == "system":
        plain[0] = {"role": "system", "content": f"{plain[0]['content']}\n\n{listed}"}
        return [*plain]
    return [{"role": "system", "content": listed}, *plain]


def answer_schema(tools: Sequence[Mapping[str, Any]]) -> Json:
    """JSON schema of an answer: exactly one call of one of `tools`, each text bounded."""
    return {"anyOf": [_branch(tool["function"]) for tool in tools]}


def read_answer(text: str) -> ToolCall | None:
    """The call in `text`; ``None`` if it is not whole."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    name, arguments = value.get("name"), value.get("arguments")
    return ToolCall(name, arguments) if isinstance(name, str) and isinstance(arguments, dict) else None


def _plain(message: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, str]:
    text = _text(message.get("content"))
    if message["role"] == "tool":
        return {"role": "user", "content": f"Result of {names[message['tool_call_id']]}:\n{text}"}
    calls = [_written(call["function"]) for call in message.get("tool_calls") or ()]
    return {"role": message["role"], "content": "\n".join(filter(None, (text, *calls)))}


def _text(content: object) -> str:
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _written(function: Mapping[str, Any]) -> str:
    return f'{{"name": {json.dumps(function["name"])}, "arguments": {function["arguments"]}}}'


def _instructions(functions: Sequence[Mapping[str, Any]]) -> str:
    """Form of an answer, with a call of the first tool as the example, and the tools."""
    first = functions[0]
    required = _parameters(first).get("required", ())
    values = {
        name: one.get("enum", ("...",))[0] for name, one in _properties(first).items() if name in required
    }
    example = json.dumps({"name": first["name"], "arguments": values})
    ask = f"Answer with one JSON object that calls a tool, such as {example}. The tools are:"
    return "\n".join((ask, *(_listed(function) for function in functions)))


def _listed(function: Mapping[str, Any]) -> str:
    required = _parameters(function).get("required", ())
    names = [name if name in required else f"{name} (optional)" for name in _properties(function)]
    return f"- {function['name']}({', '.join(names)}): {function.get('description', '')}"


def _branch(function: Mapping[str, Any]) -> Json:
    properties: dict[str, Json] = {name: _bounded(name, one) for name, one in _properties(function).items()}
    arguments: dict[str, Json] = {
        "type": "object",
        "properties": properties,
        "required": [*_parameters(function).get("required", ())],
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {"name": {"const": function["name"]}, "arguments": arguments},
        "required": ["name", "arguments"],
        "additionalProperties": False,
    }


def _bounded(name: str, schema: Mapping[str, Any]) -> Json:
    if "enum" in schema:
        return {"enum": list(schema["enum"])}
    if schema.get("type") == "integer":
        return {"type": "integer", "minimum": 1, "maximum": _INTEGER_LIMIT}
    return {"type": "string", "maxLength": DIFF_CHARACTERS if name == "diff" else TEXT_CHARACTERS}


def _parameters(function: Mapping[str, Any]) -> Mapping[str, Any]:
    parameters: Mapping[str, Any] = function.get("parameters") or {}
    return parameters


def _properties(function: Mapping[str, Any]) -> Mapping[str, Any]:
    properties: Mapping[str, Any] = _parameters(function).get("properties") or {}
    return properties
