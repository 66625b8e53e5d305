from __future__ import annotations

from typing import Any

import pytest

from repairlab.contract.errors import InfrastructureFailure
from repairlab.hosts.chat import Usage
from repairlab.hosts.completion import read_completion, read_usage


def body(message: Any, reason: Any = "stop", **changes: Any) -> dict[str, Any]:
    whole = {"model": "m", "choices": [{"index": 0, "finish_reason": reason, "message": message}]}
    return whole | changes


def test_a_missing_content_key_is_empty_text():
    assert read_completion(body({"role": "assistant"})).content == ""


def test_c09c_a_dropped_call_stays_visible():
    reply = read_completion(body({"content": "", "tool_calls": []}, "tool_calls"))
    assert (reply.finish_reason, reply.tool_calls) == ("tool_calls", ())


@pytest.mark.parametrize(
    "broken",
    [
        body({}, choices=[]),
        body({}, choices=[{}, {}]),
        body("text"),
        body({}, reason=None),
        body({}, model=None),
        body({"content": 3}),
        body({"tool_calls": [None]}),
        body({"tool_calls": [{"function": {"name": "a", "arguments": [1]}}]}),
    ],
)
def test_c09e_another_shape_is_the_hosts_failure(broken: dict[str, Any]):
    with pytest.raises(InfrastructureFailure) as caught:
        read_completion(broken)
    assert caught.value.kind == "host-protocol"


@pytest.mark.parametrize(
    ("usage", "wrote", "known"),
    [
        ({"prompt_tokens": 9, "completion_tokens": 4}, True, Usage(9, 4)),
        ({"prompt_tokens": 9, "completion_tokens": 0}, False, Usage(9, 0)),
        ({"prompt_tokens": 9, "completion_tokens": 0}, True, None),
        ({"prompt_tokens": 0, "completion_tokens": 0}, False, None),
        ({"prompt_tokens": 0, "completion_tokens": 4}, True, None),
        ({"prompt_tokens": -1, "completion_tokens": 4}, True, None),
        ({"prompt_tokens": True, "completion_tokens": 4}, True, None),
        ({"prompt_tokens": 9.5, "completion_tokens": 4}, True, None),
        ({"prompt_tokens": 9}, True, None),
        (None, True, None),
        ("many", True, None),
    ],
)
def test_c05c_token_counts_are_never_zero_by_accident(usage: Any, wrote: bool, known: Usage | None):
    assert read_usage(usage, wrote) == known


def test_reasoning_tokens_are_read_where_they_are_told():
    usage = {
        "prompt_tokens": 9,
        "completion_tokens": 4,
        "completion_tokens_details": {"reasoning_tokens": 3},
    }
    assert read_usage(usage, True) == Usage(9, 4, 3)
