from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repairlab.contract.errors import InfrastructureFailure
from repairlab.hosts.assemble import assemble, join_surrogates
from repairlab.hosts.completion import read_completion
from repairlab.hosts.emulator.generation import Completion, WrittenCall, frames, whole_body


def frame(delta: dict[str, Any] | None = None, reason: str | None = None, **more: Any) -> dict[str, Any]:
    return {
        "id": "x",
        "model": "m",
        "choices": [{"index": 0, "delta": delta, "finish_reason": reason}],
        **more,
    }


def part(index: int | None, call_id: str | None, name: str | None, arguments: Any) -> dict[str, Any]:
    entry: dict[str, Any] = {"type": "function", "function": {"name": name, "arguments": arguments}}
    entry |= {"id": call_id} if call_id is not None else {}
    entry |= {"index": index} if index is not None else {}
    return frame({"tool_calls": [entry]})


def calls_of(*parts: dict[str, Any]) -> list[tuple[str, str, str]]:
    reply = read_completion(assemble([*parts, frame({}, "tool_calls")]))
    return [(call.id, call.name, call.arguments) for call in reply.tool_calls]


def test_c07a_two_calls_with_one_index_are_two_calls():
    assert calls_of(
        part(0, "call_a", "read_file", '{"path":"src/a.py"}'),
        part(0, "call_b", "read_file", '{"path":"src/b.py"}'),
    ) == [
        ("call_a", "read_file", '{"path":"src/a.py"}'),
        ("call_b", "read_file", '{"path":"src/b.py"}'),
    ]


def test_c07b_interleaved_parts_go_to_the_call_of_their_index():
    assert calls_of(
        part(0, "call_a", "read_file", '{"pa'),
        part(1, "call_b", "search", '{"que'),
        part(0, None, None, 'th":"src/a.py"}'),
        part(1, None, None, 'ry":"total"}'),
    ) == [("call_a", "read_file", '{"path":"src/a.py"}'), ("call_b", "search", '{"query":"total"}')]


def test_c07d_no_delta_at_all_is_an_empty_reply_and_no_error():
    reply = read_completion(assemble([frame({}, "stop")]))
    assert (reply.content, reply.tool_calls, reply.finish_reason, reply.usage) == ("", (), "stop", None)


def test_a_name_in_pieces_is_joined_and_a_repeated_header_is_not():
    assert calls_of(part(0, "1", "read_", ""), part(0, None, "file", ""), part(0, None, None, "{}")) == [
        ("1", "read_file", "{}")
    ]
    assert calls_of(part(0, "1", "run", "{"), part(0, "1", "run", "}")) == [("1", "run", "{}")]


def test_calls_without_ids_and_with_other_names_are_not_run_together():
    assert calls_of(part(0, None, "search", '{"a":1}'), part(0, None, "finish", "{}")) == [
        ("", "search", '{"a":1}'),
        ("", "finish", "{}"),
    ]


def test_c03b_an_object_as_arguments_is_kept_and_marked():
    reply = read_completion(assemble([part(0, "1", "run", {"b": 1, "a": [2]}), frame({}, "tool_calls")]))
    assert reply.tool_calls[0].arguments == '{"b":1,"a":[2]}'
    assert reply.tool_calls[0].form == "object"


def test_q12_a_call_without_id_name_or_arguments_is_a_value():
    reply = read_completion(assemble([frame({"tool_calls": [{"index": 0}]}, "tool_calls")]))
    call = reply.tool_calls[0]
    assert (call.id, call.name, call.arguments, call.form) == ("", "", "", "missing")


def test_both_names_of_reasoning_are_read():
    for key in ("reasoning", "reasoning_content"):
        reply = read_completion(assemble([frame({key: "think"}), frame({key: "ing"}), frame({}, "stop")]))
        assert reply.reasoning == "thinking"


def test_a_surrogate_pair_split_between_parts_is_one_character_again():
    reply = read_completion(
        assemble([frame({"content": "a\ud83d"}), frame({"content": "\ude00b"}), frame({}, "stop")])
    )
    assert reply.content == "a\U0001f600b"
    assert join_surrogates("lone \ud83d half") == "lone \ufffd half"


@pytest.mark.parametrize(
    "broken",
    [
        {"choices": "none"},
        {"choices": [1]},
        {"choices": [{"index": 1, "delta": {}}]},
        {"choices": [{"index": 0, "delta": "text"}]},
        {"choices": [{"index": 0, "delta": {"content": 7}}]},
        {"choices": [{"index": 0, "delta": {"tool_calls": "x"}}]},
        {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": "0"}]}}]},
        {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": True}]}}]},
        {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "function": {"arguments": 3}}]}}]},
    ],
)
def test_a_frame_of_another_shape_is_the_hosts_failure(broken: dict[str, Any]):
    with pytest.raises(InfrastructureFailure) as caught:
        assemble([broken])
    assert caught.value.kind == "host-protocol"


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=700)


@given(content=TEXT, reasoning=TEXT, arguments=st.lists(TEXT, max_size=3))
def test_a_streamed_reply_reads_like_the_same_reply_sent_at_once(
    content: str, reasoning: str, arguments: list[str]
):
    calls = tuple(WrittenCall(f"id{n}", f"tool_{n}", text) for n, text in enumerate(arguments))
    completion = Completion("i", 1, "m", content, reasoning, calls, "stop", 10, 5)
    parsed = [json.loads(one[6:]) for one in frames(completion, include_usage=True)[:-1]]
    streamed = read_completion(assemble(parsed))
    at_once = read_completion(whole_body(completion))
    for name in ("content", "reasoning", "tool_calls", "finish_reason", "usage", "model"):
        assert getattr(streamed, name) == getattr(at_once, name)
    assert streamed.content == content
    assert [call.arguments for call in streamed.tool_calls] == arguments
