"""Strict reading of JSON objects without a heavy library: this process has to start at once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from repairlab.contract.canonical import Json
from repairlab.contract.errors import BadInput


class Fields:
    """One JSON object. Each getter takes a key; `close` refuses keys that nothing took.

    A getter without a default raises `BadInput` for a missing key; all raise it for a wrong type.
    """

    def __init__(self, data: object, where: str) -> None:
        if not isinstance(data, dict):
            raise BadInput(f"{where}: an object belongs here")
        self._data: dict[str, Any] = data
        self.where = where
        self._taken: set[str] = set()

    def text(self, key: str, default: str | None = None) -> str:
        value = self._take(key, default)
        if not isinstance(value, str):
            raise self._fault(key, "text belongs here")
        return value

    def optional_text(self, key: str) -> str | None:
        return None if self._data.get(key) is None and self._mark(key) else self.text(key)

    def integer(self, key: str, default: int | None = None, at_least: int = 0) -> int:
        value = self._take(key, default)
        if not isinstance(value, int) or isinstance(value, bool) or value < at_least:
            raise self._fault(key, f"a whole number of at least {at_least} belongs here")
        return value

    def optional_integer(self, key: str, at_least: int = 0) -> int | None:
        missing = self._data.get(key) is None and self._mark(key)
        return None if missing else self.integer(key, at_least=at_least)

    def seconds(self, key: str, default: float | None = None) -> float:
        value = self._take(key, default)
        if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= 86_400:
            raise self._fault(key, "seconds (0 to 86400) belong here")
        return float(value)

    def optional_seconds(self, key: str) -> float | None:
        return None if self._data.get(key) is None and self._mark(key) else self.seconds(key)

    def flag(self, key: str, default: bool | None = None) -> bool:
        value = self._take(key, default)
        if not isinstance(value, bool):
            raise self._fault(key, "true or false belongs here")
        return value

    def texts(self, key: str, default: tuple[str, ...] | None = None) -> tuple[str, ...]:
        value = self._take(key, None if default is None else list(default))
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self._fault(key, "a list of texts belongs here")
        return tuple(value)

    def items(self, key: str, default: tuple[object, ...] | None = None) -> tuple[object, ...]:
        value = self._take(key, None if default is None else list(default))
        if not isinstance(value, list):
            raise self._fault(key, "a list belongs here")
        return tuple(value)

    def mapping(self, key: str) -> Mapping[str, object]:
        value = self._take(key, None)
        if not isinstance(value, dict):
            raise self._fault(key, "an object belongs here")
        return value

    def anything(self, key: str) -> Json:
        return cast("Json", self._take(key, None))

    def close(self) -> None:
        unknown = sorted(set(self._data) - self._taken)
        if unknown:
            raise self._fault(unknown[0], "unknown key")

    def _take(self, key: str, default: object) -> object:
        self._mark(key)
        if key in self._data:
            return self._data[key]
        if default is None:
            raise self._fault(key, "missing")
        return default

    def _mark(self, key: str) -> bool:
        self._taken.add(key)
        return True

    def _fault(self, key: str, what: str) -> BadInput:
        return BadInput(f"{self.where}: {key}: {what}")


def read_json(path: Path) -> object:
    """The JSON value of a file; `BadInput` where it cannot be read."""
    try:
        value: object = json.loads(path.read_bytes())
    except OSError as error:
        raise BadInput(f"{path}: cannot be read ({error.strerror})") from error
    except ValueError as error:
        raise BadInput(f"{path}: not JSON: {error}") from error
    return value
