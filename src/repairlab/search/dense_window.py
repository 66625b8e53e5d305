"""Which lines of a chunk are shown: a vector ranks the chunk as a whole and points at no line of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate

_WORD = re.compile(r"[^\W_]{3,}")


def query_words(query: str) -> frozenset[str]:
    """Runs of at least three letters and digits of `query`, in lower case; an underscore ends a run."""
    return frozenset(_WORD.findall(query.lower()))


def window_start(lines: Sequence[str], query: str, size: int) -> int:
    """Index of the first of `size` lines that hold the most distinct words of `query`.

    A word counts wherever it stands in a line, as a part of a longer one too, without regard to case. Ties go
    to the window with more lines that hold any, then to the earliest: the first line, where no word occurs.
    """
    words = sorted(query_words(query))
    held = [frozenset(word for word in words if word in line) for line in map(str.lower, lines)]
    totals = list(accumulate((1 if found else 0 for found in held), initial=0))

    def worth(start: int) -> tuple[int, int, int]:
        end = min(start + size, len(lines))
        return len(frozenset().union(*held[start:end])), totals[end] - totals[start], -start

    return max(range(max(1, len(lines) - size + 1)), key=worth)
