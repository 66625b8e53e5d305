"""The records of a staged treatment, in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from repairlab.store.transcript import Numbered, PublicRun, StageShown, StageTaken, Validation

Told: TypeAlias = tuple[str, str, tuple[str, ...]]
"""Title on one line, text, facts: see `repairlab.store.steps.Step`."""


def stage_told(record: Numbered) -> Told | None:
    """Of a record of a stage; ``None`` for any other."""
    match record:
        case StageShown():
            size = f"{record.tokens} of at most {record.cap} tokens by the rule"
            return f"stage {record.stage} is shown {size}", "", tuple(_shown(record))
        case StageTaken():
            mark = "" if record.usable else f" (unusable: {record.fault})"
            return f"taken of stage {record.stage}{mark}", "\n".join(record.selected), tuple(_taken(record))
        case Validation():
            return "public tests behind the patch", "", (tests_line(record.test_run),)
        case _:
            return None


def tests_line(run: PublicRun) -> str:
    """How many public tests ended how."""
    return f"tests: {run.end}; {_counts(run.outcomes.values()) or 'none'}"


def _shown(record: StageShown) -> Iterator[str]:
    if record.skeleton is not None:
        found = record.skeleton
        yield f"{found.files_named} of {found.files} files, {found.files_with_names} with names"
        yield f"{found.names_shown} of {found.names} names"
    yield from (f"opened: {one.path}:{one.start_line}-{one.end_line}" for one in record.shown)
    yield from (f"left out, in whole or in part: {path}" for path in record.left_out)


def _taken(record: StageTaken) -> Iterator[str]:
    for one in record.places:
        yield f"{one.path}: {one.label} ({one.start_line}-{one.end_line})"
    if record.dropped is not None:
        counts = record.dropped
        yield f"dropped: {counts.unknown} unknown, {counts.repeated} repeated, {counts.beyond} beyond"
    if record.patch is not None:
        if record.patch.refused:
            yield f"diff refused: {record.patch.refused}"
        yield from (f"edited: {path}" for path in record.patch.changed)


def _counts(names: Iterable[str]) -> str:
    every = list(names)
    return ", ".join(f"{every.count(name)} {name}" for name in sorted(set(every)))
