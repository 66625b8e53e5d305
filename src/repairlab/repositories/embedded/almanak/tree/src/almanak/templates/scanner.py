"""Template text to pieces: plain text, ``{{ output }}`` and ``{% tag %}``."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from almanak.errors import SyntaxProblem


class PieceKind(Enum):
    """What sort of piece."""

    TEXT = "text"
    OUTPUT = "output"
    TAG = "tag"


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a template.

    Attributes:
        kind: what sort.
        text: what stands between the braces, or the plain text.
        offset: where `text` begins in the template.
    """

    kind: PieceKind
    text: str
    offset: int


_OPEN = {"{{": ("}}", PieceKind.OUTPUT), "{%": ("%}", PieceKind.TAG), "{#": ("#}", None)}


def scan(template: str) -> list[Piece]:
    """Pieces of a template. Comments ``{# ... #}`` are dropped.

    A tag or comment that stands alone on its line takes the line break with it.

    Raises:
        SyntaxProblem: something is opened and not closed.
    """
    pieces: list[Piece] = []
    position = start = 0
    while (brace := template.find("{", position)) >= 0:
        opening = template[brace : brace + 2]
        if opening not in _OPEN:
            position = brace + 1
            continue
        closing, kind = _OPEN[opening]
        end = template.find(closing, brace + 2)
        if end < 0:
            raise SyntaxProblem(f"{opening} is not closed", template, brace)
        after = end + 2
        text_end = brace
        if kind is not PieceKind.OUTPUT:
            text_end, after = _whole_line(template, brace, after)
        _add_text(pieces, template, start, text_end)
        if kind is not None:
            pieces.append(Piece(kind, template[brace + 2 : end], brace + 2))
        position = start = after
    _add_text(pieces, template, start, len(template))
    return pieces


def _add_text(pieces: list[Piece], template: str, start: int, end: int) -> None:
    if end > start:
        pieces.append(Piece(PieceKind.TEXT, template[start:end], start))


def _whole_line(template: str, begin: int, after: int) -> tuple[int, int]:
    """Bounds of a tag with its line, where it is alone on it."""
    line_start = template.rfind("\n", 0, begin) + 1
    line_end = template.find("\n", after)
    rest_end = len(template) if line_end < 0 else line_end
    if template[line_start:begin].strip() or template[after:rest_end].strip():
        return begin, after
    return line_start, rest_end if line_end < 0 else line_end + 1
