"""Similar names: rapidfuzz's ratio over many texts, exact, with most of them ruled out by a bound.

The ratio is 100 * (1 - d / (m + n)) for texts of m and n characters, where d is their distance by insertions
and deletions. A single one of these moves each character count by at most one. So d is at least the
difference of lengths, and at least the difference of the counts of 64 groups of characters, each count cut at
two: a population count of two 64-bit words. Neither bound ever rules out a text that reaches the cut-off.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz, process

from repairlab.search.container import Container

_GROUPS = 64
_LETTER_A = ord("a")
_DIGIT_0 = ord("0")

Signatures = NDArray[np.uint64]
Numbers = NDArray[np.uint32]


class Similar(NamedTuple):
    """A text near the query: its number among the texts, and its ratio (cut-off to 100)."""

    number: int
    ratio: float


@dataclass(frozen=True, slots=True)
class FuzzyTable:
    """What is stored for a list of texts, ordered by length, then number.

    Attributes:
        order: number of each text, shape (n,).
        lengths: characters of each text in that order, ascending, shape (n,).
        signatures: groups that occur at least once and at least twice, shape (n, 2).
    """

    order: Numbers
    lengths: Numbers
    signatures: Signatures


def fuzzy_table(texts: Sequence[str]) -> FuzzyTable:
    """The table of `texts`."""
    lengths = np.fromiter(map(len, texts), np.uint32, len(texts))
    order = np.argsort(lengths, kind="stable").astype(np.uint32)
    return FuzzyTable(order, lengths[order], _signatures(texts)[order])


def fuzzy_sections(texts: Sequence[str], name: str) -> dict[str, bytes]:
    """The table of `texts` as sections of a container, their names beginning with `name`."""
    table = fuzzy_table(texts)
    return {
        f"{name}-order": table.order.tobytes(),
        f"{name}-lengths": table.lengths.tobytes(),
        f"{name}-signatures": table.signatures.tobytes(),
    }


def read_table(container: Container, name: str) -> FuzzyTable:
    """The table that `fuzzy_sections` wrote under `name`."""
    signatures = np.frombuffer(container.section(f"{name}-signatures"), np.uint64)
    return FuzzyTable(
        np.frombuffer(container.section(f"{name}-order"), np.uint32),
        np.frombuffer(container.section(f"{name}-lengths"), np.uint32),
        signatures.reshape(-1, 2),
    )


class FuzzyIndex:
    """Finds the texts most similar to a query.

    Args:
        texts: the texts, addressed by their number.
        table: what `fuzzy_table` gives for them.
    """

    __slots__ = ("_table", "_texts")

    def __init__(self, texts: Sequence[str], table: FuzzyTable) -> None:
        self._texts = texts
        self._table = table

    def best(self, query: str, *, cutoff: int, most: int) -> tuple[Similar, ...]:
        """At most `most` texts with a ratio of `cutoff` (1 to 100) or more: highest first, ties by text."""
        if not query:
            return ()
        places = self._candidates(query, cutoff)
        indexes = self._table.order[places].tolist()
        choices = [self._texts[index] for index in indexes]
        found = process.extract(query, choices, scorer=fuzz.ratio, score_cutoff=cutoff, limit=None)
        ranked = sorted(found, key=lambda match: (-match[1], match[0], indexes[match[2]]))
        return tuple(Similar(indexes[place], float(ratio)) for _, ratio, place in ranked[:most])

    def _candidates(self, query: str, cutoff: int) -> NDArray[np.intp]:
        """Places in the table that no bound rules out."""
        size, lengths = len(query), self._table.lengths
        shortest = -(-size * cutoff // (200 - cutoff))
        longest = size * (200 - cutoff) // cutoff
        first = int(np.searchsorted(lengths, shortest, "left"))
        last = int(np.searchsorted(lengths, longest, "right"))
        mine = _signatures([query])[0]
        theirs = self._table.signatures[first:last]
        counts = np.bitwise_count(theirs[:, 0] ^ mine[0]).astype(np.int64)
        counts += np.bitwise_count(theirs[:, 1] ^ mine[1])
        allowed = (100 - cutoff) * (lengths[first:last].astype(np.int64) + size)
        return np.flatnonzero(counts * 100 <= allowed) + first


def _signatures(texts: Sequence[str]) -> Signatures:
    points = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), np.uint32)
    bounds = list(accumulate(map(len, texts), initial=0))
    rows = np.repeat(np.arange(len(texts), dtype=np.int64), np.diff(bounds))
    counts = np.bincount(rows * _GROUPS + _groups(points), minlength=len(texts) * _GROUPS)
    counts = counts.reshape(len(texts), _GROUPS)
    packed = [np.packbits(counts >= least, axis=1, bitorder="little") for least in (1, 2)]
    return np.stack([half.view(np.uint64).reshape(-1) for half in packed], axis=1)


def _groups(points: NDArray[np.uint32]) -> NDArray[np.int64]:
    """A group for each character: lower-case ASCII letters and digits have one each."""
    signed = points.astype(np.int64)
    letters = (signed >= _LETTER_A) & (signed < _LETTER_A + 26)
    digits = (signed >= _DIGIT_0) & (signed < _DIGIT_0 + 10)
    others = 36 + signed % (_GROUPS - 36)
    return np.where(letters, signed - _LETTER_A, np.where(digits, signed - _DIGIT_0 + 26, others))
