"""The frozen sequence of queries of the statement engine: from the statement's text alone, nothing else.

Most telling first: code in back-quotes, dotted names, identifiers that no prose word looks like, then the
longest words of the first line, then those of the rest. Each query is one line, at most 60 characters, and
comes once.
"""

from __future__ import annotations

import re

QUERIES = 5
_CHARACTERS = 60
_QUOTED = re.compile(r"`([^`\n]{3,80})`")
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")
_CAMEL = re.compile(r"[a-z][A-Z]|[A-Z][a-z]+[A-Z]")
_WORD = re.compile(r"\b[A-Za-z][a-z]{4,29}\b")
COMMON = frozenset(
    re.findall(
        r"\w+",
        """
        about above after again against always another because been before being below between both cannot
        could does doing during either else even every expected fails first following found from given gives
        have having however inside instead into itself kept known last less like made makes more most must
        never nothing only other ought over raised raises reads rather returns second seems several should
        shown shows since some still such than that their them then there these they thing things this those
        though through under until used user uses using value values very was were what when where whether
        which while whose will with within without works would wrong written your example error fault report
        reports though
        """,
    )
)


def queries_of(statement: str) -> tuple[str, ...]:
    """At most `QUERIES` texts to look for."""
    found: list[str] = []
    for quoted in _QUOTED.findall(statement):
        names = _DOTTED.findall(quoted) or _IDENTIFIER.findall(quoted)
        found += [max((_last(name) for name in names), key=len)] if names else []
    found += [_last(name) for name in _DOTTED.findall(statement)]
    names = _IDENTIFIER.findall(statement)
    found += [name for name in names if "_" in name.strip("_") or _CAMEL.search(name)]
    found += [*_longest(sentence_of(statement)), *_longest(statement)]
    kept = [text[:_CHARACTERS].strip() for text in found]
    return tuple(dict.fromkeys(text for text in kept if len(text) >= 3))[:QUERIES]


def sentence_of(statement: str) -> str:
    """The first line of the statement, for tools that take a description instead of a text to match."""
    first = next((line.strip() for line in statement.split("\n") if line.strip()), "")
    return first[:400]


def _longest(text: str) -> list[str]:
    words = {word.lower() for word in _WORD.findall(text)} - COMMON
    return sorted(words, key=lambda word: (-len(word), word))


def _last(name: str) -> str:
    return name.rsplit(".", 1)[-1]
