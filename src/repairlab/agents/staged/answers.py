"""Reading what a stage answers. What cannot be taken is counted and dropped; nothing is guessed.

The answer is the one fenced block of a reply, or the whole reply where it holds no fence: the same rule, and
the same code, as for a diff. A mark of a list before a line and back-quotes around it are no part of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from repairlab.agents.staged.packing import Span
from repairlab.repositories.diffs import Fault, Step, unwrap
from repairlab.search.results import quote_path

_LIST_MARK = re.compile(r"^(?:[-*]|\d{1,3}[.)])[ \t]+")
_PLACE = re.compile(r"(?P<kind>function|class|type|lines?)[ \t]*:[ \t]*(?P<what>\S.*)")
_LINES = re.compile(r"(?P<first>\d{1,9})(?:[ \t]*-[ \t]*(?P<last>\d{1,9}))?")

Kind = str


class Dropped(NamedTuple):
    """How many lines of an answer were not taken, and why."""

    unknown: int = 0
    """They name nothing that there is, or are in no form that was asked for."""
    repeated: int = 0
    beyond: int = 0
    """More than the stage may name."""


class Place(NamedTuple):
    """Where something has to change: as the model named it, and the lines that this means."""

    path: str
    label: str
    """Such as ``function: Class.method`` or ``lines: 3-9``."""
    start_line: int
    end_line: int

    @property
    def span(self) -> Span:
        return Span(self.path, self.start_line, self.end_line)


@dataclass(frozen=True, slots=True)
class Definitions:
    """What one file defines.

    Attributes:
        lines: number of lines of the file.
        spans: first and last line of each definition, by ``function`` or ``class`` and by its name, with and
            without the names of what it stands in. One name may stand for several.
    """

    lines: int
    spans: Mapping[tuple[Kind, str], tuple[tuple[int, int], ...]]


@dataclass(frozen=True, slots=True)
class Selection:
    """Files that the first stage selects, in its order."""

    paths: tuple[str, ...]
    dropped: Dropped


@dataclass(frozen=True, slots=True)
class Localisation:
    """Places that the second stage names, in its order."""

    places: tuple[Place, ...]
    dropped: Dropped


def read_selection(
    reply: str, known: Mapping[str, str], limit: int, steps: tuple[Step, ...]
) -> Selection | Fault:
    """Files named in `reply`.

    Args:
        reply: the content of the reply.
        known: the paths that there are, by the form in which they may be named.
        limit: more are dropped.
        steps: of the frozen normalisation of diffs.
    """
    answer = _answer(reply, steps)
    if isinstance(answer, Fault):
        return answer
    named = [known.get(line.removeprefix("./")) for line in answer]
    paths = list(dict.fromkeys(path for path in named if path is not None))
    repeated = len(named) - named.count(None) - len(paths)
    dropped = Dropped(named.count(None), repeated, max(0, len(paths) - limit))
    if not paths:
        return Fault("no-known-file", "The answer names no file of the repository.")
    return Selection(tuple(paths[:limit]), dropped)


def read_places(
    reply: str, files: Mapping[str, Definitions], limit: int, steps: tuple[Step, ...]
) -> Localisation | Fault:
    """Places named in `reply`.

    Args:
        reply: the content of the reply.
        files: those that were shown, by path.
        limit: more places are dropped.
        steps: of the frozen normalisation of diffs.
    """
    answer = _answer(reply, steps)
    if isinstance(answer, Fault):
        return answer
    known = either_form(list(files))
    found: list[Place] = []
    unknown = 0
    path: str | None = None
    for line in answer:
        match = _PLACE.fullmatch(line)
        if match is None:
            path = known.get(line.removeprefix("./"))
            unknown += path is None
            continue
        meant = list(_meant(path, files[path], match["kind"], match["what"])) if path is not None else []
        found += meant
        unknown += not meant
    places = list(dict.fromkeys(found))
    dropped = Dropped(unknown, len(found) - len(places), max(0, len(places) - limit))
    if not places:
        return Fault("no-known-place", "The answer names no place in the files that were shown.")
    return Localisation(tuple(places[:limit]), dropped)


def render_places(places: Sequence[Place]) -> str:
    """Places as the third stage is told them: each path once, where it comes first."""
    under: dict[str, list[str]] = {}
    for place in places:
        under.setdefault(place.path, []).append(place.label)
    return "\n".join("\n".join([path, *dict.fromkeys(labels)]) for path, labels in under.items())


def _answer(reply: str, steps: tuple[Step, ...]) -> list[str] | Fault:
    unwrapped = unwrap(reply.encode("utf-8", "replace"), steps)
    if isinstance(unwrapped, Fault):
        return unwrapped
    lines = (_plain(line) for line in unwrapped.text.decode().split("\n"))
    return [line for line in lines if line]


def _plain(line: str) -> str:
    return _LIST_MARK.sub("", line.strip()).strip("`").strip()


def _meant(path: str, file: Definitions, kind: str, what: str) -> Iterator[Place]:
    if kind in ("function", "class", "type"):
        name = what.strip("`").removesuffix("()")
        for first, last in file.spans.get(("function" if kind == "function" else "class", name), ()):
            yield Place(path, f"{kind}: {name}", first, last)
        return
    match = _LINES.fullmatch(what)
    first = int(match["first"]) if match else 0
    last = int(match["last"] or first) if match else 0
    if 1 <= first <= last <= file.lines:
        label = f"line: {first}" if first == last else f"lines: {first}-{last}"
        yield Place(path, label, first, last)


def either_form(paths: Sequence[str]) -> dict[str, str]:
    """Each path by itself and by the form in which it is shown."""
    return {form: path for path in paths for form in (quote_path(path), path)}
