"""The stages of A001 as an engine sees them: what a request asks for, told by its own text alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from repairlab.hosts.emulator.engines.history import text_after_statement
from repairlab.hosts.emulator.engines.protocol import EngineRequest

_SKELETON, _FILES, _PLACES = "skeleton", "files", "places"


class Stage(Enum):
    """Which answer is asked for."""

    FILES = "files"
    LINES = "lines"
    REPAIR = "repair"


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of a skeleton, with the names behind its colon as they stand there."""

    path: str
    names: str


def stage_of(request: EngineRequest) -> Stage | None:
    """The stage; ``None`` for a request that offers tools or shows none of the marked blocks."""
    if request.tools:
        return None
    text = text_after_statement(request.messages)
    if _block(text, _SKELETON) is not None:
        return Stage.FILES
    if _block(text, _FILES) is None:
        return None
    return Stage.LINES if _block(text, _PLACES) is None else Stage.REPAIR


def entries_of(request: EngineRequest) -> list[Entry]:
    """Files of the skeleton in its order."""
    return list(_entries(_block(text_after_statement(request.messages), _SKELETON) or ""))


def source_of(request: EngineRequest) -> str:
    """The numbered source that a later stage shows."""
    return _block(text_after_statement(request.messages), _FILES) or ""


def fenced(lines: Sequence[str]) -> str:
    """An answer in the form that a stage asks for."""
    return "\n".join(["```", *lines, "```"]) + "\n"


def _entries(skeleton: str) -> Iterator[Entry]:
    folder = ""
    for line in skeleton.split("\n"):
        if line.startswith("  "):
            name, _, names = line[2:].partition(": ")
            yield Entry(f"{folder}{name}", names)
        elif line:
            folder = "" if line == "./" else line


def _block(text: str, tag: str) -> str | None:
    """What stands between the marker lines of `tag`, from the first that opens to the last that closes."""
    start, end = text.find(f"\n<{tag}>\n"), text.rfind(f"\n</{tag}>\n")
    begin = start + len(tag) + 4
    return text[begin:end] if start >= 0 and begin <= end else None
