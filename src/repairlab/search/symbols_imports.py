"""Reads import statements from their nodes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import tree_sitter

from repairlab.search.tokens import normal


class Imported(NamedTuple):
    """One name that an import binds; texts are empty where the source gives none.

    Attributes:
        module: dotted module without leading dots, or the path of a Go package.
        name: what is taken from the module, ``*`` for everything; empty for the module itself.
        alias: the name given to it here.
        level: leading dots of a relative import.
    """

    module: str
    name: str
    alias: str
    level: int


def python_imports(node: tree_sitter.Node, data: bytes) -> Iterator[Imported]:
    """The bindings of an ``import`` or ``from`` statement."""
    if node.type == "import_statement":
        for child in node.children_by_field_name("name"):
            module, alias = _name_and_alias(child, data)
            yield Imported(module, "", alias, 0)
        return
    source = node.child_by_field_name("module_name")
    if source is None:
        return
    text = _dotted(source, data)
    module = text.lstrip(".")
    level = len(text) - len(module)
    for child in node.children_by_field_name("name"):
        name, alias = _name_and_alias(child, data)
        yield Imported(module, name, alias, level)
    if any(child.type == "wildcard_import" for child in node.named_children):
        yield Imported(module, "*", "", level)


def go_import(node: tree_sitter.Node, data: bytes) -> Iterator[Imported]:
    """The binding of one import spec: the alias may be ``.`` or ``_``."""
    path, name = node.child_by_field_name("path"), node.child_by_field_name("name")
    if path is not None:
        alias = _dotted(name, data) if name is not None else ""
        yield Imported(_dotted(path, data).strip('"`'), "", alias, 0)


def _name_and_alias(node: tree_sitter.Node, data: bytes) -> tuple[str, str]:
    if node.type != "aliased_import":
        return _dotted(node, data), ""
    name, alias = node.child_by_field_name("name"), node.child_by_field_name("alias")
    return (_dotted(name, data) if name else "", _dotted(alias, data) if alias else "")


def _dotted(node: tree_sitter.Node, data: bytes) -> str:
    """The node's text without white space and line continuations."""
    text = data[node.start_byte : node.end_byte].decode("utf-8", "replace").replace("\\\n", "")
    return normal("".join(text.split()))
