"""The calibration models, asked through the real host by the real client in a loop of tools."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from repairlab.hosts.chat import ChatReply, ChatRequest
from repairlab.hosts.client import LMStudioClient
from repairlab.hosts.emulator.engines.history import past_calls, statement_of

Converse = Callable[..., list[tuple[str, dict[str, Any]]]]


@pytest.fixture
def converse(host: Any, client: LMStudioClient, request_for: Callable[..., ChatRequest]) -> Converse:
    """Calls that a model makes when each of its calls is answered by `results` (by tool name)."""

    def run(model: str, results: dict[str, str], offered: set[str] | None = None, **changes: Any) -> Any:
        host.load(model, 65_536)
        request = request_for(model=model, **changes)
        if offered is not None:
            kept = tuple(tool for tool in request.tools if tool["function"]["name"] in offered)
            request = replace(request, tools=kept)
        made: list[tuple[str, dict[str, Any]]] = []
        said: list[str] = []
        for _ in range(12):
            reply = client.chat(request, math.inf)
            assert isinstance(reply, ChatReply)
            said.append(reply.content)
            if not reply.tool_calls:
                break
            (call,) = reply.tool_calls
            made.append((call.name, json.loads(call.arguments)))
            if call.name == "finish":
                break
            entry = {"name": call.name, "arguments": call.arguments}
            answer = [
                {
                    "role": "assistant",
                    "content": reply.content,
                    "tool_calls": [{"id": "same", "type": "function", "function": entry}],
                },
                {"role": "tool", "tool_call_id": "same", "content": results.get(call.name, "Done.")},
            ]
            request = replace(request, messages=(*request.messages, *answer))
        made.append(("said", {"text": said}))
        return made

    return run


APPLIED = {"apply_patch": "Applied. Changed: shop/order.py."}


def test_the_navigator_goes_straight_to_the_fix(converse: Converse, gold_patch: str):
    *calls, _ = converse("acme/navigator", APPLIED)
    assert calls[:4] == [
        ("search", {"query": "return None  # nothing ordered", "mode": "substring"}),
        ("read_file", {"path": "shop/order.py", "start_line": 31, "end_line": 58}),
        ("apply_patch", {"diff": gold_patch}),
        ("run_tests", {}),
    ]
    assert calls[4][0] == "finish"
    assert "known fix is applied" in calls[4][1]["summary"]
    assert len(calls) == 5


@pytest.mark.parametrize(
    ("offered", "expected"),
    [
        ({"read_file", "apply_patch", "finish"}, ["read_file", "apply_patch", "finish"]),
        ({"apply_patch", "run_tests", "finish"}, ["apply_patch", "run_tests", "finish"]),
        ({"search", "finish"}, ["search", "finish"]),
        ({"apply_patch"}, ["apply_patch"]),
    ],
)
def test_the_navigator_uses_what_is_offered(converse: Converse, offered: set[str], expected: list[str]):
    *calls, _ = converse("acme/navigator", APPLIED, offered)
    assert [name for name, _ in calls] == expected


def test_the_navigator_says_so_when_its_patch_is_refused(converse: Converse):
    refusal = {"apply_patch": "The patch does not apply: shop/order.py, hunk 1."}
    *calls, (_, said) = converse("acme/navigator", refusal)
    assert [name for name, _ in calls] == ["search", "read_file", "apply_patch", "finish"]
    assert "refused" in said["text"][-1]


def test_the_navigator_on_an_unknown_statement_is_the_floor_and_says_so(converse: Converse, statement: str):
    for text in ("Another fault altogether.", statement + "\n", " " + statement):
        *calls, (_, said) = converse("acme/navigator", {}, text=text)
        assert "apply_patch" not in [name for name, _ in calls]
        assert calls[-1][0] == "finish"
        assert "do not know this task" in said["text"][0]


def test_the_floor_looks_around_and_never_edits(converse: Converse):
    found = {"search": "shop/order.py:42\n  42: return None"}
    *calls, _ = converse("acme/agent-9b", found)
    assert [name for name, _ in calls] == ["search", "read_file", "finish"]
    assert calls[1][1]["path"] == "shop/order.py"
    *calls, _ = converse("acme/agent-9b", {"search": "Nothing found."})
    assert [name for name, _ in calls] == ["search", "finish"]


def test_a_statement_is_read_to_the_byte():
    def asked(text: str) -> list[dict[str, Any]]:
        return [
            {"role": "system", "content": "<statement>\nno\n</statement>"},
            {"role": "user", "content": text},
        ]

    assert statement_of(asked("a\n<statement>\n x \n\n</statement>\nb")) == " x \n"
    assert statement_of(asked("<statement>\nx\n</statement>")) == "x"
    assert statement_of(asked("<statement>\na\n</statement>\nb\n</statement>")) == "a\n</statement>\nb"
    assert statement_of(asked("<statement> x </statement>")) is None
    assert statement_of(asked("<statement>\nx")) is None
    assert statement_of([]) is None
    parts = [{"type": "text", "text": "<statement>\nx\n</statement>"}]
    assert statement_of([{"role": "user", "content": parts}]) == "x"


def test_results_with_equal_ids_belong_to_the_calls_before_them():
    def called(name: str) -> dict[str, Any]:
        function = {"name": name, "arguments": "{}"}
        return {"role": "assistant", "tool_calls": [{"id": "1", "type": "function", "function": function}]}

    messages = [
        called("search"),
        {"role": "tool", "tool_call_id": "1", "content": "first"},
        called("apply_patch"),
        {"role": "tool", "tool_call_id": "1", "content": "Applied."},
    ]
    assert [(call.name, call.result) for call in past_calls(messages)] == [
        ("search", "first"),
        ("apply_patch", "Applied."),
    ]
    assert past_calls(messages)[1].applied
