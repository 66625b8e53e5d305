"""Which files hold which words: what narrows an exact search before any text is scanned.

A word is a longest run of ``[0-9A-Za-z_]``; every other byte, those beyond ASCII included, ends it. So the
rule needs no decoding, and a run of such bytes inside a searched text is a whole word, the end or the start
of one, or a part of one, depending on the bytes beside it.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable
from itertools import accumulate, chain

import numpy as np

from repairlab.search.container import Container

_WORD_BYTES = frozenset(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz")
_TO_WORDS = bytes(byte if byte in _WORD_BYTES else 0x20 for byte in range(256))

_MOST_WORDS = 2000
"""Where as many words fit, scanning everything is as fast as joining their files."""
_FEW_WORDS = 64
"""So many words are looked for one by one; if there are more, all at once."""


def words_of(data: bytes) -> dict[bytes, None]:
    """The distinct words of `data`, in the order of their first place."""
    return dict.fromkeys(data.translate(_TO_WORDS).split())


def is_word_byte(byte: int) -> bool:
    """Whether `byte` (0 to 255) is part of a word."""
    return byte in _WORD_BYTES


def word_sections(files: Iterable[bytes]) -> dict[str, memoryview]:
    """Vocabulary and postings of `files`, whose ids are their positions."""
    postings: defaultdict[bytes, list[int]] = defaultdict(list)
    for number, data in enumerate(files):
        for word in words_of(data):
            postings[word].append(number)
    words = sorted(postings)
    lists = [postings[word] for word in words]
    # Each word stands between two newlines, so that one search finds whole words, ends and starts as well.
    vocabulary = b"\n" + b"".join(word + b"\n" for word in words)
    starts = array("I", accumulate((len(word) + 1 for word in words), initial=1))
    bounds = array("I", accumulate(map(len, lists), initial=0))
    flat = array("I", chain.from_iterable(lists))
    return {
        "vocabulary": memoryview(vocabulary),
        "word-starts": memoryview(starts),
        "posting-bounds": memoryview(bounds),
        "postings": memoryview(flat),
    }


class WordIndex:
    """Looks up the files whose words can hold a given run of word bytes."""

    __slots__ = ("_bounds", "_postings", "_starts", "_vocabulary")

    def __init__(self, container: Container) -> None:
        self._vocabulary = bytes(container.section("vocabulary"))
        self._starts = container.numbers("word-starts")
        self._bounds = container.numbers("posting-bounds")
        self._postings = container.numbers("postings")

    def files_with(self, run: bytes, *, starts_word: bool, ends_word: bool) -> frozenset[int] | None:
        """Ids of the files with a word that holds `run`, at its start or end where so required.

        Returns None where too many words fit for the answer to be worth its price.
        """
        needle = (b"\n" if starts_word else b"") + run + (b"\n" if ends_word else b"")
        shift = 1 if starts_word else 0
        found: set[int] = set()
        place = self._vocabulary.find(needle)
        for _ in range(_FEW_WORDS):
            if place < 0:
                return frozenset(found)
            word = bisect_right(self._starts, place + shift) - 1
            found.update(self._postings[self._bounds[word] : self._bounds[word + 1]])
            place = self._vocabulary.find(needle, self._starts[word + 1] - 1)
        return self._files_with_many(needle, shift)

    def _files_with_many(self, needle: bytes, shift: int) -> frozenset[int] | None:
        """The same for a needle in many words, all of them at once."""
        places = [match.start() + shift for match in re.finditer(re.escape(needle), self._vocabulary)]
        starts = np.frombuffer(self._starts, np.uint32)
        words = np.unique(np.searchsorted(starts, np.array(places, np.uint32), "right") - 1).tolist()
        if len(words) >= _MOST_WORDS:
            return None
        postings, bounds = self._postings, self._bounds
        return frozenset(chain.from_iterable(postings[bounds[word] : bounds[word + 1]] for word in words))
