"""Definitions and references of one file, read by tree-sitter.

Every offset is one of bytes. Bytes that are not UTF-8 are shown to the parser as ``_``, so that it neither
stops at them nor moves anything; names are then read from the file itself. Only the tree-sitter library
descends into the tree: no recursion here, whatever the depth of a source. Where the parser gives up on a part
of a file, definitions are recovered from lines that begin as one.

Three things would take time that grows with the square of a file: long runs of Python comments, which are
shown as blank lines; expressions nested by thousands, where no name deeper than `_DEEPEST` is looked for; and
an error node of more than `_WIDEST_ERROR` children (a file of open brackets alone has one), of which only
definitions on lines of their own are recovered.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from importlib.resources import files
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

import tree_sitter
import tree_sitter_go
import tree_sitter_python

from repairlab.search.symbols_blob import (
    NONE,
    Definition,
    FileSymbols,
    Kind,
    pack,
)
from repairlab.search.symbols_references import Nodes, Texts, imports, references
from repairlab.search.tokens import normal

if TYPE_CHECKING:  # worker processes need no more than its name
    from repairlab.contract.task import Language

_DEEPEST = 2000
_WIDEST_ERROR = 2000
_COMMENT_LINES = 200
"""A run of so many lines of nothing but comments is shown as blank lines."""

_COMMENTS = re.compile(rb"(?:^[ \t]*#[^\n]*\n)+", re.MULTILINE)
_RECEIVER = re.compile(r"\(\s*(?:(\w+)\s+)?\*?\s*\(?\s*(\w+)")
_RECOVERY = {
    "python": re.compile(
        rb"^[ \t]*(?:async[ \t]+)?(def|class)[ \t]+([^\W\d][\w\x80-\xff]*)[ \t]*[(:\[]", re.MULTILINE
    ),
    "go": re.compile(
        rb"^(func|type)[ \t]+(?:\([^)\n]*\)[ \t]*)?([^\W\d][\w\x80-\xff]*)[ \t]*[(\[ ]", re.MULTILINE
    ),
}


class Found(NamedTuple):
    """A definition before its place among the others is known. `top`: whatever the parser put around it."""

    start: int
    end: int
    place: int
    first: int
    last: int
    line: int
    name: str
    kind: Kind
    owner: str
    receiver: str
    recovered: bool = False
    top: bool = False


class Grammar:
    """Parser and query of one language, for any number of files."""

    __slots__ = ("_language", "_parser", "_query", "_top_query")

    def __init__(self, language: Language) -> None:
        pointer = tree_sitter_python.language() if language == "python" else tree_sitter_go.language()
        grammar = tree_sitter.Language(pointer)
        self._language = language
        self._parser = tree_sitter.Parser(grammar)
        self._query = tree_sitter.Query(grammar, query_source(language))
        self._top_query = tree_sitter.Query(grammar, query_source(f"{language}-top"))

    def parse(self, data: bytes) -> FileSymbols:
        """The symbols of a file with these bytes."""
        shown = _readable(data)
        if self._language == "python" and data.count(b"#") >= _COMMENT_LINES:
            shown = _COMMENTS.sub(_blank, shown)
        root = self._parser.parse(shown).root_node
        if _too_broken(root):
            nodes: dict[str, list[tree_sitter.Node]] = {"error": [root]}
        else:
            nodes = _captures(self._query, root, _DEEPEST) | _captures(self._top_query, root, 0, "top_")
        texts = Texts()
        found = [*_functions_and_types(nodes, data), *_methods(nodes, data), *_variables(nodes, data)]
        if root.has_error:
            found += _recovered(nodes, data, self._language, {item.place for item in found})
        definitions = _placed(found, texts)
        names = frozenset(item.place for item in found)
        found_references = references(nodes, data, definitions, names, texts)
        found_imports = imports(nodes, data, self._language, texts)
        package = next((texts.of(_text(node, data)) for node in nodes.get("package", ())), NONE)
        return FileSymbols(texts.all, package, root.has_error, definitions, found_references, found_imports)


def parse_packed(grammar: Grammar, blobs: Iterable[bytes]) -> Iterator[bytes]:
    """The stored symbols of each file, in order."""
    return (pack(grammar.parse(data)) for data in blobs)


def query_source(name: str) -> str:
    """A tree-sitter query, by the name of its file: a language, or one with ``-top``."""
    return files("repairlab.search").joinpath("queries", f"{name}.scm").read_text("utf-8")


def _captures(
    query: tree_sitter.Query, root: tree_sitter.Node, depth: int, prefix: str = ""
) -> dict[str, list[tree_sitter.Node]]:
    """The captured nodes by name, of patterns that begin no deeper than `depth`."""
    cursor = tree_sitter.QueryCursor(query)
    cursor.set_max_start_depth(depth)
    return {prefix + name: nodes for name, nodes in cursor.captures(root).items()}


def _too_broken(root: tree_sitter.Node) -> bool:
    """Whether some error node has too many children to be searched. Only what holds errors is looked into."""
    left = [root]
    while left:
        node = left.pop()
        if node.has_error:
            if node.type == "ERROR" and node.child_count > _WIDEST_ERROR:
                return True
            left += node.children
    return False


def _readable(data: bytes) -> bytes:
    """`data` with ``_`` for each byte that is not UTF-8: as long, and all other bytes where they were."""
    try:
        data.decode()
    except UnicodeDecodeError:
        text = data.decode("utf-8", "surrogateescape")
        return re.sub("[\udc80-\udcff]", "_", text).encode()
    return data


def _blank(comments: re.Match[bytes]) -> bytes:
    if comments[0].count(b"\n") < _COMMENT_LINES:
        return comments[0]
    return re.sub(rb"[^\n]", b" ", comments[0])


def _text(node: tree_sitter.Node, data: bytes) -> str:
    return normal(data[node.start_byte : node.end_byte].decode("utf-8", "replace"))


def _found(
    node: tree_sitter.Node,
    name: tree_sitter.Node,
    data: bytes,
    kind: Kind,
    owner: str = "",
    receiver: str = "",
) -> Found:
    return Found(
        node.start_byte,
        node.end_byte,
        name.start_byte,
        node.start_point[0] + 1,
        node.end_point[0] + 1,
        name.start_point[0] + 1,
        _text(name, data),
        kind,
        owner,
        receiver,
    )


def _functions_and_types(nodes: Nodes, data: bytes) -> Iterator[Found]:
    for capture, kind in (("function", Kind.FUNCTION), ("type", Kind.TYPE)):
        for node in nodes.get(capture, ()):
            name = node.child_by_field_name("name")
            if name is not None and name.end_byte > name.start_byte:
                yield _found(node, name, data, kind)
    for node in nodes.get("alias", ()):
        yield _found(node, node, data, Kind.TYPE)


def _methods(nodes: Nodes, data: bytes) -> Iterator[Found]:
    """Go's: the type that owns a method stands in its receiver."""
    for node in nodes.get("method", ()):
        name, receiver = node.child_by_field_name("name"), node.child_by_field_name("receiver")
        if name is not None and receiver is not None:
            read = _RECEIVER.match(_text(receiver, data))
            variable, owner = (read[1] or "", read[2]) if read else ("", "")
            yield _found(node, name, data, Kind.METHOD, owner, variable)
    for node in nodes.get("interface_method", ()):
        name = node.child_by_field_name("name")
        if name is not None:
            yield _found(node, name, data, Kind.METHOD)


