"""A file of saved queries, one a line: ``name: query``.

Lines that begin with ``#`` are comments. They stay where they are when a view is saved or removed.
"""

from __future__ import annotations

import re
from pathlib import Path

from almanak.errors import ConfigProblem, SyntaxProblem
from almanak.syntax.nodes import Query
from almanak.syntax.parser import parse_query
from almanak.syntax.unparse import unparse_query

_NAME = re.compile(r"[a-z][a-z0-9_-]*")


class Views:
    """The views of one file. A file that does not exist holds none."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def names(self) -> list[str]:
        """Names of all views, sorted."""
        return sorted(self._entries())

    def load(self, name: str) -> Query:
        """A saved query.

        Raises:
            ConfigProblem: there is none of that name, or it cannot be read.
        """
        entries = self._entries()
        if name not in entries:
            raise ConfigProblem(f"there is no view {name!r}")
        try:
            return parse_query(entries[name])
        except SyntaxProblem as problem:
            raise ConfigProblem(f"view {name!r}: {problem}") from problem

    def save(self, name: str, query: Query) -> None:
        """Write a view, in the place of the one of that name if there is one."""
        if not _NAME.fullmatch(name):
            raise ConfigProblem(f"{name!r} is no name for a view")
        line = f"{name}: {unparse_query(query)}"
        lines = self._lines()
        for index, old in enumerate(lines):
            if _key(old) == name:
                lines[index] = line
                break
        else:
            lines.append(line)
        self._write(lines)

    def remove(self, name: str) -> None:
        """Forget a view.

        Raises:
            ConfigProblem: there is none of that name.
        """
        lines = self._lines()
        rest = [line for line in lines if _key(line) != name]
        if len(rest) == len(lines):
            raise ConfigProblem(f"there is no view {name!r}")
        self._write(rest)

    def _entries(self) -> dict[str, str]:
        entries: dict[str, str] = {}
        for number, line in enumerate(self._lines(), start=1):
            key = _key(line)
            if key is None:
                if line.strip() and not line.lstrip().startswith("#"):
                    raise ConfigProblem(f"{self._path.name}:{number}: no view of the form name: query")
                continue
            if key in entries:
                raise ConfigProblem(f"{self._path.name}:{number}: a second view {key!r}")
            entries[key] = line.split(":", 1)[1].strip()
        return entries

    def _lines(self) -> list[str]:
        if not self._path.exists():
            return []
        return self._path.read_text(encoding="utf-8").removesuffix("\n").split("\n")

    def _write(self, lines: list[str]) -> None:
        self._path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _key(line: str) -> str | None:
    name, colon, _ = line.partition(":")
    return name.strip() if colon and _NAME.fullmatch(name.strip()) else None
