"""Amendments: repairs of the harness in mid-study, as a chain behind the freeze record.

The first record is never rewritten. Each amendment names the digest of what it follows (the record, or the
amendment before it), the reason, every changed file with both digests, and the new code revision. It may
change code and prose. It may not change the experiment: apart from the code revision, every cell keeps every
field of its identity.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from repairlab.contract.canonical import Json, digest_of
from repairlab.contract.strict import StrictModel
from repairlab.contract.task import Sha256
from repairlab.manifest.cell import Cell, Manifest


class Change(StrictModel):
    """One changed file; ``None`` stands for a file that was not there."""

    before: Sha256 | None
    after: Sha256 | None


class Amendment(StrictModel):
    """One link of the chain."""

    schema_version: Literal[1]
    experiment: str
    number: int = Field(ge=1)
    parent: Sha256
    """Digest of the freeze record, or of the amendment before this one."""
    reason: str = Field(min_length=1)
    changed: dict[str, Change]
    """By path: files of the study, and files of the program under ``src/``."""
    code: Sha256
    """The new research-code revision."""
    manifest: Sha256
    """Digest of the manifest with the new code revision in every identity."""
    source_commit: str | None
    source_dirty: bool
    amended_at: str
    """UTC."""
    tag: str = ""
    """Name of the signed git tag that is to witness this amendment; empty for none."""

    def digest(self) -> str:
        """SHA-256 of the canonical JSON of the amendment."""
        fields: Json = self.model_dump(mode="json")
        return digest_of(fields)


def recoded(cell: Cell, code: str) -> Cell:
    """The same cell under another code revision."""
    identity = cell.identity.model_copy(update={"code": code})
    return cell.model_copy(update={"identity": identity, "digest": identity.digest()})


def with_code(manifest: Manifest, code: str) -> Manifest:
    """The same manifest under another code revision."""
    return manifest.model_copy(update={"cells": tuple(recoded(cell, code) for cell in manifest.cells)})


def changes(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, Change]:
    """What differs between two sets of files, by path."""
    return {
        path: Change(before=before.get(path), after=after.get(path))
        for path in sorted(before.keys() | after.keys())
        if before.get(path) != after.get(path)
    }


def applied(files: Mapping[str, str], changed: Mapping[str, Change]) -> dict[str, str]:
    """`files` after `changed`.

    Raises:
        ValueError: a change does not start from what is there.
    """
    result = dict(files)
    for path, change in changed.items():
        if result.get(path) != change.before:
            raise ValueError(f"{path}: the change starts from other bytes than were frozen")
        if change.after is None:
            del result[path]
        else:
            result[path] = change.after
    return result


def first_moved_field(before: Manifest, after: Manifest) -> str:
    """What differs between two manifests beside the code revision; empty when nothing does."""
    if len(before.cells) != len(after.cells):
        return f"{len(before.cells)} cells became {len(after.cells)}"
    for was, now in zip(before.cells, after.cells, strict=True):
        if (was.task, was.treatment, was.model) != (now.task, now.treatment, now.model):
            return f"the order: cell {was.sequence + 1} was {_label(was)} and is {_label(now)}"
        for field in type(was.identity).model_fields:
            if field != "code" and getattr(was.identity, field) != getattr(now.identity, field):
                return f"the {field} of {_label(was)}"
    return ""


def _label(cell: Cell) -> str:
    return f"{cell.task}.{cell.treatment}.{cell.model}.s{cell.identity.seed}.r{cell.identity.repetition}"
