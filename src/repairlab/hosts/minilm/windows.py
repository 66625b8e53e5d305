"""A long text as windows of what the model can see. Pure."""

from __future__ import annotations

from collections.abc import Sequence

WINDOW_TOKENS = 512
"""What the model was trained to see (Wang et al. 2020, as published by sentence-transformers)."""
_ENDS = 2
"""The marks of beginning and end, which each window has."""


def windows(tokens: Sequence[int], most: int = WINDOW_TOKENS - _ENDS) -> list[Sequence[int]]:
    """`tokens` cut into as few parts of at most `most` as there must be, in order.

    The parts' lengths differ by one at most, so that each weighs the same in an average over them. No tokens
    make one empty part.
    """
    count = max(1, -(-len(tokens) // most))
    each, more = divmod(len(tokens), count)
    ends = [number * each + min(number, more) for number in range(count + 1)]
    return [tokens[ends[number] : ends[number + 1]] for number in range(count)]
