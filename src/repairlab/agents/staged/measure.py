"""How much of a source fits into a stage: the token rule for text that the harness itself packs.

A light byte (an ASCII letter, an underscore, a blank) counts as the n-th part of a token, every other byte as
a whole one, where n is `controls.Staged.light_bytes_per_token`. Digits, punctuation and line ends are what
tokenizers spend most tokens on, so one rule holds for prose and for tables of numbers, where a plain number
of bytes a token would be either far too low or far too high.

Sizes are whole numbers of parts, so that they add up without rounding.
"""

from __future__ import annotations

import string
from collections.abc import Callable

_LIGHT = (string.ascii_letters + "_ ").encode()


class TokenRule:
    """The rule with n light bytes to a token."""

    __slots__ = ("parts",)

    def __init__(self, light_bytes_per_token: int) -> None:
        self.parts = light_bytes_per_token
        """Parts of a token."""

    def size(self, text: str) -> int:
        """Parts of a token in `text`. Sizes of pieces add up to the size of the whole."""
        data = text.encode("utf-8", "surrogatepass")
        heavy = len(data.translate(None, _LIGHT))
        return len(data) - heavy + self.parts * heavy

    def tokens(self, size: int) -> int:
        """Whole tokens in so many parts, rounded up."""
        return -(-size // self.parts)


def largest(most: int, fits: Callable[[int], bool]) -> int:
    """The largest number up to `most` that fits; 0 always does, and what fits at n fits below it."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low
