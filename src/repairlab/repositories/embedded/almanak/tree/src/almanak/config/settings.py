"""What can be set, and what holds when nothing is."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

from almanak.errors import ConfigProblem


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of a run.

    Attributes:
        format: name of the format of results.
        missing: what stands for a missing value.
        width: widest that a column of a table may be; 0 for no limit.
        folder: where the sources are.
        views: file of the saved queries.
        plugins: modules to load.
        sources: paths by name.
    """

    format: str = "table"
    missing: str = "-"
    width: int = 0
    folder: str = "."
    views: str = "almanak.views"
    plugins: tuple[str, ...] = ()
    sources: dict[str, str] = field(default_factory=dict)


_KINDS: dict[str, type] = {
    "format": str, "missing": str, "width": int, "folder": str, "views": str, "plugins": list, "sources": dict,
}  # fmt: skip


def check(data: dict[str, Any], label: str) -> dict[str, Any]:
    """Settings as plain data, with the right kinds.

    Raises:
        ConfigProblem: an unknown setting, or one of a wrong kind.
    """
    known = [item.name for item in fields(Settings)]
    for name, value in data.items():
        if name not in known:
            raise ConfigProblem(f"{label}: {name!r} is not among {', '.join(known)}")
        wanted = _KINDS[name]
        if not isinstance(value, wanted) or isinstance(value, bool):
            raise ConfigProblem(f"{label}: {name} is a {type(value).__name__}, want a {wanted.__name__}")
    if data.get("width", 0) < 0:
        raise ConfigProblem(f"{label}: width is below 0")
    for name in ("plugins", "sources"):
        values = data.get(name, [])
        items = values.values() if isinstance(values, dict) else values
        if not all(isinstance(item, str) for item in items):
            raise ConfigProblem(f"{label}: {name} holds something that is no text")
    return data


def merge(*layers: dict[str, Any]) -> Settings:
    """Settings from several layers; a later layer wins.

    Plugins and sources add up: a later layer adds to them, and wins where it names the same source.
    """
    merged: dict[str, Any] = {}
    for layer in layers:
        for name, value in layer.items():
            if name == "plugins":
                old = merged.get(name, ())
                merged[name] = (*old, *(plugin for plugin in value if plugin not in old))
            elif name == "sources":
                merged[name] = {**merged.get(name, {}), **value}
            else:
                merged[name] = value
    return Settings(**merged)
