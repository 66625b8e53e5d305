"""Whether an edited file can still be parsed: the syntax check of A002.

The parser is the pinned tree-sitter grammar of the language, not the compiler of the machine's own Python or
Go, so that the same edit gets the same answer everywhere. It reports where it had to skip or invent text. As
it takes faults of indentation for valid, those are looked for beside it: a body that is not there, and
statements of one block that do not stand in one column.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import tree_sitter
import tree_sitter_go
import tree_sitter_python

from repairlab.contract.task import Language
from repairlab.search.results import quote_path

MOST_LINES = 3
"""So many places of a file are named."""

_BLOCKS = "(module) @block (block) @block"


class SyntaxCheck:
    """Parses files of one language."""

    __slots__ = ("_blocks", "_parser")

    def __init__(self, language: Language) -> None:
        python = language == "python"
        grammar = tree_sitter.Language(tree_sitter_python.language() if python else tree_sitter_go.language())
        self._parser = tree_sitter.Parser(grammar)
        self._blocks = tree_sitter.Query(grammar, _BLOCKS) if python else None

    def report(self, files: Mapping[str, bytes | None]) -> str:
        """A line for each of `files` that cannot be parsed; one line if all can. ``None``: it is deleted."""
        lines = [text for path, data in files.items() if (text := self._line(path, data or b""))]
        return "\n".join(lines or ["Syntax check: every changed file can be parsed."])

    def _line(self, path: str, data: bytes) -> str:
        faults = self.faults(data)
        if not faults:
            return ""
        shown = ", ".join(map(str, faults[:MOST_LINES]))
        more = f" and {len(faults) - MOST_LINES} more" if len(faults) > MOST_LINES else ""
        noun = "line" if len(faults) == 1 else "lines"
        return f"Syntax check: {quote_path(path)} cannot be parsed: {noun} {shown}{more}."

    def faults(self, data: bytes) -> tuple[int, ...]:
        """The lines, counted from 1, at which something is wrong; empty for a file that can be parsed."""
        if self._blocks is not None:  # Python counts neither as a column
            data = data.removeprefix(b"\xef\xbb\xbf").replace(b"\f", b"")
        root = self._parser.parse(data).root_node
        found = set(_skipped(root))
        if self._blocks is not None and not found:
            blocks = tree_sitter.QueryCursor(self._blocks).captures(root).get("block", [])
            found = {line for block in blocks for line in _indentation(block)}
        return tuple(sorted(found))


def _skipped(root: tree_sitter.Node) -> Iterator[int]:
    left = [root] if root.has_error else []
    while left:
        node = left.pop()
        if node.is_error or node.is_missing:
            yield node.start_point[0] + 1
        else:
            left += [child for child in node.children if child.has_error or child.is_missing]


def _indentation(block: tree_sitter.Node) -> Iterator[int]:
    """Lines of `block` at which a statement starts in another column than the first one."""
    statements = [child for child in block.named_children if child.type != "comment"]
    if not statements and block.type == "block":
        yield block.start_point[0] + 1
    column = 0 if block.type == "module" else None
    row = block.parent.start_point[0] if block.parent is not None else -1
    for statement in statements:
        if statement.start_point[0] == row:
            continue  # behind a colon or a semicolon
        row = statement.end_point[0]
        column = statement.start_point[1] if column is None else column
        if statement.start_point[1] != column:
            yield statement.start_point[0] + 1
