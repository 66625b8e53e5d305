"""Chat replies out of shape: the same words of an engine, as a server is known to lose or misplace them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from repairlab.hosts.emulator.actions import CountTokens, Reshape
from repairlab.hosts.emulator.generation import Completion, WrittenCall, tokens_of

_STOPPED_AT_TOKENS = 5


def reshaped(completion: Completion, action: Reshape, number: int) -> Completion:
    """`completion` in the shape that `action` names; `number` counts the requests of the route."""
    if action.shape == "unstable":
        return replace(completion, content=f"{completion.content} [{number}]")
    return _SHAPES[action.shape](completion)


def counted(completion: Completion, action: CountTokens) -> Completion:
    """`completion` with other token counts."""
    return replace(
        completion,
        prompt_tokens=action.prompt_tokens,
        completion_tokens=action.completion_tokens,
        reasoning_tokens=action.reasoning_tokens,
    )


def _call(completion: Completion) -> WrittenCall:
    return completion.calls[0] if completion.calls else WrittenCall("1", "finish", "{}")


def _as_text(completion: Completion) -> str:
    call = _call(completion)
    return f'<tool_call>\n{{"name":"{call.name}","arguments":{call.arguments}}}\n</tool_call>'


def _without_calls(completion: Completion, content: str, reasoning: str = "") -> Completion:
    return replace(completion, content=content, reasoning=reasoning, calls=(), finish_reason="stop")


def _with_call(completion: Completion, **changes: str) -> Completion:
    call = replace(_call(completion), **changes)
    return replace(completion, calls=(call,), finish_reason="tool_calls")


def _cut(completion: Completion) -> Completion:
    arguments = _call(completion).arguments
    return replace(_with_call(completion, arguments=arguments[:-2]), finish_reason="length")


def _stopped(completion: Completion) -> Completion:
    shortened = completion.content[: _STOPPED_AT_TOKENS * 4]
    return replace(_without_calls(completion, shortened), completion_tokens=tokens_of(shortened))


_SHAPES: Mapping[str, Callable[[Completion], Completion]] = {
    "empty": lambda c: replace(_without_calls(c, ""), completion_tokens=0),
    "reasoning-only": lambda c: _without_calls(c, "", c.content),
    "think-tags": lambda c: replace(c, content=f"<think>{c.content}</think>"),
    "call-in-content": lambda c: _without_calls(c, _as_text(c)),
    "call-in-reasoning": lambda c: _without_calls(c, "", f"I will call {_as_text(c)}"),
    "call-dropped": lambda c: replace(c, content="", calls=(), finish_reason="tool_calls"),
    "bad-arguments": lambda c: _with_call(c, arguments="<parameter=path>a.py</parameter>"),
    "empty-id": lambda c: _with_call(c, id=""),
    "missing-name": lambda c: _with_call(c, id="", name="", arguments=""),
    "no-content-key": lambda c: replace(c, content="", has_content_key=False),
    "stop-with-calls": lambda c: replace(c, finish_reason="stop"),
    "cut-call": _cut,
    "stopped-early": _stopped,
}
