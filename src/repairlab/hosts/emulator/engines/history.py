"""What an engine can know of its own past: only what the messages of the request hold."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

OPENING = "<statement>"
CLOSING = "</statement>"
_APPLIED = "applied"


@dataclass(frozen=True, slots=True)
class PastCall:
    """An earlier tool call and its result (empty while there is none)."""

    name: str
    result: str
    arguments: str = "{}"

    @property
    def applied(self) -> bool:
        """Whether the result of a patch says, as its first word, that it is applied."""
        return self.result.lower().startswith(_APPLIED)


def past_calls(messages: Sequence[Mapping[str, Any]]) -> tuple[PastCall, ...]:
    """Calls in order. Ids may repeat between replies, so each result belongs to the calls just before it."""
    found: list[PastCall] = []
    for number, message in enumerate(messages):
        calls = message.get("tool_calls") if message.get("role") == "assistant" else None
        if calls:
            results = dict(_results(messages[number + 1 :]))
            found += [
                PastCall(call["function"]["name"], results.get(call["id"], ""), call["function"]["arguments"])
                for call in calls
            ]
    return tuple(found)


def _results(following: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    for message in following:
        if message.get("role") != "tool":
            return
        yield str(message.get("tool_call_id")), text_of(message)


def text_of(message: Mapping[str, Any]) -> str:
    """The text of a message, whose content may be text or a list of parts."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "".join(str(part.get("text", "")) for part in parts if isinstance(part, dict))


def first_user_text(messages: Sequence[Mapping[str, Any]]) -> str:
    """Text of the first user message."""
    return next((text_of(message) for message in messages if message.get("role") == "user"), "")


def statement_of(messages: Sequence[Mapping[str, Any]]) -> str | None:
    """The statement: the text between the marker lines of the first user message, to the byte.

    The first opening and the last closing line count. ``None`` where they are not both there.
    """
    text = first_user_text(messages)
    marked = f"\n{text}\n"
    start = marked.find(f"\n{OPENING}\n")
    end = marked.rfind(f"\n{CLOSING}\n")
    begin = start + len(OPENING) + 2
    if start < 0 or end < begin:
        return None
    return marked[begin:end]


def text_after_statement(messages: Sequence[Mapping[str, Any]]) -> str:
    """What user messages say outside the statement: the end of the first one, and all later ones."""
    texts = [text_of(message) for message in messages if message.get("role") == "user"]
    if not texts:
        return ""
    return "\n".join([texts[0].rpartition(CLOSING)[2], *texts[1:]])


def statement_digest(statement: str) -> str:
    """SHA-256 of the statement's UTF-8 bytes; the key under which a task is known."""
    return hashlib.sha256(statement.encode("utf-8", "replace")).hexdigest()
