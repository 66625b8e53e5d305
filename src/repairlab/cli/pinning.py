"""Writing the verified facts of one model into ``models.toml`` and leaving every other byte as it is."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from repairlab.contract.errors import BadInput, RefuseToStart
from repairlab.contract.models import UNPINNED, ModelFacts

_FIELDS = tuple(ModelFacts.model_fields)
_Value = str | int | bool
_HEADER = re.compile(r"^\s*\[\s*(?P<name>[^\[\]]+?)\s*\]\s*(#.*)?$")
_ANY_HEADER = re.compile(r"^\s*\[")
_INLINE = re.compile(r"^(?P<head>\s*facts\s*=\s*)(?P<table>\{.*)$")
_KEY = re.compile(r"^(?P<head>\s*(?P<key>[A-Za-z_]+)\s*=\s*)(?P<value>[^\s].*)$")


def differing_facts(pinned: ModelFacts, found: ModelFacts) -> tuple[str, ...]:
    """Facts that are pinned to something else than was found; a placeholder differs from nothing."""
    shown: list[str] = []
    for name in _FIELDS:
        before, after = getattr(pinned, name), getattr(found, name)
        if name == "inference_key":  # without one the key itself is meant
            before, after = before or pinned.key, after or found.key
        if before not in (UNPINNED, after):
            shown.append(f"{name} is pinned as {_said(before)}, and the host reports {_said(after)}")
    return tuple(shown)


def with_facts(text: str, name: str, facts: ModelFacts, where: str) -> str:
    """`text` of a ``models.toml`` with the facts of the entry `name` replaced.

    A fact that is ``None`` or false is left out, which means the same when the file is read: the host must
    report nothing for it. Two forms are edited: ``facts = { ... }`` under ``[NAME]``, and a table
    ``[NAME.facts]``.

    Raises:
        BadInput: the facts stand in another form, or the edit would change anything else.
    """
    values: dict[str, _Value] = {
        key: value for key, value in facts.model_dump().items() if value is not None and value is not False
    }
    lines = text.split("\n")
    edited = _inline(lines, name, values) or _table(lines, name, values)
    if edited is None:
        raise BadInput(
            f"{where}: the facts of {name} stand in a form that is not edited",
            repair=f"write them as one line under [{name}]: facts = {{ key = "
            + f'"{UNPINNED}"'
            + " }, then pin again",
        )
    result = "\n".join(edited)
    _hold_rest(text, result, name, values, where)
    return result


def replace_file(path: Path, before: str, after: str) -> None:
    """Put `after` in the place of `before` at once: a reader sees the one or the other.

    Raises:
        RefuseToStart: the file no longer holds `before`.
    """
    target = path.resolve()
    if target.read_bytes() != before.encode():
        raise RefuseToStart(
            f"{path}: changed while the model was being verified", repair="look at the change, then pin again"
        )
    scratch = target.with_name(f".{target.name}.new")
    try:
        with scratch.open("wb") as file:
            file.write(after.encode())
            file.flush()
            os.fsync(file.fileno())
        scratch.chmod(target.stat().st_mode & 0o7777)
        scratch.replace(target)
    finally:
        scratch.unlink(missing_ok=True)


def _said(value: _Value | None) -> str:
    return "nothing" if value is None else repr(value)


def _inline(lines: list[str], name: str, values: Mapping[str, _Value]) -> list[str] | None:
    start, end = _section(lines, (name,))
    for number in range(start, end):
        match = _INLINE.match(lines[number])
        if match:
            fields = ", ".join(f"{key} = {_quoted(value)}" for key, value in values.items())
            rest = _after_value(match["table"])
            return [*lines[:number], f"{match['head']}{{ {fields} }}{rest}", *lines[number + 1 :]]
    return None


def _table(lines: list[str], name: str, values: Mapping[str, _Value]) -> list[str] | None:
    """Known keys are rewritten where they stand, those without a value go, new ones follow the last."""
    start, end = _section(lines, (name, "facts"))
    if start == end == 0:
        return None
    body: list[str] = []
    written: set[str] = set()
    place = 0
    for line in lines[start:end]:
        match = _KEY.match(line)
        if match is None or match["key"] not in _FIELDS:
            body.append(line)
            continue
        key = match["key"]
        if key in values:
            body.append(f"{match['head']}{_quoted(values[key])}{_after_value(match['value'])}")
            written.add(key)
        place = len(body)
    body[place:place] = [f"{key} = {_quoted(value)}" for key, value in values.items() if key not in written]
    return [*lines[:start], *body, *lines[end:]]


def _section(lines: list[str], path: tuple[str, ...]) -> tuple[int, int]:
    """First line after the header of the table `path`, and the line of the next header; 0, 0 for none."""
    for number, line in enumerate(lines):
        header = _HEADER.match(line)
        if header and _names(header["name"]) == path:
            following = (n for n in range(number + 1, len(lines)) if _ANY_HEADER.match(lines[n]))
            return number + 1, next(following, len(lines))
    return 0, 0


def _names(dotted: str) -> tuple[str, ...]:
    return tuple(part.strip().strip("\"'") for part in dotted.split("."))


def _after_value(text: str) -> str:
    """What follows the value with which `text` begins: blanks, a comment, a carriage return."""
    for end in range(1, len(text) + 1):
        rest = text[end:]
        if rest.strip() and not rest.lstrip().startswith("#"):
            continue
        try:
            tomllib.loads(f"value = {text[:end]}")
        except tomllib.TOMLDecodeError:
            continue
        return rest
    return ""


def _quoted(value: _Value) -> str:
    """A TOML value; a text as a basic string."""
    if not isinstance(value, str):
        return str(value).lower()
    out = ['"']
    for character in value:
        if character in '"\\':
            out.append(f"\\{character}")
        elif character < " " or character == "\x7f":
            out.append(f"\\u{ord(character):04x}")
        else:
            out.append(character)
    return "".join([*out, '"'])


def _hold_rest(before: str, after: str, name: str, values: Mapping[str, _Value], where: str) -> None:
    """Read both texts: they may differ in the facts of `name` alone, and those must be `values`."""
    then, now = tomllib.loads(before), _parsed(after, where)
    facts = _taken(now, name)
    _taken(then, name)
    if then != now or facts != values:
        raise BadInput(
            f"{where}: writing the facts of {name} would have changed something else",
            repair="the file was left as it is; write the facts by hand",
        )


def _parsed(text: str, where: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"{where}: the edited text would be no TOML: {error}") from error


def _taken(tables: dict[str, Any], name: str) -> object:
    return tables.get(name, {}).pop("facts", None)