def _variables(nodes: Nodes, data: bytes) -> Iterator[Found]:
    for capture, kind in (("top_constants", Kind.CONSTANT), ("top_variables", Kind.VARIABLE)):
        for spec in nodes.get(capture, ()):
            for name in spec.children_by_field_name("name"):
                if name.is_named:  # not the comma between two
                    yield _found(spec, name, data, kind)
    for name in (*nodes.get("variable", ()), *nodes.get("top_variable", ())):
        parent = name.parent
        whole = parent if parent is not None and parent.type == "assignment" else name
        item = _found(whole, name, data, Kind.VARIABLE)
        # Python has no constants but by convention: upper case.
        yield item._replace(kind=Kind.CONSTANT) if item.name.isupper() else item


def _recovered(nodes: Nodes, data: bytes, language: str, known: set[int]) -> Iterator[Found]:
    """Definitions on lines inside the parts that the parser could not read."""
    spans = sorted((node.start_byte, node.end_byte) for node in nodes.get("error", ()))
    starts = [start for start, _ in spans]
    ends = list(accumulate((end for _, end in spans), max))  # the furthest end of a span up to each
    newlines = [found.start() for found in re.finditer(rb"\n", data)]
    for match in _RECOVERY[language].finditer(data):
        place = match.start(2)
        span = bisect_right(starts, place) - 1
        if place in known or span < 0 or ends[span] <= place:
            continue
        line = bisect_left(newlines, place) + 1
        kind = Kind.TYPE if match[1] in (b"class", b"type") else Kind.FUNCTION
        name = normal(match[2].decode("utf-8", "replace"))
        top = match[0][:1] not in b" \t"
        yield Found(match.start(1), match.end(2), place, line, line, line, name, kind, "", "", True, top)


def _placed(found: Iterable[Found], texts: Texts) -> list[Definition]:
    """The definitions in order, each with what encloses it."""
    definitions: list[Definition] = []
    open_scopes: list[tuple[int, int, str, Kind]] = []  # index, end, dotted name, kind
    for item in sorted(set(found), key=lambda item: (item.start, -item.end, item.place)):
        while open_scopes and open_scopes[-1][1] <= item.start:
            open_scopes.pop()
        around = open_scopes[-1] if open_scopes and not item.top else (NONE, 0, "", None)
        owner = item.owner or around[2]
        kind = Kind.METHOD if item.kind is Kind.FUNCTION and around[3] is Kind.TYPE else item.kind
        if kind in (Kind.FUNCTION, Kind.METHOD, Kind.TYPE) and not item.recovered:
            dotted = f"{owner}.{item.name}" if owner else item.name
            open_scopes.append((len(definitions), item.end, dotted, kind))
        definitions.append(
            Definition(
                texts.of(item.name),
                texts.of(owner),
                texts.of(item.receiver),
                kind,
                around[0],
                item.start,
                item.end,
                item.place,
                item.first,
                item.last,
                item.line,
                item.recovered,
            )
        )
    return definitions
