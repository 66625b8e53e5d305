"""Formats by name."""

from __future__ import annotations

from collections.abc import Callable

from almanak.engine.run import Result
from almanak.errors import ConfigProblem, PluginProblem
from almanak.formats import data, markdown, table

Formatter = Callable[[Result], str]


class Formats:
    """The formats that one run knows.

    Args:
        missing: what stands for a missing value.
        limit: widest that a column of a table may be; 0 for no limit.
    """

    def __init__(self, *, missing: str = "", limit: int = 0) -> None:
        self._by_name: dict[str, Formatter] = {
            "table": lambda result: table.render(result, missing=missing, limit=limit),
            "markdown": lambda result: markdown.render(result, missing=missing),
            "csv": lambda result: data.render_csv(result, missing=missing),
            "jsonl": lambda result: data.render_jsonl(result, missing=missing),
        }

    def add(self, name: str, formatter: Formatter) -> None:
        """Make a format known.

        Raises:
            PluginProblem: its name is taken.
        """
        if name in self._by_name:
            raise PluginProblem(f"there is a format {name!r} already")
        self._by_name[name] = formatter

    def render(self, name: str, result: Result) -> str:
        """The result in one of the formats.

        Raises:
            ConfigProblem: there is none of that name.
        """
        formatter = self._by_name.get(name)
        if formatter is None:
            raise ConfigProblem(f"{name!r} is not among the formats {', '.join(self.names())}")
        return formatter(result)

    def names(self) -> list[str]:
        """All names, sorted."""
        return sorted(self._by_name)
