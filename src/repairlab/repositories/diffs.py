r"""A unified diff as values, and the one normalisation that every arm's diffs go through.

Three repairs, each only when the frozen controls name it, and nothing else: a single fenced block is taken
out of its fence, a missing final newline is added, hunk headers are recounted from their bodies
(`repairlab.repositories.parse`). Text travels as bytes, and only ``\n`` ends a line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

Step: TypeAlias = Literal["unwrap-one-fence", "add-final-newline", "recount-hunks"]
Action: TypeAlias = Literal["modify", "create", "delete"]

UNWRAP: Final[Step] = "unwrap-one-fence"
NEWLINE: Final[Step] = "add-final-newline"
RECOUNT: Final[Step] = "recount-hunks"

_FENCE: Final = re.compile(rb"(`{3,}|~{3,})[ \t]*([^`\r\n]*?)[ \t\r]*\n?")
_DIFF_LINE: Final = re.compile(rb"diff --git |--- |\+\+\+ |@@ ")


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a diff is refused: a stable code for counting, a sentence for the model."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a hunk: `kind` is a space, ``+`` or ``-``; `text` has its newline unless marked not to."""

    kind: bytes
    text: bytes


@dataclass(frozen=True, slots=True)
class Hunk:
    """One hunk. `number` counts from 1 within its file; `old_start` is the header's line, from 1."""

    number: int
    old_start: int
    lines: tuple[Line, ...]

    @property
    def old(self) -> list[bytes]:
        """Lines that must be there."""
        return [line.text for line in self.lines if line.kind != b"+"]

    @property
    def new(self) -> list[bytes]:
        """Lines that take their place."""
        return [line.text for line in self.lines if line.kind != b"-"]

    @property
    def trailing_context(self) -> int:
        """Unchanged lines after the last change."""
        kinds = [line.kind for line in self.lines]
        return next((i for i, kind in enumerate(reversed(kinds)) if kind != b" "), len(kinds))


@dataclass(frozen=True, slots=True)
class FilePatch:
    """What a diff does to one file.

    Attributes:
        path: the file, without the ``a/`` or ``b/`` of the diff.
        action: what becomes of it.
        mentioned: every path that its headers name, both sides of a rename or copy included.
        operations: what its headers ask for beyond text: ``rename``, ``copy``, ``mode-change``, ``binary``,
            ``link``, ``gitlink``, ``executable``.
        hunks: in the order of the diff; none for an empty file.
    """

    path: str
    action: Action
    mentioned: tuple[str, ...]
    operations: frozenset[str]
    hunks: tuple[Hunk, ...]


@dataclass(frozen=True, slots=True)
class Patch:
    """A parsed diff. `text` is what git gets; `recounted` says whether it differs from what was parsed."""

    files: tuple[FilePatch, ...]
    text: bytes
    recounted: bool


@dataclass(frozen=True, slots=True)
class Unwrapped:
    """Text of a diff after the first two steps, with those that changed something."""

    text: bytes
    repairs: tuple[Step, ...]


def unwrap(raw: bytes, steps: tuple[Step, ...]) -> Unwrapped | Fault:
    """Take a diff out of its fence and end its last line, as far as `steps` allow."""
    if not raw:
        return Fault("empty", "The diff is empty.")
    if not raw.strip():
        return Fault("blank", "The diff holds nothing but white space.")
    if b"\0" in raw:
        return Fault("binary", "The diff holds a NUL byte; only text files can be changed.")
    repairs: list[Step] = []
    text = raw
    if UNWRAP in steps:
        inner = _fenced(raw)
        if isinstance(inner, Fault):
            return inner
        if inner is not None:
            text = inner
            repairs.append(UNWRAP)
    if not text.endswith(b"\n"):
        if NEWLINE not in steps:
            return Fault("no-final-newline", "The diff does not end with a newline.")
        text += b"\n"
        repairs.append(NEWLINE)
    return Unwrapped(text, tuple(repairs))


def _fenced(raw: bytes) -> bytes | Fault | None:
    """Content of the one fenced block of `raw`; None when there is no fence at all.

    No line of a hunk can be taken for a fence: its first byte is a space, ``+`` or ``-``.
    """
    lines = split_lines(raw)
    blocks: list[tuple[int, int]] = []
    opened: tuple[int, bytes] | None = None
    for number, line in enumerate(lines):
        match = _FENCE.fullmatch(line)
        if match is None:
            continue
        if opened is None:
            opened = (number, match[1])
        elif not match[2] and match[1].startswith(opened[1]):
            blocks.append((opened[0], number))
            opened = None
    if opened is not None:
        return Fault("fence-not-closed", "The diff's code fence is not closed; the text may be cut off.")
    if not blocks:
        return None
    if len(blocks) > 1:
        return Fault(
            "several-fences",
            f"There are {len(blocks)} fenced blocks. Send exactly one diff, without a draft.",
        )
    first, last = blocks[0]
    if any(_DIFF_LINE.match(line) for line in lines[:first] + lines[last + 1 :]):
        return Fault(
            "diff-outside-fence", "There is diff text outside the fenced block. Send exactly one diff."
        )
    return b"".join(lines[first + 1 : last])


def split_lines(text: bytes) -> list[bytes]:
    """Lines with their ends; only a newline byte ends one."""
    return re.findall(rb"[^\n]*\n|[^\n]+", text)
