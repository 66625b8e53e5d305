"""Where Python references lead, as far as syntax tells: scopes, classes with their bases, imports.

Parameters and local variables are not followed. A name that nothing in its file binds is a builtin or a local
variable and leads nowhere, unless the file imports everything from a foreign module.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from repairlab.contract.controls import Graph
from repairlab.search.graph_resolve import FOREIGN, ByName, How, Resolved, Rows
from repairlab.search.symbols_blob import NONE, UNKNOWN, Import, Kind, Reference, Use
from repairlab.search.symbols_index import SymbolIndex
from repairlab.search.symbols_modules import PythonModules

_MOST_STEPS = 100
"""So many names in modules, or classes, are looked into on the way to one target."""
_METHODS = frozenset({Kind.METHOD})
_TOP = frozenset({Kind.FUNCTION, Kind.TYPE})
_USE, _ENCLOSING = Reference._fields.index("use"), Reference._fields.index("enclosing")

Nodes = tuple[int, ...]
Seen = dict[tuple[int, str], Nodes]
"""The names in files that one look-up has been through; those that it is still at mean nothing there."""


class PythonResolver:
    """Resolves the references of one index. Remembers what it has looked up; that changes no answer."""

    __slots__ = ("_bases_of", "_by_name", "_global", "_index", "_members_of", "_modules", "_named", "_rows")

    def __init__(self, index: SymbolIndex, rows: Rows, rule: Graph) -> None:
        self._index = index
        self._rows = rows
        self._by_name = ByName(rows, rule)
        self._modules = PythonModules([file.path for file in index.corpus.files], index.modules)
        self._named: dict[int, dict[str, list[Import]]] = {}
        self._global: dict[tuple[int, str], Resolved | None] = {}
        self._members_of: dict[tuple[int, str], Nodes] = {}
        self._bases_of: dict[int, tuple[int, ...]] = {}

    def call(self, file: int, reference: Reference) -> Resolved:
        """See `Resolver.call`."""
        name, receiver = self._index.texts[reference.name], self._index.text(reference.receiver)
        if not receiver:
            return self._plain(file, reference.enclosing, name)
        return self._member(file, reference.enclosing, receiver, name) or self._by_name.find(name, _METHODS)

    def imported(self, file: int, item: Import, /) -> Resolved:
        """See `Resolver.imported`: the module, and what is taken from it."""
        modules = tuple(self._rows.file_node(number) for number in self._module_files(file, item))
        nodes = _union((modules, self._import_nodes(file, item, {})))
        return Resolved(How.IMPORT, nodes) if nodes else FOREIGN

    def parent(self, symbol: int) -> int:
        """See `Resolver.parent`."""
        enclosing = self._rows.of(symbol).enclosing
        return enclosing if enclosing != NONE else self._rows.file_node(self._index.file_of(symbol))

    def members(self, symbol: int) -> Nodes:
        """See `Resolver.members`."""
        return _union(self._rows.children(symbol).values())

    def _plain(self, file: int, enclosing: int, name: str) -> Resolved:
        found = self._bound(file, enclosing, name)
        if found is not None:
            symbols = tuple(node for node in found.targets if not self._rows.is_file(node))
            return Resolved(found.how, symbols) if symbols else FOREIGN
        if any(not self._module_files(file, item) for item in self._imports(file).get("*", ())):
            return self._by_name.find(name, _TOP)
        return FOREIGN

    def _bound(self, file: int, enclosing: int, name: str) -> Resolved | None:
        """What `name` means at a place; None if nothing in the file binds it."""
        for scope in self._rows.scopes(enclosing):
            # The names of a class are visible in its own body, not in its methods.
            if scope == enclosing or self._rows.of(scope).kind != Kind.TYPE:
                found = self._rows.children(scope).get(name)
                if found:
                    return Resolved(How.SCOPE, found)
        key = (file, name)
        if key not in self._global:
            top = self._rows.top(file).get(name)
            self._global[key] = Resolved(How.SCOPE, top) if top else self._through_imports(file, name, {})
        return self._global[key]

    def _through_imports(self, file: int, name: str, seen: Seen) -> Resolved | None:
        """What the imports of a file bind `name` to; None if they do not."""
        table = self._imports(file)
        if name in table and name != "*":
            nodes = _union(self._binding(file, item, name, seen) for item in table[name])
            return Resolved(How.IMPORT, nodes)
        everything = (self._import_nodes(file, item, seen) for item in table.get("*", ()))
        found = _union(self._attribute(node, name, seen) for nodes in everything for node in nodes)
        return Resolved(How.IMPORT, found) if found else None

    def _binding(self, file: int, item: Import, name: str, seen: Seen) -> Nodes:
        """What an import binds `name` to: ``import a.b`` binds ``a``, not ``a.b``."""
        if item.name == item.alias == NONE:
            return tuple(self._rows.file_node(number) for number in self._modules.files(name))
        return self._import_nodes(file, item, seen)

    def _imports(self, file: int) -> dict[str, list[Import]]:
        """The imports of a file by the name that they bind, ``*`` for everything."""
        if file not in self._named:
            table: dict[str, list[Import]] = {}
            for row in self._index.imports_of(file):
                item = self._index.imported(row)
                name = self._index.text(item.alias) or self._index.text(item.name)
                bound = name or self._index.text(item.module).partition(".")[0]
                table.setdefault(bound, []).append(item)
            self._named[file] = table
        return self._named[file]

    def _module_files(self, file: int, item: Import) -> Nodes:
        """The files of the module that an import names; where several share a name, those in its folder."""
        module = self._modules.absolute(file, self._index.text(item.module), item.level)
        files = self._modules.files(module)
        return self._modules.beside(file, files) or files if len(files) > 1 else files

    def _import_nodes(self, file: int, item: Import, seen: Seen) -> Nodes:
        """The nodes that an import names."""
        modules = tuple(self._rows.file_node(number) for number in self._module_files(file, item))
        name = self._index.text(item.name)
        if name in ("", "*"):
            return modules
        return _union(self._attribute(node, name, seen) for node in modules) or tuple(
            self._rows.file_node(number)
            for number in self._modules.files(
                f"{self._modules.absolute(file, self._index.text(item.module), item.level)}.{name}"
            )
        )

    def _attribute(self, node: int, name: str, seen: Seen) -> Nodes:
        """What ``node.name`` means; empty if unknown."""
        if not self._rows.is_file(node):
            is_type = self._rows.of(node).kind == Kind.TYPE
            return self._in_class(node, name, set()) if is_type else ()
        file = self._rows.file_of(node)
        if (file, name) not in seen:
            if len(seen) >= _MOST_STEPS:
                return ()
            seen[file, name] = ()
            seen[file, name] = self._in_module(file, name, seen)
        return seen[file, name]

    def _member_of(self, node: int, name: str) -> Nodes:
        """What ``node.name`` means, looked up anew."""
        key = (node, name)
        if key not in self._members_of:
            self._members_of[key] = self._attribute(node, name, {})
        return self._members_of[key]

    def _in_module(self, file: int, name: str, seen: Seen) -> Nodes:
        top = self._rows.top(file).get(name)
        if top:
            return top
        passed_on = self._through_imports(file, name, seen)
        if passed_on is not None:
            return passed_on.targets
        submodule = self._modules.files(f"{self._index.modules[file]}.{name}")
        return tuple(self._rows.file_node(number) for number in submodule)

    def _in_class(self, symbol: int, name: str, seen: set[int]) -> Nodes:
        """The members `name` of a class, or else of the first of its bases that has any."""
        own = self._rows.children(symbol).get(name)
        return own or self._in_bases(symbol, name, seen)

    def _in_bases(self, symbol: int, name: str, seen: set[int]) -> Nodes:
        if symbol in seen or len(seen) >= _MOST_STEPS:
            return ()
        seen.add(symbol)
        for base in self._bases(symbol):
            found = self._in_class(base, name, seen)
            if found:
                return found
        return ()

    def _bases(self, symbol: int) -> tuple[int, ...]:
        """The bases of a class that are known, in their order."""
        if symbol not in self._bases_of:
            self._bases_of[symbol] = tuple(self._find_bases(symbol))
        return self._bases_of[symbol]

    def _find_bases(self, symbol: int) -> Iterator[int]:
        file = self._index.file_of(symbol)
        rows = self._index.references_of(file)
        table = self._index.references[rows.start : rows.stop]
        chosen = np.flatnonzero((table[:, _ENCLOSING] == symbol) & (table[:, _USE] == Use.BASE))
        outside = self._rows.of(symbol).enclosing
        for place in chosen.tolist():
            reference = self._index.reference(rows.start + place)
            parts = [*self._index.text(reference.receiver).split("."), self._index.texts[reference.name]]
            # Bases of a base are not looked through for its name: a class could be its own base.
            found = self._dotted(file, outside, [part for part in parts if part], inherit=False) or ()
            yield from (node for node in found if node != symbol and not self._rows.is_file(node))

    def _member(self, file: int, enclosing: int, receiver: str, name: str) -> Resolved | None:
        """What ``receiver.name`` means; None if nothing is known of the receiver."""
        if receiver == UNKNOWN:
            return None
        if receiver in ("self", "cls", "super()"):
            around = (s for s in self._rows.scopes(enclosing) if self._rows.of(s).kind == Kind.TYPE)
            own = next(around, None)
            look = self._in_bases if receiver == "super()" else self._in_class
            found = look(own, name, set()) if own is not None else ()
            return Resolved(How.SCOPE, found) if found else None
        nodes = self._dotted(file, enclosing, receiver.split("."), inherit=True)
        if nodes is None:
            return None
        if not nodes:
            return FOREIGN
        targets = _union(self._member_of(node, name) for node in nodes)
        symbols = tuple(node for node in targets if not self._rows.is_file(node))
        if symbols:
            return Resolved(How.IMPORT, symbols)
        # A module that lacks the name makes it at run time; a class may inherit it, a variable may have it.
        return FOREIGN if all(map(self._rows.is_file, nodes)) else None

    def _dotted(self, file: int, enclosing: int, parts: Sequence[str], *, inherit: bool) -> Nodes | None:
        """The nodes of a dotted name: None if its first part is unbound, empty if it is foreign."""
        found = self._bound(file, enclosing, parts[0])
        if found is None:
            return None
        if found.how is How.IMPORT:
            whole = self._imported_module(file, parts)
            if whole:
                return whole
        nodes = found.targets
        for part in parts[1:]:
            if not nodes:
                return ()
            nodes = _union(self._step(node, part, inherit=inherit) for node in nodes)
            if not nodes:
                return None
        return nodes

    def _step(self, node: int, name: str, *, inherit: bool) -> Nodes:
        if inherit or self._rows.is_file(node):
            return self._member_of(node, name)
        return self._rows.children(node).get(name, ())

    def _imported_module(self, file: int, parts: Sequence[str]) -> Nodes:
        """The module with this dotted name, where an import such as ``import a.b.c`` binds its first part."""
        bound = self._imports(file).get(parts[0], ())
        if not any(item.name == item.alias == NONE for item in bound):
            return ()
        return tuple(self._rows.file_node(number) for number in self._modules.files(".".join(parts)))


def _union(groups: Iterable[Nodes]) -> Nodes:
    return tuple(sorted({node for group in groups for node in group}))
