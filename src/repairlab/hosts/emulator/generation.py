"""From an engine's reply to bytes: token counting, limits, ids, and the frames of a stream.

Everything here is a function of the request: equal requests to equal hosts get equal bytes. Tokens are
counted by a stated rule, one for each four bytes of UTF-8, rounded up; a real tokenizer counts otherwise.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from repairlab.contract.canonical import Json
from repairlab.hosts.emulator.chat_request import ChatCall
from repairlab.hosts.emulator.engines.protocol import EngineReply

BYTES_PER_TOKEN = 4
_PIECE_CHARACTERS = 256
_FIRST_SECOND = 1_700_000_000


@dataclass(frozen=True, slots=True)
class WrittenCall:
    """A tool call as text; `arguments` is cut where the token limit fell into it."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Completion:
    """One reply, finished."""

    id: str
    created: int
    model: str
    content: str
    reasoning: str
    calls: tuple[WrittenCall, ...]
    finish_reason: str
    prompt_tokens: int
    completion_tokens: int
    reasoning_tokens: int | None = None
    """Where another number is to be told than the reasoning amounts to."""
    has_content_key: bool = True
    reasoning_key: str = "reasoning_content"
    usage: Mapping[str, Json] | None = None
    """The whole of a recorded ``usage``."""


def tokens_of(text: str) -> int:
    """Tokens of `text` by the rule of this module."""
    return -(-len(_utf8(text)) // BYTES_PER_TOKEN)


def prompt_tokens(body: Mapping[str, Json]) -> int:
    """Tokens of the messages and tools of a request, as compact JSON; at least 1."""
    told = {"messages": body.get("messages"), "tools": body.get("tools")}
    return max(1, tokens_of(_compact(told)))


def complete(call: ChatCall, reply: EngineReply, model: str, context: int) -> Completion:
    """The completion of `call` under its token limit and the context's rest.

    At a limit the text is cut, ``finish_reason`` is ``length``, and one token less than the limit is
    counted, as the real host does.
    """
    digest = request_digest(call)
    calls = tuple(
        written_call(digest, index, one.name, one.arguments) for index, one in enumerate(reply.calls)
    )
    identity, created = completion_id(digest)
    prompt = prompt_tokens(call.body)
    whole = Completion(
        id=identity,
        created=created,
        model=model,
        content=reply.content,
        reasoning=reply.reasoning,
        calls=calls,
        finish_reason="tool_calls" if calls else "stop",
        prompt_tokens=prompt,
        completion_tokens=_written_tokens(reply.reasoning, reply.content, calls),
    )
    limit = context - prompt if call.max_tokens is None else min(call.max_tokens, context - prompt)
    return whole if whole.completion_tokens <= limit else _cut(whole, max(1, limit - 1))


def request_digest(call: ChatCall) -> str:
    """What ids and times of a reply are made from."""
    return hashlib.sha256(_utf8(json.dumps(call.body, sort_keys=True))).hexdigest()


def completion_id(digest: str) -> tuple[str, int]:
    """Id and second of the reply to the request with this digest."""
    return f"chatcmpl-{digest[:24]}", _FIRST_SECOND + int(digest[:6], 16)


def written_call(digest: str, index: int, name: str, arguments: Mapping[str, Json]) -> WrittenCall:
    """Call number `index` of the reply to the request with this digest."""
    return WrittenCall(_call_id(digest, index), name, _compact(dict(arguments)))


def replayed(body: Mapping[str, Any]) -> Completion:
    """A recorded reply, in the shape of one that was not streamed, as a completion again."""
    choice = body["choices"][0]
    message = choice["message"]
    key = "reasoning" if "reasoning" in message else "reasoning_content"
    return Completion(
        id=body.get("id", ""),
        created=body.get("created", 0),
        model=body["model"],
        content=message.get("content") or "",
        reasoning=message.get(key) or "",
        calls=tuple(_recorded_call(one) for one in message.get("tool_calls") or ()),
        finish_reason=choice["finish_reason"],
        prompt_tokens=0,
        completion_tokens=0,
        reasoning_key=key,
        usage=body.get("usage") or {},
    )


def _recorded_call(entry: Mapping[str, Any]) -> WrittenCall:
    function = entry.get("function") or {}
    arguments = function.get("arguments", "")
    text = arguments if isinstance(arguments, str) else _compact(arguments)
    return WrittenCall(entry.get("id", ""), function.get("name", ""), text)


def _written_tokens(reasoning: str, content: str, calls: tuple[WrittenCall, ...]) -> int:
    written = tokens_of(reasoning) + tokens_of(content)
    return max(1, written + sum(tokens_of(one.name) + tokens_of(one.arguments) for one in calls))


def _cut(whole: Completion, tokens: int) -> Completion:
    reasoning, left = _take(whole.reasoning, tokens)
    content, left = _take(whole.content, left)
    kept: list[WrittenCall] = []
    for call in whole.calls:
        left -= tokens_of(call.name)
        if left <= 0:
            break
        arguments, left = _take(call.arguments, left)
        kept.append(replace(call, arguments=arguments))
    return replace(
        whole,
        reasoning=reasoning,
        content=content,
        calls=tuple(kept),
        finish_reason="length",
        completion_tokens=tokens,
    )


def _take(text: str, tokens: int) -> tuple[str, int]:
    if tokens <= 0:
        return "", 0
    kept = _utf8(text)[: tokens * BYTES_PER_TOKEN].decode("utf-8", "ignore")
    return kept, tokens - tokens_of(kept)


def usage(completion: Completion) -> dict[str, Json]:
    """The reply's ``usage``."""
    if completion.usage is not None:
        return dict(completion.usage)
    counted: dict[str, Json] = {
        "prompt_tokens": completion.prompt_tokens,
        "completion_tokens": completion.completion_tokens,
        "total_tokens": completion.prompt_tokens + completion.completion_tokens,
    }
    reasoning = completion.reasoning_tokens
    if completion.reasoning or reasoning is not None:
        told = tokens_of(completion.reasoning) if reasoning is None else reasoning
        counted["completion_tokens_details"] = {"reasoning_tokens": told}
    return counted


def whole_body(completion: Completion) -> dict[str, Json]:
    """Body of a reply that is not streamed."""
    message: dict[str, Json] = {"role": "assistant"}
    if completion.has_content_key:
        message["content"] = completion.content
    if completion.reasoning:
        message[completion.reasoning_key] = completion.reasoning
    message["tool_calls"] = [_whole_call(one) for one in completion.calls]
    choice: dict[str, Json] = {
        "index": 0,
        "logprobs": None,
        "finish_reason": completion.finish_reason,
        "message": message,
    }
    return {
        "id": completion.id,
        "object": "chat.completion",
        "created": completion.created,
        "model": completion.model,
        "choices": [choice],
        "usage": usage(completion),
        "stats": {},
        "system_fingerprint": completion.model,
    }


def _whole_call(call: WrittenCall) -> Json:
    entry: dict[str, Json] = {"id": call.id, "type": "function"}
    return entry | ({"function": {"name": call.name, "arguments": call.arguments}} if call.name else {})


def frames(completion: Completion, *, include_usage: bool) -> tuple[bytes, ...]:
    """The stream's frames, each a whole server-sent event, the end mark last."""
    deltas: list[tuple[dict[str, Json], str | None]] = [(delta, None) for delta in _deltas(completion)]
    deltas.append(({}, completion.finish_reason))
    out = [event(_chunk(completion, [_choice(delta, reason)])) for delta, reason in deltas]
    if include_usage:
        out.append(event(_chunk(completion, []) | {"usage": usage(completion)}))
    return (*out, b"data: [DONE]\n\n")


def event(body: Json) -> bytes:
    """One server-sent event."""
    return b"data: " + _utf8(_compact(body)) + b"\n\n"


def _deltas(completion: Completion) -> Iterator[dict[str, Json]]:
    yield {"role": "assistant"}
    for piece in _pieces(completion.reasoning):
        yield {completion.reasoning_key: piece}
    for piece in _pieces(completion.content):
        yield {"content": piece}
    for index, call in enumerate(completion.calls):
        if not call.name:
            yield {"tool_calls": [{"index": index, "id": call.id, "type": "function"}]}
            continue
        head: dict[str, Json] = {"name": call.name, "arguments": ""}
        yield {"tool_calls": [{"index": index, "id": call.id, "type": "function", "function": head}]}
        for piece in _pieces(call.arguments):
            part: dict[str, Json] = {"name": None, "arguments": piece}
            yield {"tool_calls": [{"index": index, "id": None, "type": "function", "function": part}]}


def _pieces(text: str) -> Iterator[str]:
    for start in range(0, len(text), _PIECE_CHARACTERS):
        yield text[start : start + _PIECE_CHARACTERS]


def _choice(delta: dict[str, Json], reason: str | None) -> Json:
    return {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}


def _chunk(completion: Completion, choices: list[Json]) -> dict[str, Json]:
    return {
        "id": completion.id,
        "object": "chat.completion.chunk",
        "created": completion.created,
        "model": completion.model,
        "system_fingerprint": completion.model,
        "choices": choices,
    }


def _call_id(digest: str, index: int) -> str:
    number = int(hashlib.sha256(f"{digest}:{index}".encode()).hexdigest()[:12], 16)
    return str(100_000_000 + number % 900_000_000)


def _compact(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "replace")
