from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from repairlab.hosts.llama.translate import (
    DIFF_CHARACTERS,
    TEXT_CHARACTERS,
    answer_schema,
    plain_messages,
    read_answer,
)


def test_tools_are_listed_in_the_system_message_and_roles_are_plain(conversation, offered) -> None:
    plain = plain_messages(conversation, offered)
    assert [one["role"] for one in plain] == ["system", "user", "assistant", "user", "user"]
    system = plain[0]["content"]
    assert system.startswith("You repair code.\n\n")
    assert 'such as {"name": "search", "arguments": {"query": "...", "mode": "literal"}}.' in system
    assert "- read_file(path, start_line (optional)): To read_file." in system
    assert "- run_tests(): To run_tests." in system
    assert plain[2]["content"] == 'I look.\n{"name": "read_file", "arguments": {"path":"a.py"}}'
    assert plain[3]["content"] == "Result of read_file:\n1 def total(lines):\n2     return None"


def test_a_conversation_without_system_message_gets_one_for_the_tools_alone(conversation, offered) -> None:
    assert plain_messages(conversation[1:2], offered)[0]["role"] == "system"
    assert plain_messages(conversation[1:2], []) == conversation[1:2]


@pytest.mark.parametrize("kept", [1, 2, 3, 4])
def test_a_longer_conversation_only_appends(conversation, offered, kept: int) -> None:
    # else the engine could use nothing of what it had read before, and prompt tokens could fall
    assert plain_messages(conversation, offered)[:kept] == plain_messages(conversation[:kept], offered)


def test_content_in_parts_is_joined() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    assert plain_messages([{"role": "user", "content": parts}], []) == [{"role": "user", "content": "ab"}]


@pytest.mark.parametrize(
    ("answer", "valid"),
    [
        ({"name": "run_tests", "arguments": {}}, True),
        ({"name": "read_file", "arguments": {"path": "a.py"}}, True),
        ({"name": "read_file", "arguments": {"path": "a.py", "start_line": 7}}, True),
        ({"name": "search", "arguments": {"query": "x", "mode": "regex"}}, True),
        ({"name": "apply_patch", "arguments": {"diff": "x" * DIFF_CHARACTERS}}, True),
        ({"name": "apply_patch", "arguments": {"diff": "x" * (DIFF_CHARACTERS + 1)}}, False),
        ({"name": "read_file", "arguments": {"path": "x" * (TEXT_CHARACTERS + 1)}}, False),
        ({"name": "read_file", "arguments": {}}, False),
        ({"name": "read_file", "arguments": {"path": "a.py", "start_line": 0}}, False),
        ({"name": "search", "arguments": {"query": "x", "mode": "fuzzy"}}, False),
        ({"name": "run_tests", "arguments": {"path": "a.py"}}, False),
        ({"name": "delete_everything", "arguments": {}}, False),
        ({"name": "run_tests"}, False),
    ],
)
def test_the_schema_allows_exactly_one_bounded_call_of_an_offered_tool(
    offered, answer: Any, valid: bool
) -> None:
    assert jsonschema.Draft202012Validator(answer_schema(offered)).is_valid(answer) is valid


@given(st.text(), st.dictionaries(st.text(), st.text() | st.integers() | st.booleans()))
def test_a_whole_answer_is_read_back(name: str, arguments: dict[str, Any]) -> None:
    call = read_answer(json.dumps({"name": name, "arguments": arguments}, indent=4))
    assert call is not None
    assert (call.name, call.arguments) == (name, arguments)


@given(st.integers(min_value=0, max_value=40))
def test_an_answer_that_was_cut_is_no_call(kept: int) -> None:
    assert read_answer('{"name": "run_tests", "arguments": {"a": 1}}'[:kept]) is None


@pytest.mark.parametrize(
    "text", ["[]", "null", '{"name": 3, "arguments": {}}', '{"name": "x", "arguments": []}', "[" * 9999]
)
def test_another_shape_is_no_call(text: str) -> None:
    assert read_answer(text) is None
