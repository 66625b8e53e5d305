"""The references and imports of one file, from the nodes that a query captured.

References are the most of what a file gives, so they are built column by column, and nothing is asked of a
node but where it begins and ends.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from itertools import accumulate, count, repeat
from operator import add
from typing import TYPE_CHECKING

from repairlab.search.symbols_blob import NONE, UNKNOWN, Definition, Import, Kind, Reference, Use
from repairlab.search.symbols_imports import go_import, python_imports
from repairlab.search.tokens import normal

if TYPE_CHECKING:
    import tree_sitter

_LOOK_BACK = 200
_NAME_BYTES = frozenset(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz.") | set(
    range(128, 256)
)
_TO_NAMES = bytes(byte if byte in _NAME_BYTES else 0x20 for byte in range(256))
_USES = {"type_use": Use.TYPE, "base": Use.BASE, "call": Use.CALL}
"""By capture; where two name one place, the later one tells more."""
_SCOPES = (Kind.FUNCTION, Kind.METHOD, Kind.TYPE)

Nodes = Mapping[str, Sequence["tree_sitter.Node"]]


class Texts:
    """Numbers distinct texts from 0 on."""

    __slots__ = ("_numbers",)

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def of(self, text: str) -> int:
        """The number of `text`, `NONE` for an empty one."""
        return self._numbers.setdefault(text, len(self._numbers)) if text else NONE

    @property
    def all(self) -> list[str]:
        """The texts by number."""
        return list(self._numbers)


def references(
    nodes: Nodes, data: bytes, definitions: Sequence[Definition], names: frozenset[int], texts: Texts
) -> list[Reference]:
    """The references by place, one at each, the names of definitions left out."""
    found: dict[int, tuple[int, Use, bool]] = {}
    for capture, use in _USES.items():
        for member, chosen in ((False, nodes.get(capture, ())), (True, nodes.get(f"{capture}_member", ()))):
            ends = [node.end_byte for node in chosen]
            found.update(
                zip(
                    [node.start_byte for node in chosen], zip(ends, repeat(use), repeat(member)), strict=False
                )
            )
    places = sorted(found.keys() - names)
    facts = [found[place] for place in places]
    receivers = _Receivers(data, texts)
    known: dict[bytes, int] = {}
    numbers, owners = [], []
    for place, (end, _, member) in zip(places, facts, strict=True):
        written = data[place:end]
        number = known.get(written)
        if number is None:
            number = known[written] = texts.of(normal(written.decode("utf-8", "replace")))
        numbers.append(number)
        owners.append(receivers.before(place) if member else NONE)
    newlines = list(map(add, accumulate(map(len, data.split(b"\n"))), count())) if places else []
    lines = [bisect_left(newlines, place) + 1 for place in places]
    uses = [use for _, use, _ in facts]
    scopes = _innermost(definitions, places)
    rows = zip(numbers, owners, uses, scopes, places, lines, strict=True)
    return list(
        map(tuple.__new__, repeat(Reference), rows)
    )  # as _make does, without a call of Python for each


def _innermost(definitions: Sequence[Definition], places: Sequence[int]) -> list[int]:
    """Index of the innermost function or type around each of these ascending places, `NONE` at the top."""
    inside = [NONE] * len(places)
    for number, item in enumerate(definitions):  # by start: what lies inside comes later
        if item.kind in _SCOPES:
            first, last = bisect_left(places, item.start), bisect_left(places, item.end)
            if first < last:
                inside[first:last] = [number] * (last - first)
    return inside


class _Receivers:
    """Reads what stands before the dot before a name."""

    __slots__ = ("_data", "_known", "_texts")

    def __init__(self, data: bytes, texts: Texts) -> None:
        self._data = data
        self._texts = texts
        self._known: dict[bytes, int] = {}

    def before(self, place: int) -> int:
        """Text of the dotted name before the name at `place`; `UNKNOWN` if there is another expression."""
        before = self._data[max(0, place - _LOOK_BACK) : place].rstrip()
        if not before.endswith(b"."):
            return self._texts.of(UNKNOWN)
        before = before[:-1].rstrip()
        if before.endswith(b"super()"):
            return self._texts.of("super()")
        run = before.translate(_TO_NAMES).rsplit(b" ", 1)[-1]
        number = self._known.get(run)
        if number is None:
            unknown = not run or run[:1] in b".0123456789" or len(run) == _LOOK_BACK - 1
            number = self._texts.of(UNKNOWN if unknown else normal(run.decode("utf-8", "replace")))
            self._known[run] = number
        return number


def imports(nodes: Nodes, data: bytes, language: str, texts: Texts) -> list[Import]:
    """The imports by place."""
    found: list[Import] = []
    for node in sorted(nodes.get("import", ()), key=lambda node: node.start_byte):
        line = node.start_point[0] + 1
        read = python_imports(node, data) if language == "python" else go_import(node, data)
        for item in read:
            last = item.module.rpartition("." if language == "python" else "/")[2]
            found.append(
                Import(
                    texts.of(item.module),
                    texts.of(last),
                    texts.of(item.name),
                    texts.of(item.alias),
                    item.level,
                    line,
                )
            )
    return found
