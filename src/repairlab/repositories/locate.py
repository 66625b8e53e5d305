"""Where each hunk of a file goes, by git's rules, and what comes out: a second opinion beside ``git apply``.

Git without fuzz places a hunk where its old lines stand, byte for byte, nearest to the stated line; one that
starts at line 1 must match at the top, one without context below at the end. Where the stated line is
not exact and several places match, git silently takes the nearest: here that is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from repairlab.repositories.diffs import Fault, FilePatch, Hunk, split_lines
from repairlab.repositories.headers import shown


@dataclass(frozen=True, slots=True)
class AppliedHunk:
    """Where a hunk went.

    Attributes:
        path: its file.
        number: from 1 within the file's part of the diff.
        stated: the line that its header names, from 1, in the file before the diff.
        found: the line where its old lines stand, in the same count.
        also: the other lines where they stand as well, for the reader to see that the place was a choice.
    """

    path: str
    number: int
    stated: int
    found: int
    also: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Placed:
    """A file after its hunks: new `content`, and where each hunk went."""

    content: bytes
    hunks: tuple[AppliedHunk, ...]


def place(file: FilePatch, content: bytes) -> Placed | Fault:
    """Put the hunks of `file` into `content`."""
    image = _Image(split_lines(content))
    placed: list[AppliedHunk] = []
    for hunk in file.hunks:
        anywhere = image.places(hunk.old) if hunk.old else [0]
        at = _find(hunk, image, anywhere, file.path)
        if isinstance(at, Fault):
            return at
        lines = [image.before(other) + 1 for other in anywhere if other != at]
        found = image.before(at) + 1
        placed.append(AppliedHunk(file.path, hunk.number, hunk.old_start, found, tuple(lines)))
        image.replace(at, hunk)
    return Placed(b"".join(image.lines), tuple(placed))


class _Image:
    """The file while hunks go in. Lines that a hunk has put in match no later hunk."""

    def __init__(self, lines: list[bytes]) -> None:
        self.lines = lines
        self.patched = [False] * len(lines)
        self._done: list[tuple[int, int]] = []

    def places(self, old: Sequence[bytes], same: Callable[[bytes], bytes] | None = None) -> list[int]:
        """Every index at which the lines `old` (at least one) stand, compared through `same` if given."""
        have = self.lines if same is None else [same(line) for line in self.lines]
        want = list(old) if same is None else [same(line) for line in old]
        found: list[int] = []
        at = -1
        while True:
            try:
                at = have.index(want[0], at + 1, len(have) - len(want) + 1)
            except ValueError:
                return found
            if have[at : at + len(want)] == want and not any(self.patched[at : at + len(want)]):
                found.append(at)

    def before(self, at: int) -> int:
        """Index in the original file of index `at`."""
        return at - sum(delta for where, delta in self._done if where < at)

    def after(self, original: int) -> int:
        """Index now of what stood at index `original`."""
        at = original
        for where, delta in sorted(self._done):
            at += delta if where < at else 0
        return at

    def replace(self, at: int, hunk: Hunk) -> None:
        old, new = hunk.old, hunk.new
        self.lines[at : at + len(old)] = new
        self.patched[at : at + len(old)] = [True] * len(new)
        delta = len(new) - len(old)
        self._done = [(where + (delta if where > at else 0), d) for where, d in self._done]
        self._done.append((at, delta))


def _find(hunk: Hunk, image: _Image, anywhere: list[int], path: str) -> int | Fault:
    old = hunk.old
    name = f"Hunk {hunk.number} of {shown(path)}"
    if not old:
        if image.lines:
            return Fault("no-context", f"{name} holds only added lines. Add unchanged lines around them.")
        return 0
    at_top = [0] if hunk.old_start <= 1 else None
    at_end = [len(image.lines) - len(old)] if hunk.trailing_context == 0 else None
    allowed = [at for at in anywhere if _fits(at, at_top) and _fits(at, at_end)]
    if not allowed:
        return _why_not(hunk, image, anywhere, name)
    stated = image.after(hunk.old_start - 1)
    if stated in allowed:
        return stated
    if len(allowed) > 1:
        lines = ", ".join(str(image.before(at) + 1) for at in allowed[:5])
        return Fault(
            "ambiguous-hunk",
            f"{name} states line {hunk.old_start}, but its lines stand in several other places ({lines}). "
            "Give the right line, or more context.",
        )
    return allowed[0]


def _fits(at: int, anchor: list[int] | None) -> bool:
    return anchor is None or at in anchor


def _why_not(hunk: Hunk, image: _Image, anywhere: list[int], name: str) -> Fault:
    """The likeliest reason that a hunk has no place, most telling first."""
    old, new = hunk.old, hunk.new
    if anywhere:
        side = "end" if hunk.trailing_context == 0 else "beginning"
        where = "below its last change" if side == "end" else "above its first change, with their line number"
        return Fault(
            "context-missing",
            f"{name} can only match at the {side} of the file as it stands. Add unchanged lines {where}.",
        )
    if new and image.places(new):
        return Fault("already-applied", f"{name}: the file already has the new lines here.")
    if image.places(old, _without_return):
        have = b"\r\n" in b"".join(image.lines)
        ends = "CRLF (\\r\\n)" if have else "LF (\\n)"
        return Fault("line-endings", f"{name} differs only in line endings: the file has {ends} here.")
    if image.places(old, _without_newline):
        return Fault(
            "end-of-file-marker",
            f"{name} meets the end of a file that has no final newline. "
            "Write '\\ No newline at end of file' below that line.",
        )
    if image.places(old, _without_indent):
        return Fault("white-space", f"{name} differs only in white space (tabs or spaces) from the file.")
    return Fault("context-mismatch", f"{name}: {_first_difference(hunk, image)}. Read the file again.")


def _first_difference(hunk: Hunk, image: _Image) -> str:
    start = max(0, image.after(hunk.old_start - 1))
    for offset, want in enumerate(hunk.old):
        at = start + offset
        if at >= len(image.lines):
            return f"the file ends before line {image.before(at) + 1}"
        if image.lines[at] != want:
            return f"its lines are not in the file (at the stated place, line {image.before(at) + 1} differs)"
    return "its lines overlap those of an earlier hunk"


def _without_return(line: bytes) -> bytes:
    return line.replace(b"\r\n", b"\n")


def _without_newline(line: bytes) -> bytes:
    return line.removesuffix(b"\n")


def _without_indent(line: bytes) -> bytes:
    return b" ".join(line.split())
