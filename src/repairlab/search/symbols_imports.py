"""Reads import statements from their nodes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import tree_sitter

from repairlab.search.tokens import normal

_PLAIN = re.compile(rb"from (?P<module>[.A-Za-z0-9_]+) import (?P<names>[A-Za-z0-9_, ]+)")
"""The form of most statements, which needs no look at the nodes inside."""
_PLAIN_NAME = re.compile(rb" *([A-Za-z0-9_]+)(?: +as +([A-Za-z0-9_]+))? *")


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
    plain = _PLAIN.fullmatch(data, node.start_byte, node.end_byte)
    if plain is not None and (names := _plain_names(plain["names"])):
        module = plain["module"].decode()
        level = len(module) - len(module.lstrip("."))
        for name, alias in names:
            yield Imported(module[level:], name, alias, level)
        return
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


def _plain_names(text: bytes) -> list[tuple[str, str]]:
    """Names and aliases of a list without anything else in it; empty if there is more to it."""
    read = [_PLAIN_NAME.fullmatch(part) for part in text.split(b",")]
    return [(one[1].decode(), (one[2] or b"").decode()) for one in read if one] if all(read) else []


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
