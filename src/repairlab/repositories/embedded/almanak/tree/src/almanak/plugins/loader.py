"""Loading of plugins.

A plugin is a module with a function ``register(hooks)``, which gets the three places that it may add to.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import ModuleType

from almanak.engine.functions import Function, Functions
from almanak.errors import PluginProblem
from almanak.formats.registry import Formats, Formatter
from almanak.templates.filters import Filter


@dataclass(frozen=True, slots=True)
class Hooks:
    """What a plugin may add to."""

    functions: Functions
    filters: dict[str, Filter]
    formats: Formats

    def add_function(
        self, name: str, call: Callable[..., object], *, least: int = 0, most: int | None = None, pure: bool = False
    ) -> None:
        """A function for queries. It is taken for impure unless the plugin says otherwise."""
        self.functions.add(Function(name, call, least, most, pure))

    def add_filter(self, name: str, call: Filter) -> None:
        """A filter for templates."""
        if name in self.filters:
            raise PluginProblem(f"there is a filter {name!r} already")
        self.filters[name] = call

    def add_format(self, name: str, formatter: Formatter) -> None:
        """A format for results."""
        self.formats.add(name, formatter)


def load_all(
    names: Iterable[str], hooks: Hooks, find: Callable[[str], ModuleType] = importlib.import_module
) -> list[str]:
    """Load plugins in the order given and return their names.

    Raises:
        PluginProblem: a module cannot be imported, has no ``register``, or claims what is taken.
    """
    loaded: list[str] = []
    for name in names:
        try:
            module = find(name)
        except ImportError as error:
            raise PluginProblem(f"plugin {name!r} cannot be imported: {error}") from error
        register = getattr(module, "register", None)
        if not callable(register):
            raise PluginProblem(f"plugin {name!r} has no function register()")
        try:
            register(hooks)
        except PluginProblem as error:
            raise PluginProblem(f"plugin {name!r}: {error}") from error
        loaded.append(name)
    return loaded
