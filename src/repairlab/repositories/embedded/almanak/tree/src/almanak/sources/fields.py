"""Nested data as flat fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def flatten(data: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Fields of nested mappings, their names joined by dots: ``{"a": {"b": 1}}`` gives ``{"a.b": 1}``.

    A list of mappings becomes a list of the texts of their values, since no record holds records.
    """
    flat: dict[str, Any] = {}
    for name, value in data.items():
        full = f"{prefix}{name}"
        if isinstance(value, Mapping):
            flat.update(flatten(value, f"{full}."))
        elif isinstance(value, list):
            flat[full] = [_plain(item) for item in value]
        else:
            flat[full] = value
    return flat


def _plain(item: Any) -> Any:
    if isinstance(item, Mapping):
        return " ".join(str(value) for value in flatten(item).values())
    return item
