"""Where Go references lead, as far as syntax tells: functions, packages, imports, receivers.

Types of variables are not inferred: a method on anything but its own receiver is found by name alone, those
of embedded types included.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from repairlab.contract.controls import Graph
from repairlab.search.graph_resolve import FOREIGN, ByName, How, Resolved, Rows
from repairlab.search.symbols_blob import NONE, UNKNOWN, Import, Kind, Reference
from repairlab.search.symbols_index import SymbolIndex
from repairlab.search.symbols_modules import GoPackages

_METHODS = frozenset({Kind.METHOD})
_VERSION = re.compile(r"v[0-9]+")

Nodes = tuple[int, ...]
Package = tuple[str, int]
"""Folder, and text of the name in the package clause: a folder may hold an external test package as well."""


class GoResolver:
    """Resolves the references of one index. Remembers what it has looked up; that changes no answer."""

    __slots__ = ("_by_name", "_files", "_folders", "_index", "_methods", "_packages", "_rows", "_scopes")

    def __init__(self, index: SymbolIndex, rows: Rows, rule: Graph) -> None:
        self._index = index
        self._rows = rows
        self._by_name = ByName(rows, rule)
        paths = {index.text(int(number)) for number in np.unique(index.imports[:, 0])}
        self._folders = GoPackages(index.modules, paths)
        self._files: dict[Package, list[int]] = {}
        for file, package in enumerate(zip(index.modules, index.packages, strict=True)):
            self._files.setdefault(package, []).append(file)
        self._packages: dict[str, list[Package]] = {}
        for package in self._files:
            self._packages.setdefault(package[0], []).append(package)
        self._scopes: dict[Package, dict[str, Nodes]] = {}
        self._methods: dict[Package, dict[tuple[str, str], Nodes]] = {}

    def call(self, file: int, reference: Reference) -> Resolved:
        """See `Resolver.call`."""
        name, receiver = self._index.texts[reference.name], self._index.text(reference.receiver)
        if not receiver:
            return self._plain(file, reference.enclosing, name)
        return self._member(file, reference.enclosing, receiver, name) or self._by_name.find(name, _METHODS)

    def imported(self, _file: int, item: Import, /) -> Resolved:
        """See `Resolver.imported`: the files of a package, its tests left out."""
        packages = self._imported_packages(item)
        files = (file for package in packages for file in self._files[package])
        nodes = (f for f in files if not self._index.corpus.files[f].path.endswith("_test.go"))
        found = tuple(sorted(self._rows.file_node(file) for file in nodes))
        return Resolved(How.IMPORT, found) if found else FOREIGN

    def parent(self, symbol: int) -> int:
        """See `Resolver.parent`: a method is defined by its type, wherever in the package that stands."""
        row, file = self._rows.of(symbol), self._index.file_of(symbol)
        if row.enclosing != NONE:
            return row.enclosing
        if row.kind == Kind.METHOD and row.owner != NONE:
            owners = self._scope(self._package(file)).get(self._index.texts[row.owner], ())
            types = [node for node in owners if self._rows.of(node).kind == Kind.TYPE]
            if types:
                return types[0]
        return self._rows.file_node(file)

    def members(self, symbol: int) -> Nodes:
        """See `Resolver.members`."""
        own = self._rows.children(symbol).values()
        if self._rows.of(symbol).kind != Kind.TYPE:
            return _union(own)
        name = self._index.texts[self._rows.of(symbol).name]
        methods = self._methods_of(self._package(self._index.file_of(symbol)))
        return _union((*own, *(ids for (owner, _), ids in methods.items() if owner == name)))

    def _package(self, file: int) -> Package:
        return self._index.modules[file], self._index.packages[file]

    def _scope(self, package: Package) -> dict[str, Nodes]:
        """What the files of a package define at their top, by name; methods left out."""
        if package not in self._scopes:
            table: dict[str, Nodes] = {}
            for file in self._files[package]:
                for name, ids in self._rows.top(file).items():
                    table[name] = table.get(name, ()) + ids
            self._scopes[package] = table
        return self._scopes[package]

    def _methods_of(self, package: Package) -> dict[tuple[str, str], Nodes]:
        """The methods of a package by type and name."""
        if package not in self._methods:
            table: dict[tuple[str, str], Nodes] = {}
            for file in self._files[package]:
                for number in self._index.symbols_of(file):
                    row = self._rows.of(number)
                    if row.kind == Kind.METHOD:
                        key = (self._index.text(row.owner), self._index.texts[row.name])
                        table[key] = (*table.get(key, ()), number)
            self._methods[package] = table
        return self._methods[package]

    def _plain(self, file: int, enclosing: int, name: str) -> Resolved:
        for scope in self._rows.scopes(enclosing):
            local = self._rows.children(scope).get(name)
            if local:
                return Resolved(How.SCOPE, local)
        own = self._scope(self._package(file)).get(name)
        if own:
            return Resolved(How.SCOPE, own)
        rows = (self._index.imported(row) for row in self._index.imports_of(file))
        dotted = [item for item in rows if self._index.text(item.alias) == "."]
        found = _union(
            self._scope(package).get(name, ()) for item in dotted for package in self._imported_packages(item)
        )
        return Resolved(How.IMPORT, found) if found else FOREIGN

    def _member(self, file: int, enclosing: int, receiver: str, name: str) -> Resolved | None:
        """What ``receiver.name`` means; None if nothing is known of the receiver."""
        if receiver == UNKNOWN or "." in receiver:
            return None
        methods = self._methods_of(self._package(file))
        for scope in self._rows.scopes(enclosing):
            row = self._rows.of(scope)
            if row.kind == Kind.METHOD and self._index.text(row.receiver) == receiver:
                own = methods.get((self._index.text(row.owner), name))
                return Resolved(How.SCOPE, own) if own else None
        packages = self._bound_packages(file, receiver)
        if packages is not None:
            found = _union(self._scope(package).get(name, ()) for package in packages)
            return Resolved(How.IMPORT, found) if found else FOREIGN
        own = methods.get((receiver, name))
        return Resolved(How.SCOPE, own) if own else None

    def _bound_packages(self, file: int, name: str) -> list[Package] | None:
        """The packages that an import of the file binds to `name`: none if foreign; None if none does."""
        for row in self._index.imports_of(file):
            item = self._index.imported(row)
            packages = self._imported_packages(item)
            if self._index.text(item.alias):
                bound = {self._index.text(item.alias)}
            else:
                bound = {self._index.text(package[1]) for package in packages} or {self._last(item)}
            if name in bound:
                return packages
        return None

    def _last(self, item: Import) -> str:
        """The name that a foreign package probably has: the last part of its path that is no version."""
        parts = self._index.text(item.module).split("/")
        return parts[-2] if len(parts) > 1 and _VERSION.fullmatch(parts[-1]) else parts[-1]

    def _imported_packages(self, item: Import) -> list[Package]:
        """The packages of the corpus in the folder that an import means, external tests left out."""
        folder = self._folders.folder(self._index.text(item.module))
        if folder is None:
            return []
        found = self._packages.get(folder, [])
        return [package for package in found if not self._index.text(package[1]).endswith("_test")]


def _union(groups: Iterable[Nodes]) -> Nodes:
    return tuple(sorted({node for group in groups for node in group}))
