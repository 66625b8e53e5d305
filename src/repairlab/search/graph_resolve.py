"""What a reference can mean: the answer of a resolver, and names alone where syntax says nothing."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple, Protocol

from repairlab.contract.controls import Graph
from repairlab.search.symbols_blob import NONE, Definition, Import, Kind, Reference
from repairlab.search.symbols_index import SymbolIndex


class How(StrEnum):
    """What tells where a reference leads."""

    SCOPE = "scope"
    """Functions, classes and module around it; the package in Go; the class or receiver of a method."""
    IMPORT = "import"
    UNIQUE = "unique name"
    """The only method with this name; nothing else is known of the receiver."""
    AMBIGUOUS = "one of several with this name"
    TOO_MANY = "too many with this name"
    """No edge is drawn."""
    FOREIGN = "defined elsewhere"
    """Of another package, a builtin, a variable, or unknown: no edge is drawn."""


class Resolved(NamedTuple):
    """Where a reference leads: nodes, ascending. Empty where no edge is drawn."""

    how: How
    targets: tuple[int, ...]


FOREIGN = Resolved(How.FOREIGN, ())


class Resolver(Protocol):
    """What the syntax of a language says about references. Nodes are symbols and, above them, files."""

    def call(self, file: int, reference: Reference) -> Resolved:
        """Where a call in a file leads."""

    def imported(self, file: int, item: Import, /) -> Resolved:
        """The symbols or files that an import of a file names."""

    def parent(self, symbol: int) -> int:
        """The node that defines a symbol: a function, a type, or its file."""

    def members(self, symbol: int) -> tuple[int, ...]:
        """The symbols that a function or type defines, ascending."""


class Rows:
    """The definitions of files as lookup tables, each made on first use."""

    __slots__ = ("_children", "_rows", "_tops", "index")

    def __init__(self, index: SymbolIndex) -> None:
        self.index = index
        self._tops: dict[int, dict[str, tuple[int, ...]]] = {}
        self._children: dict[int, dict[int, dict[str, tuple[int, ...]]]] = {}
        self._rows: dict[int, Definition] = {}

    def of(self, symbol: int) -> Definition:
        """The stored row of a symbol."""
        row = self._rows.get(symbol)
        if row is None:
            row = self._rows[symbol] = self.index.row(symbol)
        return row

    def file_node(self, file: int) -> int:
        """The node of a file."""
        return len(self.index.definitions) + file

    def file_of(self, node: int) -> int:
        """The file of a node."""
        count = len(self.index.definitions)
        return node - count if node >= count else self.index.file_of(node)

    def is_file(self, node: int) -> bool:
        """Whether a node is a file."""
        return node >= len(self.index.definitions)

    def top(self, file: int) -> dict[str, tuple[int, ...]]:
        """What a file defines outside of every function and type, by name; Go methods left out."""
        if file not in self._tops:
            self._tops[file] = self._named(file).get(NONE, {})
        return self._tops[file]

    def children(self, symbol: int) -> dict[str, tuple[int, ...]]:
        """What stands directly in a function or type, by name."""
        return self._named(self.index.file_of(symbol)).get(symbol, {})

    def _named(self, file: int) -> dict[int, dict[str, tuple[int, ...]]]:
        if file not in self._children:
            tables: dict[int, dict[str, tuple[int, ...]]] = {}
            for number in self.index.symbols_of(file):
                row = self.of(number)
                if row.enclosing == NONE and row.kind == Kind.METHOD:
                    continue
                table = tables.setdefault(row.enclosing, {})
                name = self.index.texts[row.name]
                table[name] = (*table.get(name, ()), number)
            self._children[file] = tables
        return self._children[file]

    def scopes(self, symbol: int) -> Sequence[int]:
        """The functions and types around a place, innermost first, `symbol` (or `NONE`) included."""
        found = []
        while symbol != NONE:
            found.append(symbol)
            symbol = self.of(symbol).enclosing
        return found


class ByName:
    """What a name can mean where nothing else is known: the definitions of some kinds that have it."""

    __slots__ = ("_candidates", "_found", "_rows")

    def __init__(self, rows: Rows, rule: Graph) -> None:
        self._rows = rows
        self._candidates = rule.candidates
        self._found: dict[tuple[str, frozenset[Kind]], Resolved] = {}

    def find(self, name: str, kinds: frozenset[Kind]) -> Resolved:
        """All of them, if they are few enough."""
        key = (name, kinds)
        if key not in self._found:
            self._found[key] = self._find(name, kinds)
        return self._found[key]

    def _find(self, name: str, kinds: frozenset[Kind]) -> Resolved:
        ids = tuple(
            number for number in self._rows.index.defining(name) if self._rows.of(number).kind in kinds
        )
        if not ids:
            return FOREIGN
        if len(ids) > self._candidates:
            return Resolved(How.TOO_MANY, ())
        return Resolved(How.UNIQUE if len(ids) == 1 else How.AMBIGUOUS, ids)
