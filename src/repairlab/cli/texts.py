"""Long texts on a terminal: shortened, indented, or set in two columns."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest

_LINES = 12
_CHARACTERS = 1500
_NARROWEST, _WIDEST = 80, 200


def shortened(text: str, *, full: bool, lines: int = _LINES) -> Iterator[str]:
    """The lines of `text`; without `full` the first few, and how many there are more."""
    if not text:
        return
    every = [printable(line) for line in text.split("\n")]
    if full:
        yield from every
        return
    for line in every[:lines]:
        cut = len(line) - _CHARACTERS
        yield line if cut <= 0 else f"{line[:_CHARACTERS]} ... ({cut} more characters)"
    if len(every) > lines:
        yield f"... ({len(every) - lines} more lines)"


def indented(line: str) -> str:
    """One line under the title of a step."""
    return f"        {line}"


def columns_of_terminal() -> int:
    """Width to set text in: that of the terminal, within what can be read."""
    return min(max(shutil.get_terminal_size((120, 40)).columns, _NARROWEST), _WIDEST)


def side_by_side(texts: Iterable[Sequence[str]], width: int, mark: str = "|") -> Iterator[str]:
    """Two texts in columns of equal width with `mark` between them, every line wrapped and none cut off."""
    half = (width - 3) // 2
    left, right = ([part for line in text for part in _wrapped(line, half)] for text in texts)
    for one, other in zip_longest(left, right, fillvalue=""):
        yield f"{one}{' ' * (half - _cells(one))} {mark} {other}".rstrip()


def _wrapped(line: str, width: int) -> Iterator[str]:
    """Pieces of at most `width` cells; a break falls behind a space where it can, the indent is kept."""
    indent = " " * min(len(line) - len(line.lstrip(" ")), width // 2)
    while _cells(line) > width:
        most = _fitting(line, width)
        place = line.rfind(" ", len(indent) + 1, most + 1)
        cut = place if place > most // 2 else most
        yield line[:cut].rstrip()
        line = indent + line[cut:].lstrip(" ")
    yield line


def _cells(text: str) -> int:
    """Cells that a text takes on a terminal: some characters take two, some none."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len  # only where a text needs it

    return cell_len(text)


def _fitting(line: str, width: int) -> int:
    """How many characters of `line` fit into `width` cells; at least one."""
    count = min(width, len(line))
    while count > 1 and _cells(line[:count]) > width:
        count -= 1
    return count


def printable(line: str) -> str:
    """Tabs as spaces; control characters as escapes, so that recorded text cannot steer the terminal."""
    expanded = line.expandtabs(4)
    return "".join(c if c.isprintable() or c == " " else ascii(c)[1:-1] for c in expanded)
