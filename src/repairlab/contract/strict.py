"""Strict loading of TOML: an unknown key, a wrong type or a missing field names file, line and field."""

from __future__ import annotations

import difflib
import json
import re
import tomllib
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from repairlab.contract.canonical import Json
from repairlab.contract.errors import BadInput


class StrictModel(BaseModel):
    """Base of everything read from files: immutable, no unknown keys, no coercion of types."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)


ModelT = TypeVar("ModelT", bound=BaseModel)
Location = tuple[str | int, ...]

_UNITS = ("seconds", "tokens", "bytes", "characters", "lines", "files", "calls", "runs")
_HEADER = re.compile(r"^\s*(\[{1,2})\s*([^\[\]]+?)\s*\]{1,2}\s*(#.*)?$")
_KEY = re.compile(
    r"""^\s*((?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*'))*)\s*="""
)


def read_toml(path: Path) -> dict[str, Json]:
    """Parse one TOML file.

    Raises:
        BadInput: unreadable, not UTF-8, or not TOML; the message holds the line where known.
    """
    try:
        return tomllib.loads(path.read_bytes().decode("utf-8"))
    except OSError as error:
        raise BadInput(f"{path}: cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise BadInput(f"{path}: not UTF-8 (byte {error.start})") from error
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"{path}: not valid TOML: {error}") from error


def load(model: type[ModelT], path: Path) -> ModelT:
    """Read `path` and validate it as `model`.

    Raises:
        BadInput: with one line for each fault, ``file:line: field: what is wrong``.
    """
    return validate(model, read_toml(path), path)


def validate(model: type[ModelT], data: Json, path: Path, prefix: Location = ()) -> ModelT:
    """Validate already parsed `data` that stands under `prefix` in the file `path`.

    The values take the JSON route through pydantic, whose strict mode takes arrays for tuples and still
    refuses ``"12"`` for 12 and ``true`` for 1.
    """
    try:
        text = json.dumps(data, default=_refuse_value)
        return model.model_validate_json(text, strict=True)
    except ValidationError as error:
        lines = _Lines(path)
        faults = [
            _fault(item["loc"], item["msg"], item["type"], model, prefix, path, lines)
            for item in error.errors()
        ]
        raise BadInput("\n".join(faults)) from error
    except TypeError as error:
        raise BadInput(f"{path}: {error}") from error


def load_json(model: type[ModelT], path: Path) -> ModelT:
    """Read one JSON file as `model`. A key that occurs twice in an object is refused.

    Raises:
        BadInput: unreadable, not JSON, or not of the model's form; the message names the field.
    """
    try:
        return parse_json(model, path.read_bytes(), str(path))
    except OSError as error:
        raise BadInput(f"{path}: cannot be read ({error.strerror})") from error


def parse_json(model: type[ModelT], data: bytes, source: str) -> ModelT:
    """Like `load_json`, for bytes that came from `source`."""
    try:
        json.loads(data, object_pairs_hook=_without_duplicates)
        return model.model_validate_json(data, strict=True)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or "(file)"
        raise BadInput(f"{source}: {field}: {first['msg']}") from error
    except ValueError as error:
        raise BadInput(f"{source}: not valid JSON: {error}") from error


def _without_duplicates(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found: dict[str, Json] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"key {key!r} occurs twice in one object")
        found[key] = value
    return found


def _refuse_value(value: object) -> str:
    raise TypeError(f"a {type(value).__name__} stands where text or a number belongs: {value}")


def _fault(
    loc: Location,
    message: str,
    kind: str,
    model: type[BaseModel],
    prefix: Location,
    path: Path,
    lines: _Lines,
) -> str:
    where = prefix + loc
    field = ".".join(str(part) for part in where) or "(file)"
    line = lines.find(where)
    text = {"extra_forbidden": "unknown key", "missing": "missing field"}.get(
        kind, message.removeprefix("Value error, ")
    )
    if kind == "extra_forbidden":
        text += _hint(str(loc[-1]), _fields_at(model, loc[:-1]))
    return f"{path}:{line}: {field}: {text}"


def _hint(key: str, fields: list[str]) -> str:
    stem = re.sub(r"_[a-z]+$", "", key)
    same_stem = [f for f in fields if re.sub(r"_[a-z]+$", "", f) == stem and f.rsplit("_", 1)[-1] in _UNITS]
    close = same_stem or difflib.get_close_matches(key, fields, n=1)
    if same_stem:
        return f" (the unit is part of the name: {close[0]})"
    return f" (did you mean {close[0]}?)" if close else f" (known here: {', '.join(sorted(fields))})"


def _fields_at(model: type[BaseModel], loc: Location) -> list[str]:
    current: type[BaseModel] = model
    for part in loc:
        field = current.model_fields.get(str(part))
        annotation = field.annotation if field else None
        if not (isinstance(annotation, type) and issubclass(annotation, BaseModel)):
            return []
        current = annotation
    return list(current.model_fields)


class _Lines:
    """Finds the line of a key path in a TOML file by its headers and assignments."""

    def __init__(self, path: Path) -> None:
        self._lines: dict[Location, int] = {(): 1}
        table: Location = ()
        counts: dict[Location, int] = {}
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return
        for number, line in enumerate(text.split("\n"), start=1):
            header = _HEADER.match(line)
            if header:
                name = _split(header.group(2))
                if header.group(1) == "[[":
                    index = counts.get(name, -1) + 1
                    counts[name] = index
                    table = (*name, index)
                    self._lines.setdefault(name, number)
                else:
                    table = name
                self._lines.setdefault(table, number)
                continue
            key = _KEY.match(line)
            if key:
                self._lines.setdefault(table + _split(key.group(1)), number)

    def find(self, where: Location) -> int:
        """Line (from 1) of `where`, or of the nearest enclosing key that the file has."""
        for end in range(len(where), -1, -1):
            if where[:end] in self._lines:
                return self._lines[where[:end]]
        return 1


def _split(dotted: str) -> Location:
    parts = re.findall(r"""[A-Za-z0-9_-]+|"[^"]*"|'[^']*'""", dotted)
    return tuple(part.strip("\"'") for part in parts)
