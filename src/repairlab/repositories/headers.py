"""The header lines of a unified diff: names, their quoting and prefixes, modes, git's extended lines."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final, NoReturn

from repairlab.repositories.diffs import Action, Fault, FilePatch, Hunk

EXTENDED: Final = re.compile(
    rb"(old mode|new mode|deleted file mode|new file mode|copy from|copy to|rename from|rename to|rename old"
    rb"|rename new|similarity index|dissimilarity index|index) (.*)",
    re.DOTALL,
)
_ESCAPES: Final = {b"a": 7, b"b": 8, b"t": 9, b"n": 10, b"v": 11, b"f": 12, b"r": 13, b'"': 34, b"\\": 92}
_ESCAPE: Final = re.compile(rb"\\([0-3][0-7]{2}|.)", re.DOTALL)
_QUOTED: Final = re.compile(rb'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_MODES: Final = {b"100644": "", b"100755": "executable", b"120000": "link", b"160000": "gitlink"}


class MalformedError(Exception):
    """Leaves the parser from any depth; `repairlab.repositories.parse` turns it into a value."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.fault = Fault(code, message)


def refuse(code: str, message: str) -> NoReturn:
    """Give up on the whole diff."""
    raise MalformedError(code, message)


@dataclass(slots=True)
class Header:
    """What the lines above the hunks of one file say."""

    old: str | None = None
    new: str | None = None
    names: list[str] = field(default_factory=list)
    operations: set[str] = field(default_factory=set)
    created: bool = False
    deleted: bool = False
    git_style: bool = False

    def file(self, hunks: tuple[Hunk, ...]) -> FilePatch:
        """The file patch, once all names agree."""
        path = self.new if self.new is not None else self.old
        if path is None:
            refuse("no-path", "Both sides of a file header are /dev/null.")
        if not self.operations & {"rename", "copy"} and len(set(self.names)) > 1:
            first, second = sorted(set(self.names))[:2]
            refuse("paths-disagree", f"One file header names two files, {shown(first)} and {shown(second)}.")
        if self.created and self.deleted:
            refuse("paths-disagree", f"The header of {shown(path)} both creates and deletes it.")
        action: Action = "create" if self.created else "delete" if self.deleted else "modify"
        if not hunks and action == "modify" and not self.operations:
            refuse("no-hunks", f"The header of {shown(path)} has no hunk below it.")
        return FilePatch(path, action, tuple(self.names), frozenset(self.operations), hunks)


def extend(header: Header, key: bytes, value: bytes) -> None:
    """Take one extended header line of git into `header`."""
    if key in (b"old mode", b"new mode"):
        header.operations.add("mode-change")
    elif key.startswith((b"copy ", b"rename ")):
        header.operations.add("copy" if key.startswith(b"copy") else "rename")
        header.names.append(_text(_unquoted(value)))
    if key in (b"new mode", b"new file mode", b"deleted file mode"):
        kind = _MODES.get(value, "mode-change")
        header.operations |= {kind} - {"", "executable" if key == b"deleted file mode" else ""}
    header.created |= key == b"new file mode"
    header.deleted |= key == b"deleted file mode"


def git_names(line: bytes) -> tuple[str, str]:
    """Both names of a ``diff --git`` line. Without quotes they can only be told apart when they are equal."""
    rest = chomp(line.removeprefix(b"diff --git "))
    if rest.startswith(b'"'):
        match = _QUOTED.match(rest)
        first, second = (rest[: match.end()], rest[match.end() + 1 :]) if match else (rest, b"")
    elif rest.endswith(b'"') and b' "' in rest:
        first, second = rest[: rest.index(b' "')], rest[rest.index(b' "') + 1 :]
    elif b" " in rest and rest.count(b" ") == 1:
        first, second = rest.split(b" ")
    else:
        first, second = rest[: len(rest) // 2], rest[len(rest) // 2 + 1 :]
    old, new = name_of(first, b"a/"), name_of(second, b"b/")
    if old is None or new is None:
        refuse("no-path", "A 'diff --git' line names the file on both sides, not /dev/null.")
    return old, new


def name_of(raw: bytes, prefix: bytes) -> str | None:
    """Path of a header without its prefix; None for ``/dev/null``. A time stamp follows after a tab."""
    text = chomp(raw)
    text = _unquoted(text) if text.startswith(b'"') else text.split(b"\t", 1)[0]
    if text == b"/dev/null":
        return None
    if text.startswith(b"/"):
        return _text(text)  # the policy refuses it by its own name
    if not text.startswith(prefix):
        refuse(
            "prefix-missing",
            f"{shown(_text(text))}: write 'a/' before the path after '---' and 'b/' before that after '+++'.",
        )
    return _text(text[len(prefix) :])


def _unquoted(text: bytes) -> bytes:
    """A name in git's C-style quotes, as bytes; any other text as it is."""
    match = _QUOTED.match(text)
    if match is None:
        return text

    def byte(escape: re.Match[bytes]) -> bytes:
        code = escape[1]
        if len(code) == 3:
            return bytes([int(code, 8)])
        if code not in _ESCAPES:
            refuse("bad-quoting", "A quoted path holds an escape that git does not know.")
        return bytes([_ESCAPES[code]])

    return _ESCAPE.sub(byte, match[1])


def _text(name: bytes) -> str:
    try:
        return name.decode("utf-8")
    except UnicodeDecodeError:
        refuse("odd-path", "A path is not UTF-8.")


def shown(path: str) -> str:
    """`path` for a message: one line, no control characters, not too long."""
    plain = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in path)
    return plain if len(plain) <= 120 else plain[:117] + "…"


def chomp(line: bytes) -> bytes:
    """`line` without its end."""
    return line.removesuffix(b"\n").removesuffix(b"\r")
