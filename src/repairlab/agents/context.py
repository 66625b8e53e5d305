"""Whether the next request fits the context: a conservative rule that needs no tokenizer."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass

from repairlab.contract.canonical import Json
from repairlab.contract.controls import Generation


@dataclass(frozen=True, slots=True)
class ContextBound:
    """An upper bound of the prompt's tokens.

    Before the first reply the whole request is bounded by ceil(bytes / bytes_per_token). Afterwards the
    host's last ``usage`` replaces the rule for what it counted, and only what came since is bounded.
    """

    generation: Generation
    context_tokens: int
    counted_tokens: int = 0
    """Tokens that the host reported for the first `counted_messages` messages and the tools."""
    counted_messages: int = 0

    def prompt_bound(self, messages: list[Json], tools: list[Json]) -> int:
        """Upper bound for a request with `messages` and `tools`."""
        fresh = messages[self.counted_messages :]
        size = sum(_size(message) for message in fresh)
        if self.counted_messages == 0:
            size += _size(tools)
        return self.counted_tokens + math.ceil(size / self.generation.bytes_per_token)

    def fits(self, messages: list[Json], tools: list[Json]) -> bool:
        """Whether the request and a reply of full length stay inside the context."""
        return self.room(messages, tools) >= 0

    def room(self, messages: list[Json], tools: list[Json]) -> int:
        """Tokens left beside the request and a reply of full length; below 0 where it does not fit."""
        bound = self.prompt_bound(messages, tools) + self.generation.completion_tokens
        return self.context_tokens - bound

    def after(self, prompt_tokens: int | None, messages: int) -> ContextBound:
        """The bound once a host has reported `prompt_tokens` for the first `messages` messages."""
        if prompt_tokens is None or prompt_tokens <= 0:
            return self
        return ContextBound(self.generation, self.context_tokens, prompt_tokens, messages)


def _size(value: Json) -> int:
    return len(json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass"))
