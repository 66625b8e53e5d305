"""What is remarkable about one whole reply, as conditions of the failure table. Pure; nothing is repaired."""

from __future__ import annotations

import json

from repairlab.contract.failures import Condition
from repairlab.hosts.chat import ChatReply, RawToolCall

CALL_MARKS = ("<tool_call>", "<function=", "<|tool_call_start|>", "[TOOL_REQUEST]", "<|channel|>commentary")
"""Beginnings of calls as models write them when no parser takes them."""
_THINK_MARKS = ("<think>", "</think>")
_MANY_TOKENS = 16
"""So many completion tokens without a single character were written and then lost."""
_NEAR_TOKENS = 256
"""A prompt so near to the context leaves no room for an answer."""


def conditions_in(reply: ChatReply, context_tokens: int) -> tuple[Condition, ...]:
    """Conditions of `reply`, the one that decides first.

    Args:
        reply: as it came.
        context_tokens: context of the instance that answered.
    """
    if reply.finish_reason == "length":
        return ("reply-cut", *_thinking(reply))
    if reply.tool_calls:
        return (*_of_calls(reply), *_thinking(reply))
    return (*_without_calls(reply, context_tokens), *_thinking(reply))


def _of_calls(reply: ChatReply) -> tuple[Condition, ...]:
    found: list[Condition] = []
    if any(not call.name for call in reply.tool_calls):
        found.append("call-without-name")
    if not all(_is_object(call) for call in reply.tool_calls):
        found.append("arguments-not-json")
    if reply.finish_reason != "tool_calls":
        found.append("finish-reason-differs")
    return tuple(found)


def _without_calls(reply: ChatReply, context_tokens: int) -> tuple[Condition, ...]:
    nothing = not reply.content.strip() and not reply.reasoning.strip()
    if nothing and reply.usage and reply.usage.completion_tokens == 0:
        full = reply.usage.prompt_tokens + _NEAR_TOKENS >= context_tokens
        if full:
            return ("context-overflow",)
    lost = nothing and reply.usage is not None and reply.usage.completion_tokens >= _MANY_TOKENS
    if reply.finish_reason == "tool_calls" or lost:
        return ("call-dropped",)
    found: list[Condition] = []
    if _marked(reply.content):
        found.append("call-in-content")
    if _marked(reply.reasoning):
        found.append("call-in-reasoning")
    if not reply.content.strip() and reply.reasoning.strip():
        found.append("reasoning-only")
    return tuple(found)


def _thinking(reply: ChatReply) -> tuple[Condition, ...]:
    return ("think-tags",) if any(mark in reply.content for mark in _THINK_MARKS) else ()


def _marked(text: str) -> bool:
    return any(mark in text for mark in CALL_MARKS)


def _is_object(call: RawToolCall) -> bool:
    if not call.arguments.strip():
        return True  # stands for {}; whether the tool takes that is the tool's affair
    try:
        return isinstance(json.loads(call.arguments), dict)
    except (ValueError, RecursionError):
        return False
