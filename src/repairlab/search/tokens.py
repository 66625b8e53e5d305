"""What lexical search counts: identifiers and words, whole and in their parts.

Text is brought to NFKC, as Python reads identifiers, and cut into words: longest runs of letters, digits and
``_``. A word gives its whole form, then its parts where it has
others: ``parseHTTPHeader_v2`` gives ``parsehttpheader_v2 parse http header v2``. All forms are case-folded.
Digits stay with the letters before them. Only the first 200 characters of a word are read.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

MOST_CHARACTERS = 200

_WORD = re.compile(r"\w+")
_PART = re.compile(r"[A-Z]+(?![a-z])[0-9]*|[A-Z]?[a-z]+[0-9]*|[0-9]+")


def normal(text: str) -> str:
    """Text or a name in the form in which it is looked up: NFKC. No line feed comes or goes."""
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


class Tokenizer:
    """Cuts texts into tokens. Remembers the tokens of each word it has seen: that changes no answer."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[str, tuple[str, ...]] = {}

    def tokens(self, text: str) -> list[str]:
        """The tokens of `text`, in order, repeats included."""
        return [token for word in _WORD.findall(normal(text)) for token in self._of(word)]

    def frequencies(self, text: str) -> dict[str, int]:
        """How often each token stands in `text`, by first place: a count of `tokens`, faster."""
        counts: dict[str, int] = {}
        known = self._known
        for word, number in Counter(_WORD.findall(normal(text))).items():
            for token in known.get(word) or self._of(word):
                counts[token] = counts.get(token, 0) + number
        return counts

    def _of(self, word: str) -> tuple[str, ...]:
        found = self._known.get(word)
        if found is None:
            found = self._known[word] = word_tokens(word)
        return found


def word_tokens(word: str) -> tuple[str, ...]:
    """The tokens of one word: its whole form, then its parts unless the whole is its only part."""
    word = word[:MOST_CHARACTERS]
    shape = word if word.isascii() else "".join(map(_shape, word))
    parts = tuple(word[found.start() : found.end()].casefold() for found in _PART.finditer(shape))
    whole = word.casefold()
    return (whole,) if parts in ((), (whole,)) else (whole, *parts)


def _shape(character: str) -> str:
    """The ASCII character that stands for `character` where words are cut: upper, digit, other letter."""
    if character.isascii():
        return character
    if character.isupper():
        return "A"
    return "0" if character.isdecimal() else "a"


def query_fault(query: str, most_characters: int) -> str:
    """Why no tool can search for `query`, in words for whoever asked; empty if one can."""
    if not query or query.isspace():
        return "the query is empty: it needs at least one visible character"
    if len(query) > most_characters:
        return f"the query has {len(query)} characters; at most {most_characters} are searched for"
    if "\0" in query:
        return "the query holds a NUL character; files that hold one are not searched"
    if any("\ud800" <= character <= "\udfff" for character in query):
        return "the query holds a lone surrogate, which no text can hold"
    return ""
