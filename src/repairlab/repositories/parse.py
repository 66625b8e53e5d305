"""Read a unified diff byte by byte, the way git reads it, and recount its hunks.

The parser settles the structure of a diff: which lines belong to which hunk of which file. It hands git a
text whose counts say exactly that, so that git cannot read it in another way, and refuses what is neither
header nor hunk instead of skipping it.

A hunk's body ends where its header's counts say, when they fit: every line has a legal first byte and a
header, a blank line or the end follows. When they do not fit, the body ends at the next header or at the
first line that cannot belong to a hunk, and the counts are taken from it; blank lines without even a space
at the end of such a body separate, they are no context. The new start follows from the old start and the
hunks before.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Final, NoReturn

from repairlab.repositories.diffs import Fault, FilePatch, Hunk, Line, Patch, split_lines
from repairlab.repositories.headers import (
    EXTENDED,
    Header,
    MalformedError,
    chomp,
    extend,
    git_names,
    name_of,
    refuse,
    shown,
)

_HUNK: Final = re.compile(rb"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@(.*\n?)", re.DOTALL)
_BINARY: Final = (b"GIT binary patch", b"Binary files ")


def parse(text: bytes, *, recount: bool) -> Patch | Fault:
    """Parse `text`, which ends with a newline.

    Args:
        text: the diff and nothing else.
        recount: whether a hunk header that disagrees with its body is repaired, or refused.
    """
    try:
        return _Parser(split_lines(text), recount).patch()
    except MalformedError as malformed:
        return malformed.fault


class _Parser:
    def __init__(self, lines: list[bytes], recount: bool) -> None:
        self._lines = lines
        self._at = 0
        self._recount = recount
        self._out: list[bytes] = []
        self._recounted = False
        self._shifts: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)

    def patch(self) -> Patch:
        self._refuse_one_line()
        files: list[FilePatch] = []
        while self._at < len(self._lines):
            line = self._peek()
            if _is_blank(line):
                self._take()
            elif line.startswith(b"diff --git "):
                files.append(self._git_section())
            elif line.startswith(b"--- "):
                files.append(self._plain_section())
            else:
                self._refuse_text(line, bool(files))
        return Patch(tuple(files), b"".join(self._out), self._recounted)

    def _refuse_one_line(self) -> None:
        """A diff is never one line. Which escapes in it are line ends cannot be known, so none is made."""
        (first, *more) = self._lines or [b""]
        if not more and first.startswith((b"--- ", b"diff --git ")) and b"\\n" in first:
            refuse("one-line", "The diff is one line: its line ends are written as backslash and n.")

    def _refuse_text(self, line: bytes, after_a_file: bool) -> NoReturn:
        number = self._at + 1
        if line.startswith(b"@@"):
            refuse(
                "hunk-without-file", f"Line {number}: a hunk without '--- a/…' and '+++ b/…' lines above it."
            )
        if line.startswith(b"*** "):
            refuse(
                "not-a-unified-diff",
                "This is another patch format. Send a unified diff (--- a/…, +++ b/…, @@).",
            )
        if after_a_file:
            refuse(
                "text-outside-diff", f"Line {number} of the diff is neither a header nor a line of a hunk."
            )
        refuse("no-diff", "There is no unified diff here. It starts with '--- a/PATH' and '+++ b/PATH'.")

    def _git_section(self) -> FilePatch:
        header = Header(git_style=True)
        old, new = git_names(self._take())
        header.names = [old, new]
        header.old, header.new = old, new
        while match := EXTENDED.fullmatch(self._peek()):
            extend(header, match[1], chomp(match[2]))
            self._take()
        if self._peek().startswith(_BINARY):
            header.operations.add("binary")
            while self._at < len(self._lines) and not self._peek().startswith(b"diff --git "):
                self._take()
            return header.file(())
        if self._peek().startswith(b"--- "):
            self._file_lines(header)
            return header.file(self._hunks(header))
        return header.file(())

    def _plain_section(self) -> FilePatch:
        header = Header()
        self._file_lines(header)
        return header.file(self._hunks(header))

    def _file_lines(self, header: Header) -> None:
        """The ``---`` and ``+++`` lines."""
        old = name_of(self._take()[4:], b"a/")
        if not self._peek().startswith(b"+++ "):
            refuse("no-new-name", f"Line {self._at + 1}: '+++ b/…' must follow '--- a/…'.")
        new = name_of(self._take()[4:], b"b/")
        header.names += [name for name in (old, new) if name is not None]
        if header.git_style and (header.created, header.deleted) != (old is None, new is None):
            refuse(
                "header-contradiction",
                "Below 'diff --git', /dev/null and 'new file mode 100644' (or 'deleted file mode 100644') "
                "go together.",
            )
        header.created, header.deleted = old is None, new is None
        header.old, header.new = old, new

    def _hunks(self, header: Header) -> tuple[Hunk, ...]:
        path = header.new if header.new is not None else header.old or ""
        hunks: list[Hunk] = []
        while self._peek().startswith(b"@@"):
            hunks.append(self._hunk(len(hunks) + 1, path, header.git_style))
            self._drop_blanks_before_a_hunk()
        return tuple(hunks)

    def _drop_blanks_before_a_hunk(self) -> None:
        """Git would end the file's patch at a blank line and lose the next hunk."""
        end = self._at
        while end < len(self._lines) and _is_blank(self._lines[end]):
            end += 1
        if end > self._at and end < len(self._lines) and self._lines[end].startswith(b"@@") and self._recount:
            self._recounted = True
            self._at = end

    def _hunk(self, number: int, path: str, git_style: bool) -> Hunk:
        title = self._peek()
        match = _HUNK.fullmatch(title)
        if match is None:
            refuse(
                "bad-hunk-header",
                f"Hunk {number} of {shown(path)} must begin with '@@ -LINE,COUNT +LINE,COUNT @@'.",
            )
        self._at += 1
        start, declared = int(match[1]), (_count(match[2]), _count(match[4]))
        end = self._declared_end(*declared, git_style)
        if end is None:
            end = self._scanned_end()
        body = self._lines[self._at : end]
        lines = _hunk_lines(body, number, path)
        counts = (sum(line.kind != b"+" for line in lines), sum(line.kind != b"-" for line in lines))
        if counts != declared and not self._recount:
            refuse(
                "hunk-counts",
                f"Hunk {number} of {shown(path)} announces {declared[0]} old and {declared[1]} new lines, "
                f"its body has {counts[0]} and {counts[1]}.",
            )
        if all(line.kind == b" " for line in lines):
            refuse("hunk-changes-nothing", f"Hunk {number} of {shown(path)} holds no '+' and no '-' line.")
        self._out.append(self._title(title, match, start, counts, path))
        self._out += body
        self._at = end
        return Hunk(number, start, lines)

    def _title(
        self, title: bytes, match: re.Match[bytes], start: int, counts: tuple[int, int], path: str
    ) -> bytes:
        """The hunk header that goes with the body; the given one when it is right."""
        old, new = counts
        shift = sum(delta for earlier, delta in self._shifts[path] if earlier < start)
        self._shifts[path].append((start, new - old))
        new_start = max(0, start + shift + (1 if old == 0 else 0) - (1 if new == 0 else 0))
        given = (_count(match[2]), int(match[3]), _count(match[4]))
        if given == (old, new_start, new) or not self._recount:
            return title
        self._recounted = True
        return b"@@ -%d,%d +%d,%d @@%s" % (start, old, new_start, new, match[5])

    def _declared_end(self, old: int, new: int, git_style: bool) -> int | None:
        """Where the body ends by the header's counts, None when they do not fit."""
        end = self._at
        while old > 0 or new > 0:
            if end == len(self._lines) or (not git_style and self._is_file_header(end)):
                return None
            kind = _kind(self._lines[end])
            if kind is None:
                return None
            old -= kind in b" -"
            new -= kind in b" +"
            end += 1
        if old < 0 or new < 0:
            return None
        while end < len(self._lines) and self._lines[end].startswith(b"\\"):
            end += 1
        following = end
        while following < len(self._lines) and _is_blank(self._lines[following]):
            following += 1
        return end if self._is_boundary(following) else None

    def _scanned_end(self) -> int:
        """Where the body ends by its own lines."""
        end = self._at
        while not self._is_boundary(end) and _kind(self._lines[end]) is not None:
            end += 1
        while end > self._at and self._lines[end - 1] == b"\n":
            end -= 1
        return end

    def _is_boundary(self, at: int) -> bool:
        if at == len(self._lines):
            return True
        return self._lines[at].startswith((b"@@", b"diff --git ")) or self._is_file_header(at)

    def _is_file_header(self, at: int) -> bool:
        first, second, third = [*self._lines[at : at + 3], b"", b"", b""][:3]
        return first.startswith(b"--- ") and second.startswith(b"+++ ") and third.startswith(b"@@")

    def _peek(self) -> bytes:
        return self._lines[self._at] if self._at < len(self._lines) else b""

    def _take(self) -> bytes:
        line = self._peek()
        self._out.append(line)
        self._at += 1
        return line


def _kind(line: bytes) -> bytes | None:
    """First byte of a line of a hunk; a line that lost even its space is context, as git has it."""
    if line == b"\n":
        return b" "
    return line[:1] if line[:1] in (b" ", b"+", b"-", b"\\") else None


def _is_blank(line: bytes) -> bool:
    return line in (b"\n", b"\r\n")


def _count(digits: bytes | None) -> int:
    return 1 if digits is None else int(digits)


def _hunk_lines(body: list[bytes], number: int, path: str) -> tuple[Line, ...]:
    lines: list[Line] = []
    for raw in body:
        if raw.startswith(b"\\"):
            if not lines:
                refuse("bad-hunk", f"Hunk {number} of {shown(path)} begins with a '\\' line.")
            last = lines[-1]
            lines[-1] = Line(last.kind, last.text.removesuffix(b"\n"))
        else:
            lines.append(Line(b" ", b"\n") if raw == b"\n" else Line(raw[:1], raw[1:]))
    return tuple(lines)
