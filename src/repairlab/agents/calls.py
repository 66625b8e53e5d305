"""From what a model wrote to a valid call, or to the reason why it is none. Nothing is guessed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from repairlab.contract.canonical import Json
from repairlab.contract.tools import Argument, Tool

Value = str | int


@dataclass(frozen=True, slots=True)
class Call:
    """A call that may be executed."""

    tool: str
    arguments: Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class InvalidCall:
    """A call that is counted, answered and not executed."""

    kind: str
    """``unknown-tool``, ``too-large``, ``not-json``, ``not-an-object`` or ``bad-arguments``."""
    message: str
    """Answer for the model."""


def parse_call(name: str, arguments: str, tools: Mapping[str, Tool], limit_bytes: int) -> Call | InvalidCall:
    """Read one call as it came.

    Args:
        name: the function's name, matched exactly against `tools`.
        arguments: the raw argument text. An empty text is ``{}`` where no argument is required.
        tools: the treatment's tools, a closed table.
        limit_bytes: longer argument texts are refused before they are parsed.
    """
    tool = tools.get(name)
    if tool is None:
        return InvalidCall("unknown-tool", f"There is no tool {name[:80]!r}. Tools: {', '.join(tools)}.")
    if len(arguments.encode("utf-8", "surrogatepass")) > limit_bytes:
        return InvalidCall("too-large", f"The arguments are larger than {limit_bytes} bytes.")
    parsed = _parse_object(arguments)
    if isinstance(parsed, InvalidCall):
        return parsed
    fault = _first_fault(parsed, tool)
    if fault:
        return InvalidCall("bad-arguments", f"{name}: {fault}")
    return Call(name, {key: value for key, value in parsed.items() if isinstance(value, (str, int))})


def _parse_object(text: str) -> dict[str, Json] | InvalidCall:
    if not text.strip():
        return {}
    try:
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        return InvalidCall(
            "not-json",
            f"The arguments are not JSON: {error.msg} at line {error.lineno}, column {error.colno}.",
        )
    except (ValueError, RecursionError) as error:
        return InvalidCall("not-json", f"The arguments are not valid JSON: {error}.")
    if value is None:
        return {}
    if not isinstance(value, dict):
        return InvalidCall("not-an-object", f"The arguments are a {type(value).__name__}, not a JSON object.")
    return value


def _unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found: dict[str, Json] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"the key {key[:80]!r} occurs twice")
        found[key] = value
    return found


def _no_constant(text: str) -> Json:
    raise ValueError(f"{text} is no JSON number")


def _first_fault(values: Mapping[str, Json], tool: Tool) -> str:
    known = {argument.name: argument for argument in tool.arguments}
    for key in values:
        if key not in known:
            return f"unknown argument {key[:80]!r} (known: {', '.join(known) or 'none'})."
    for argument in tool.arguments:
        if argument.name in values:
            fault = _fault_of(values[argument.name], argument)
            if fault:
                return fault
        elif argument.required:
            return f"the argument {argument.name!r} is missing."
    return ""


def _fault_of(value: Json, argument: Argument) -> str:
    if argument.type == "integer":
        if isinstance(value, bool) or not isinstance(value, int):
            return f"{argument.name!r} must be an integer, not {_kind(value)}."
        if abs(value) >= 2**31:
            return f"{argument.name!r} is out of range."
        return ""
    if not isinstance(value, str):
        return f"{argument.name!r} must be a string, not {_kind(value)}."
    if argument.choices and value not in argument.choices:
        return f"{argument.name!r} must be one of {', '.join(argument.choices)}."
    return _text_fault(value, argument.name)


def _text_fault(value: str, name: str) -> str:
    if "\0" in value:
        return f"{name!r} holds a NUL character."
    if any("\ud800" <= character <= "\udfff" for character in value):
        return f"{name!r} holds half of a surrogate pair."
    return ""


def _kind(value: Json) -> str:
    names = {bool: "true or false", type(None): "null", int: "an integer", float: "a number", str: "a string"}
    return names.get(type(value), "a list or an object")
