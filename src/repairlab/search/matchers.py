"""Finds the matching lines in the bytes of one file.

A search goes by lines: only a line feed ends one, and a match never reaches over two. Whatever stands behind
the last line feed is a line if it is not empty.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Protocol

import re2  # type: ignore[import-untyped]  # the package has no type information

from repairlab.search.needs import Need, Text, longest_text
from repairlab.search.results import QueryError
from repairlab.search.shapes import Shape, pattern_shape, text_shape
from repairlab.search.syntax import Syntax, read_syntax
from repairlab.search.words import is_word_byte

MEMORY_BYTES = 8 * 2**20
"""Memory of one compiled pattern with its automata; beyond it RE2 goes on more slowly, never wrongly."""

_NEWLINE = 0x0A
_BLOCK_INSTRUCTIONS = 512
"""A block of matching lines is as large a pattern as this: far from what `exact.steps` allows."""
_FEWEST_LINES_A_BLOCK, _MOST_LINES_A_BLOCK = 4, 32
_PROBE = 5
"""So many matching lines of a file tell how dense they are."""


class Matcher(Protocol):
    """A query, ready to be looked for."""

    @property
    def need(self) -> Need:
        """What every file with a match holds."""

    @property
    def instructions(self) -> int:
        """Size of the compiled query; its worst time is proportional to this times the bytes."""

    def starts(self, data: bytes) -> Iterator[int]:
        """For each matching line of a file, ascending, the offset of its first match."""

    @property
    def by_line(self) -> ByLine | None:
        """How lines are looked at without their surroundings; None where that cannot be, or is no gain."""

    @property
    def shape(self) -> Shape | None:
        """Stands on the matching lines and on no other; None where the query has none."""

    def count(self, data: bytes) -> int:
        """How many offsets `starts` gives, sooner."""


class ByLine(Protocol):
    """Looks at whole lines, whatever stands around them in their file."""

    @property
    def text(self) -> bytes:
        """Stands on every matching line."""

    def runs(self, lines: bytes) -> Iterator[tuple[int, int]]:
        """Begin and end of each run of matching lines without another between.

        Args:
            lines: each with a newline, in UTF-8.
        """


class TextMatcher:
    """Looks for a text, case-sensitive; with `whole`, only where it is no part of a longer identifier.

    An edge of the text that is an identifier character (a letter, digit, mark or underscore in the sense of
    Unicode) must then have none beside it, nor a byte that is not UTF-8. Any other edge is not bounded.
    """

    __slots__ = ("_after", "_before", "_lines", "_text", "by_line", "instructions", "need", "shape")

    def __init__(self, query: str, *, whole: bool) -> None:
        self._text = query.encode()
        self.instructions = 1
        self.by_line: ByLine | None = None  # counted fast enough as it is
        self._before = whole and _is_identifier(query[0])
        self._after = whole and _is_identifier(query[-1])
        self.need: Need = Text(self._text, starts_word=self._before, ends_word=self._after)
        self.shape = text_shape(self._text, alone_before=self._before, alone_behind=self._after)
        self._lines = _rest_of_line(self._text, alone_before=self._before, alone_behind=self._after)

    def starts(self, data: bytes) -> Iterator[int]:
        """See `Matcher.starts`."""
        place = data.find(self._text)
        while place >= 0:
            if self._stands_alone(data, place):
                yield place
                line_end = data.find(b"\n", place)
                if line_end < 0:
                    return
                place = line_end
            place = data.find(self._text, place + 1)

    def count(self, data: bytes) -> int:
        """See `Matcher.count`."""
        if (self._before or self._after) and not data.isascii():
            return sum(1 for _ in self.starts(data))
        return len(self._lines.findall(data))

    def _stands_alone(self, data: bytes, place: int) -> bool:
        end = place + len(self._text)
        return not (self._before and _identifier_before(data, place)) and not (
            self._after and _identifier_behind(data, end)
        )


def _rest_of_line(text: bytes, *, alone_before: bool, alone_behind: bool) -> re.Pattern[bytes]:
    """`text` and the rest of its line, in ASCII; where so required, with no word byte beside it.

    What stands before the text is looked at last, so that the text is looked for as such. Nothing here can
    be matched in two ways: the time is linear.
    """
    literal = re.escape(text)
    before = b"(?<![0-9A-Za-z_]" + literal + b")" if alone_before else b""
    behind = b"(?![0-9A-Za-z_])" if alone_behind else b""
    return re.compile(literal + behind + before + rb"[^\n]*")


def _is_identifier(character: str) -> bool:
    return ("a" + character).isidentifier()


def _identifier_before(data: bytes, place: int) -> bool:
    if place == 0 or data[place - 1] < 0x80:
        return place > 0 and is_word_byte(data[place - 1])
    lead = place - 1
    while lead > max(0, place - 4) and data[lead] & 0xC0 == 0x80:
        lead -= 1
    return _is_identifier_bytes(data[lead:place])


def _identifier_behind(data: bytes, place: int) -> bool:
    if place == len(data) or data[place] < 0x80:
        return place < len(data) and is_word_byte(data[place])
    end = place + 1
    while end < min(len(data), place + 4) and data[end] & 0xC0 == 0x80:
        end += 1
    return _is_identifier_bytes(data[place:end])


def _is_identifier_bytes(encoded: bytes) -> bool:
    try:
        character = encoded.decode()
    except UnicodeDecodeError:
        return True  # most probably a letter in an older encoding, such as Latin-1
    return _is_identifier(character)


class RegexMatcher:
    r"""Looks for a regular expression in RE2's syntax, ``^`` and ``$`` at each line.

    ``.``, character classes and case folding go by Unicode; ``\w``, ``\d``, ``\s`` and ``\b`` by ASCII. A
    byte that is not UTF-8 is matched by nothing. A carriage return is an ordinary character.
    """

    __slots__ = ("_block", "_lines_a_block", "_pattern", "_query", "by_line", "instructions", "need", "shape")

    def __init__(self, query: str, syntax: Syntax) -> None:
        # The rest of the line is taken along, so that the next match lies on a later one.
        self._pattern = _compile(f"(?m)(?:{query})(?s:.)*")
        self.instructions = self._pattern.programsize
        self.need = syntax.need
        self.shape = pattern_shape(query)
        text = longest_text(syntax.need) if syntax.by_line else b""
        self.by_line: ByLine | None = _Runs(query, text) if text else None
        self._lines_a_block = min(_MOST_LINES_A_BLOCK, _BLOCK_INSTRUCTIONS // self.instructions)
        self._query = query
        self._block: _Pattern | None = None

    def starts(self, data: bytes) -> Iterator[int]:
        """See `Matcher.starts`."""
        return self._starts_from(data, 0)

    def count(self, data: bytes) -> int:
        """See `Matcher.count`: one by one where matches are rare, else block by block.

        A call of the engine costs a microsecond, whatever it finds, and a file can match on every line.
        """
        count = 0
        for place in self._starts_from(data, 0):
            count += 1
            if count == _PROBE and self._worth_blocks(place, len(data)):
                seen = data.find(b"\n", place) + 1
                return count + (self._count_blocks(data, seen) if seen else 0)
        return count

    def _worth_blocks(self, place: int, size: int) -> bool:
        """Whether some blocks may follow, if the rest of a file is like the part up to its probe."""
        return self._lines_a_block >= _FEWEST_LINES_A_BLOCK and size - place > place * 2

    def _count_blocks(self, data: bytes, begin: int) -> int:
        """Matching lines from the line on that begins at `begin`."""
        if self._block is None:
            # From the start of a line to the end of the last of so many matching ones. Only \C takes a line
            # feed here: the query cannot.
            self._block = _compile(rf"(?m)(?:\C*?(?:{self._query})\C*?$\C){{{self._lines_a_block}}}")
        count = 0
        while (block := self._block.match(data, begin)) is not None:
            count += self._lines_a_block
            begin = block.end()
        return count + sum(1 for _ in self._starts_from(data, begin))

    def _starts_from(self, data: bytes, begin: int) -> Iterator[int]:
        """Those from the line on that begins at `begin`."""
        # An empty match behind the last newline is on no line.
        end = len(data) if data and data[-1] != _NEWLINE else len(data) - 1
        next_line = begin
        for match in self._pattern.finditer(data, begin):
            place = match.start()
            if place < next_line:
                continue
            if place > end:
                return
            yield place
            next_line = data.find(b"\n", place) + 1
            if next_line == 0:
                return


class _Runs:
    """See `ByLine`."""

    __slots__ = ("_pattern", "text")

    def __init__(self, query: str, text: bytes) -> None:
        # Only \C takes a line feed, so each repetition takes one whole line.
        self._pattern = _compile(rf"(?m)(?:(?s:.)*?(?:{query})(?s:.)*$\C)+")
        self.text = text

    def runs(self, lines: bytes) -> Iterator[tuple[int, int]]:
        """See `ByLine.runs`."""
        return ((match.start(), match.end()) for match in self._pattern.finditer(lines, 0))


def regex_matcher(query: str, instructions: int) -> RegexMatcher | QueryError:
    """Compile `query`, at most so many `instructions`, or say what is wrong with it."""
    # Compiled alone first: inside the parentheses above, "a)(b" would become valid. RE2's wrapper keeps the
    # last 128 patterns with their automata; emptied, it holds this query's alone.
    re2.purge()
    try:
        size = _compile(f"(?m){query}").programsize
    except re2.error as error:
        return QueryError(_explain(_message(error)))
    syntax = read_syntax(query)
    if syntax.refusal:
        return QueryError(syntax.refusal)
    if size > instructions:
        return QueryError(
            f"the regular expression is too large ({size} instructions, at most {instructions}): "
            "use smaller repetition counts"
        )
    return RegexMatcher(query, syntax)


class _Pattern(Protocol):
    """The part of a compiled pattern of `re2` that is used here."""

    programsize: int

    def finditer(self, text: bytes, pos: int) -> Iterator[_Match]: ...

    def match(self, text: bytes, pos: int) -> _Match | None: ...


class _Match(Protocol):
    def start(self) -> int: ...

    def end(self) -> int: ...


def _compile(pattern: str) -> _Pattern:
    options = re2.Options()
    options.never_nl = True
    options.never_capture = True
    options.log_errors = False
    options.max_mem = MEMORY_BYTES
    compiled: _Pattern = re2.compile(pattern, options)
    return compiled


def _message(error: Exception) -> str:
    detail = error.args[0] if error.args else ""
    return detail.decode("utf-8", "replace") if isinstance(detail, bytes) else str(detail)


_UNSUPPORTED = (
    ("invalid perl operator: (?=", "look-ahead (?=...) is not supported"),
    ("invalid perl operator: (?!", "negative look-ahead (?!...) is not supported"),
    ("invalid perl operator: (?<", "look-behind (?<=...), (?<!...) is not supported"),
    ("invalid perl operator: (?>", "atomic groups (?>...) are not supported"),
    ("bad repetition operator: ", "possessive and repeated quantifiers are not supported"),
)


def _explain(message: str) -> str:
    for beginning, reason in _UNSUPPORTED:
        if message.startswith(beginning):
            return f"{reason} (the engine is RE2, which works in linear time): {message}"
    escape = message.removeprefix("invalid escape sequence: \\")
    if escape != message and escape[:1].isdigit():
        return f"back-references are not supported (the engine is RE2, which works in linear time): {message}"
    return f"invalid regular expression (RE2 syntax): {message}"
