"""The records of a staged treatment, in words."""

from __future__ import annotations

from collections import Counter

from repairlab.store.transcript import Record, StageShown, StageTaken, Validation

_TEXT_LINES = 12


def stage_step(record: Record) -> str:
    """One text for a record of a stage; empty for any other."""
    match record:
        case StageShown():
            return f"stage {record.stage} is shown:\n{indented(_shown(record))}"
        case StageTaken():
            mark = "" if record.usable else f" (unusable: {record.fault})"
            return f"taken of stage {record.stage}{mark}:\n{indented(_taken(record))}"
        case Validation():
            return f"public tests behind the patch: {_outcomes(record)}"
        case _:
            return ""


def indented(text: str) -> str:
    """The first lines of `text` as they stand under a step."""
    lines = text.split("\n")
    shown = lines[:_TEXT_LINES]
    if len(lines) > len(shown):
        shown.append(f"... ({len(lines) - len(shown)} more lines)")
    return "\n".join(f"        {line}" for line in shown)


def _shown(record: StageShown) -> str:
    """What the request of a stage shows."""
    lines = [f"{record.tokens} of at most {record.cap} tokens by the rule"]
    if record.skeleton is not None:
        found = record.skeleton
        lines.append(f"{found.files_named} of {found.files} files, {found.files_with_names} with names")
        lines.append(f"{found.names_shown} of {found.names} names")
    lines += [f"{one.path}:{one.start_line}-{one.end_line}" for one in record.shown]
    lines += [f"left out, in whole or in part: {path}" for path in record.left_out]
    return "\n".join(lines)


def _taken(record: StageTaken) -> str:
    """What was taken of a stage's answer."""
    lines = list(record.selected)
    lines += [f"{one.path}: {one.label} ({one.start_line}-{one.end_line})" for one in record.places]
    if record.dropped is not None:
        counts = record.dropped
        lines.append(f"dropped: {counts.unknown} unknown, {counts.repeated} repeated, {counts.beyond} beyond")
    if record.patch is not None:
        lines.append("applied: " + ", ".join(record.patch.changed) if not record.patch.refused else "refused")
    return "\n".join(lines) or "nothing"


def _outcomes(record: Validation) -> str:
    """How many public tests ended how."""
    counts = Counter(record.test_run.outcomes.values())
    return ", ".join(f"{count} {name}" for name, count in sorted(counts.items())) or record.test_run.end
