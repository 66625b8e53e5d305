"""What a file must contain for a query to match in it, and which files of a word index do.

A need may be weaker than the query, never stronger: a file that it excludes cannot match.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from repairlab.search.words import WordIndex, is_word_byte

_SHORTEST_PART = 3
"""A part of a word shorter than this fits too many words to be looked up."""
_MOST_RUNS = 3
"""Looking up more runs of one text costs more than the files it would still exclude."""


@dataclass(frozen=True, slots=True)
class Anything:
    """No file is excluded."""


@dataclass(frozen=True, slots=True)
class Text:
    """These bytes stand in the file.

    Attributes:
        starts_word: no word byte stands before the first byte, if that is one.
        ends_word: no word byte stands behind the last byte, if that is one.
    """

    text: bytes
    starts_word: bool = False
    ends_word: bool = False


@dataclass(frozen=True, slots=True)
class All:
    """Each of these needs holds."""

    needs: tuple[Need, ...]


@dataclass(frozen=True, slots=True)
class Some:
    """At least one of these needs holds."""

    needs: tuple[Need, ...]


Need = Anything | Text | All | Some


def candidates(need: Need, words: WordIndex) -> frozenset[int] | None:
    """Ids of the files that `need` does not exclude; None stands for all of them."""
    match need:
        case Anything():
            return None
        case Text():
            return _text_candidates(need, words)
        case All(needs):
            sets = [found for part in needs if (found := candidates(part, words)) is not None]
            return frozenset.intersection(*sets) if sets else None
        case Some(needs):
            union: frozenset[int] = frozenset()
            for part in needs:
                found = candidates(part, words)
                if found is None:
                    return None
                union |= found
            return union


def longest_text(need: Need) -> bytes:
    """The longest text that every match holds by itself, the first of them; empty if there is none."""
    match need:
        case Text(text):
            return text
        case All(needs):
            return max(map(longest_text, needs), key=len, default=b"")
        case _:
            return b""


class _Run(NamedTuple):
    run: bytes
    starts_word: bool
    ends_word: bool


def _text_candidates(need: Text, words: WordIndex) -> frozenset[int] | None:
    useful = [
        run for run in _runs(need) if len(run.run) >= _SHORTEST_PART or (run.starts_word and run.ends_word)
    ]
    useful.sort(key=lambda run: (-len(run.run), run))
    sets = []
    for run, starts_word, ends_word in useful[:_MOST_RUNS]:
        found = words.files_with(run, starts_word=starts_word, ends_word=ends_word)
        if found is not None:
            sets.append(found)
    return frozenset.intersection(*sets) if sets else None


def _runs(need: Text) -> Iterator[_Run]:
    text = need.text
    begin = 0
    while begin < len(text):
        if not is_word_byte(text[begin]):
            begin += 1
            continue
        end = begin
        while end < len(text) and is_word_byte(text[end]):
            end += 1
        yield _Run(
            text[begin:end],
            starts_word=begin > 0 or need.starts_word,
            ends_word=end < len(text) or need.ends_word,
        )
        begin = end
