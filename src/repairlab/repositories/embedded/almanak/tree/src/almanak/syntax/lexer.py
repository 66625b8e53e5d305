"""Text to tokens."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator

from almanak.errors import SyntaxProblem
from almanak.syntax.tokens import KEYWORDS, SYMBOLS, Kind, Token

_SPACE = re.compile(r"(?:\s+|#[^\n]*)+")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?![\w-])")
_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_NAME = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "'": "'", "\\": "\\"}


def tokenize(text: str) -> list[Token]:
    """Tokens of `text`, an END token last. White space and comments (# to the end of the line) are dropped.

    Raises:
        SyntaxProblem: at the first character that begins no token.
    """
    return list(_tokens(text))


def _tokens(text: str) -> Iterator[Token]:
    offset = 0
    while True:
        if space := _SPACE.match(text, offset):
            offset = space.end()
        if offset == len(text):
            yield Token(Kind.END, "", offset)
            return
        token = _token(text, offset)
        yield token
        offset += len(token.text)


def _token(text: str, offset: int) -> Token:
    first = text[offset]
    if first in "\"'":
        return _string(text, offset)
    if first == "`":
        return _quoted_name(text, offset)
    if first.isdigit():
        return _number_or_date(text, offset)
    if match := _NAME.match(text, offset):
        word = match.group()
        return Token(Kind.KEYWORD if word in KEYWORDS else Kind.NAME, word, offset, word)
    for symbol in SYMBOLS:
        if text.startswith(symbol, offset):
            return Token(Kind.SYMBOL, symbol, offset)
    raise SyntaxProblem(f"{first!r} begins nothing that is known here", text, offset)


def _number_or_date(text: str, offset: int) -> Token:
    if match := _DATE.match(text, offset):
        try:
            day = dt.date.fromisoformat(match.group())
        except ValueError:
            raise SyntaxProblem(f"{match.group()} is no day of the calendar", text, offset) from None
        return Token(Kind.LITERAL, match.group(), offset, day)
    match = _NUMBER.match(text, offset)
    if match is None:
        raise SyntaxProblem(f"{text[offset]!r} is no digit that is known here", text, offset)
    digits = match.group()
    value = float(digits) if set(digits) & set(".eE") else int(digits)
    if value in (float("inf"), float("-inf")):
        raise SyntaxProblem(f"{digits} is too large", text, offset)
    return Token(Kind.LITERAL, digits, offset, value)


def _string(text: str, offset: int) -> Token:
    quote, i = text[offset], offset + 1
    parts: list[str] = []
    while i < len(text):
        if text[i] == quote:
            return Token(Kind.LITERAL, text[offset : i + 1], offset, "".join(parts))
        if text[i] == "\\":
            i += 1
            if i == len(text) or text[i] not in _ESCAPES:
                raise SyntaxProblem("a backslash with nothing known behind it", text, i - 1)
            parts.append(_ESCAPES[text[i]])
        else:
            parts.append(text[i])
        i += 1
    raise SyntaxProblem("this text is not closed", text, offset)


def _quoted_name(text: str, offset: int) -> Token:
    end = text.find("`", offset + 1)
    if end < 0:
        raise SyntaxProblem("this name is not closed", text, offset)
    name = text[offset + 1 : end]
    if not name or "\n" in name or "\r" in name:
        raise SyntaxProblem("a name has at least one character and no line break", text, offset)
    return Token(Kind.NAME, text[offset : end + 1], offset, name)
