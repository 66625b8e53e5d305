"""What comes of one request to the engine."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PromptTooLong:
    """The prompt alone has more tokens than the context."""

    prompt_tokens: int
    context: int


@dataclass(frozen=True, slots=True)
class Answer:
    """What the model wrote, with the engine's own counts."""

    text: str
    finish_reason: str
    """``stop`` or ``length``."""
    prompt_tokens: int
    completion_tokens: int
