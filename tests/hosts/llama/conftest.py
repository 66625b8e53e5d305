"""Requests with tools, as an episode sends them."""

from __future__ import annotations

from typing import Any

import pytest


def _tool(name: str, required: list[str], **properties: dict[str, Any]) -> dict[str, Any]:
    parameters = {"type": "object", "properties": properties, "required": required}
    return {
        "type": "function",
        "function": {"name": name, "description": f"To {name}.", "parameters": parameters},
    }


@pytest.fixture(scope="session")
def offered() -> list[dict[str, Any]]:
    """Tools with required and optional arguments, choices and whole numbers."""
    text = {"type": "string", "description": "-"}
    return [
        _tool("search", ["query", "mode"], query=text, mode={"type": "string", "enum": ["literal", "regex"]}),
        _tool("read_file", ["path"], path=text, start_line={"type": "integer", "description": "-"}),
        _tool("apply_patch", ["diff"], diff=text),
        _tool("run_tests", []),
    ]


@pytest.fixture(scope="session")
def conversation() -> list[dict[str, Any]]:
    """System, user, a call, its result, a reminder."""
    call = {
        "id": "call1",
        "type": "function",
        "function": {"name": "read_file", "arguments": '{"path":"a.py"}'},
    }
    return [
        {"role": "system", "content": "You repair code."},
        {"role": "user", "content": "The total of an empty order is None where 0 belongs."},
        {"role": "assistant", "content": "I look.", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call1", "content": "1 def total(lines):\n2     return None"},
        {"role": "user", "content": "Call a tool."},
    ]
