"""What is asked of a chat model and what can come back. Values only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from repairlab.contract.canonical import Json


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One request. Every sampling setting is sent: a host fills in its own for what is left out."""

    model: str
    """Instance id, as the verified transition names it."""
    messages: tuple[Mapping[str, Json], ...]
    tools: tuple[Mapping[str, Json], ...]
    temperature: float
    top_p: float
    seed: int
    max_tokens: int

    def body(self) -> dict[str, Json]:
        """The JSON body as it is sent. Without tools the key is left out."""
        body: dict[str, Json] = {
            "model": self.model,
            "messages": list(self.messages),
            "temperature": self.temperature,
            "top_p": self.top_p,
            "seed": self.seed,
            "max_tokens": self.max_tokens,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if self.tools:
            body["tools"] = list(self.tools)
        return body


@dataclass(frozen=True, slots=True)
class RawToolCall:
    """A tool call as the host gave it; nothing is repaired and ids may be empty or repeated."""

    id: str
    name: str
    """Empty where the host gave none."""
    arguments: str
    """Raw text. For ``form == "object"`` the compact JSON of the object that stood where text belongs."""
    form: Literal["text", "object", "missing"] = "text"


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the host counted them."""

    prompt_tokens: int
    completion_tokens: int
    reasoning_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class ChatReply:
    """One whole reply."""

    content: str
    reasoning: str
    tool_calls: tuple[RawToolCall, ...]
    finish_reason: str
    usage: Usage | None
    """``None`` when unknown: absent, malformed, or at odds with the reply (such as zero for some text)."""
    model: str
    raw: Json
    """The assembled reply, whole, in the shape of a reply that is not streamed."""


@dataclass(frozen=True, slots=True)
class DeadlineReached:
    """The agent clock ran out while the host was still alive: the system's own outcome."""

    partial: Json
    """What had been assembled by then; ``None`` when nothing had come, or nothing was sent."""


@dataclass(frozen=True, slots=True)
class UnparsableCall:
    """The host refused to pass on a call because the text that the model wrote for it is no JSON.

    The model wrote those bytes, so this is the model's failure; it uses up a model call.
    """

    message: str
    raw: Json


ChatOutcome: TypeAlias = ChatReply | DeadlineReached | UnparsableCall
