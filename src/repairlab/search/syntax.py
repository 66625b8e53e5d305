"""Reads a regular expression that RE2 has already accepted, for two facts that RE2 does not tell.

1. Which texts every match must hold (a `Need`), so that the word index can narrow the files to scan.
2. Whether it asks for what a search by lines refuses: a line feed, an arbitrary byte, a quotation.

What is not understood here is refused as well, so that nothing passes unread.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from repairlab.search.needs import All, Anything, Need, Some, Text

_DEEPEST = 50
_REPEAT = re.compile(r"(?:[*+?]|\{(\d+)(?:,\d*)?\})\??")
_GROUP = re.compile(r"\((?:\?P?<\w+>|\?(?P<flags>[A-Za-z-]*)(?P<end>[:)]))?")
_CODE = re.compile(r"x\{(?P<long>[0-9A-Fa-f]+)\}|x(?P<short>[0-9A-Fa-f]{2})|(?P<octal>[0-7]{1,3})")
_CONTROLS = {"a": "\a", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_ZERO_WIDTH_OR_CLASS = frozenset("AzbBdDsSwW")


LINE_FEED = "a match never spans lines: search for a part that stands on one line"
ANY_BYTE = r"\C (any byte) is not supported: use . for any character"
QUOTATION = r"\Q...\E is not supported: escape single characters, or search for a literal"
NESTING = f"groups are nested more than {_DEEPEST} deep"
NOT_UNDERSTOOD = "this form of the regular expression is not supported"
_REFUSED_ESCAPES = {"C": ANY_BYTE, "Q": QUOTATION}


@dataclass(frozen=True, slots=True)
class Syntax:
    """What a pattern says.

    Attributes:
        need: holds in every file with a match.
        refusal: why the pattern is not searched for; empty if it is.
        by_line: whether a line matches or not whatever stands before and behind it: no anchor of the file.
    """

    need: Need
    refusal: str = ""
    by_line: bool = True


class _Refused(Exception):
    """Carries the reason out of the recursion."""


def read_syntax(pattern: str) -> Syntax:
    """Read `pattern`, which RE2 accepts."""
    reader = _Reader(pattern)
    try:
        need = reader.whole()
    except _Refused as refused:
        return Syntax(Anything(), str(refused))
    return Syntax(Anything() if reader.folds_case else need, by_line=not reader.absolute)


class _Reader:
    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.place = 0
        self.folds_case = False
        self.absolute = False

    def whole(self) -> Need:
        """The need of the whole pattern."""
        need = self._alternatives(0)
        if self.place < len(self.pattern):
            raise _Refused(NOT_UNDERSTOOD)
        return need

    def _alternatives(self, depth: int) -> Need:
        """Branches up to a closing parenthesis or the end."""
        if depth > _DEEPEST:
            raise _Refused(NESTING)
        branches = [self._sequence(depth)]
        while self._next() == "|":
            self.place += 1
            branches.append(self._sequence(depth))
        return branches[0] if len(branches) == 1 else Some(tuple(branches))

    def _next(self) -> str:
        return self.pattern[self.place : self.place + 1]

    def _sequence(self, depth: int) -> Need:
        needs: list[Need] = []
        run = b""
        while self._next() not in ("", "|", ")"):
            need: Need = Anything()
            character = ""
            if self._next() == "(":
                need = self._group(depth)
            else:
                character = self._atom()
            least = self._repeat()
            if character and least is None:
                run += character.encode("utf-8", "surrogatepass")
                continue
            # A repeated character ends the run: it belongs to it if it must stand there at least once.
            needs += _texts(run + character.encode("utf-8", "surrogatepass") if least else run)
            run = b""
            if least != 0:
                needs.append(need)
        needs += _texts(run)
        return All(tuple(needs))

    def _group(self, depth: int) -> Need:
        opening = _GROUP.match(self.pattern, self.place)
        if opening is None or self.pattern.startswith("?", opening.end()):
            raise _Refused(NOT_UNDERSTOOD)
        self.place = opening.end()
        if "i" in (opening["flags"] or ""):
            self.folds_case = True
        if "m" in (opening["flags"] or ""):  # switched off, ^ and $ are anchors of the file
            self.absolute = True
        if opening["end"] == ")":
            return Anything()
        need = self._alternatives(depth + 1)
        if self._next() != ")":
            raise _Refused(NOT_UNDERSTOOD)
        self.place += 1
        return need

    def _repeat(self) -> int | None:
        """The least count of a repetition that stands here, None if there is none."""
        found = _REPEAT.match(self.pattern, self.place)
        if found is None:
            return None
        self.place = found.end()
        if found[1] is not None:
            return int(found[1])
        return 1 if found[0][0] == "+" else 0

    def _atom(self) -> str:
        """One atom that is no group: its character, or "" if it stands for no single one."""
        first = self._next()
        if first == "[":
            self._skip_class()
            return ""
        self.place += 1
        plain = "" if first in ".^$" else first
        character = self._escape() if first == "\\" else plain
        if character == "\n":
            raise _Refused(LINE_FEED)
        return character

    def _escape(self) -> str:
        code = _CODE.match(self.pattern, self.place)
        if code is not None:
            self.place = code.end()
            return _character(code)
        kind = self._next()
        self.place += 1
        if kind in _CONTROLS:
            return _CONTROLS[kind]
        if kind in ("p", "P"):
            closing = self.pattern.find("}", self.place) if self._next() == "{" else self.place
            self.place = closing + 1
            return ""
        if kind in _REFUSED_ESCAPES:
            raise _Refused(_REFUSED_ESCAPES[kind])
        if kind in _ZERO_WIDTH_OR_CLASS:
            self.absolute |= kind in "Az"
            return ""
        if not kind or kind.isalnum():
            raise _Refused(NOT_UNDERSTOOD)
        return kind

    def _skip_class(self) -> None:
        self.place += 2 if self.pattern.startswith("[^", self.place) else 1
        first = True
        while first or self._next() != "]":
            first = False
            posix = (
                self.pattern.find(":]", self.place + 2) if self.pattern.startswith("[:", self.place) else -1
            )
            if not self._next():
                raise _Refused(NOT_UNDERSTOOD)
            if posix >= 0:
                self.place = posix + 2
            else:
                self.place += 2 if self._next() == "\\" else 1
        self.place += 1


def _character(code: re.Match[str]) -> str:
    digits = code["long"] or code["short"]
    return chr(int(digits, 16) if digits else int(code["octal"], 8))


def _texts(run: bytes) -> list[Need]:
    return [Text(run)] if run else []
