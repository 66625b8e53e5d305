"""Which files a patch may touch, and how: pure checks before git sees anything.

A path is judged as it is written in a header, on both sides, and once more against the tree. The codes are
stable; the messages name nothing but what the diff itself names, so they cannot tell of hidden files.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

from repairlab.contract.controls import PatchRules
from repairlab.contract.task import Language
from repairlab.repositories.diffs import Fault, FilePatch, Patch
from repairlab.repositories.headers import shown

_OPERATIONS: Final = {
    "gitlink": "submodules cannot be changed",
    "link": "symbolic links cannot be made or changed",
    "rename": "files cannot be renamed; delete one and create the other",
    "copy": "files cannot be copied; create the new one with its lines",
    "binary": "binary content cannot be changed",
    "mode-change": "file modes cannot be changed",
    "executable": "a new file must have mode 100644",
}
"""In the order in which a refusal names them."""

_UNSEEN: Final = dict.fromkeys(
    [0x00AD, *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070), 0xFEFF]
)


def check_patch(patch: Patch, rules: PatchRules, language: Language) -> Fault | None:
    """The first thing that `patch` may not do, or None."""
    for file in patch.files:
        for path in file.mentioned:
            fault = check_path(path)
            if fault:
                return fault
        for operation, words in _OPERATIONS.items():
            if operation in file.operations:
                return Fault(operation, f"{shown(file.path)}: {words}.")
        fault = check_production(file.path, rules, language)
        if fault:
            return fault
    return _check_repeats(patch.files)


def check_path(path: str) -> Fault | None:
    """Whether `path` is relative, normal and inside the tree; None when it is."""
    name = shown(path)
    if path.startswith("/"):
        return Fault("absolute-path", f"{name}: paths must be relative to the repository's root.")
    parts = path.split("/")
    if ".." in parts:
        return Fault("outside-tree", f"{name}: a path must not hold '..'.")
    if any(part in ("", ".") for part in parts):
        return Fault("odd-path", f"{name or 'An empty path'}: not a plain relative path.")
    if "\\" in path or any(unicodedata.category(c) in ("Cc", "Cs") for c in path):
        return Fault("odd-path", f"{name}: backslashes and control characters cannot stand in a path.")
    if any(_is_git(part) for part in parts):
        return Fault("git-folder", f"{name}: git's own files cannot be changed.")
    return None


def check_production(path: str, rules: PatchRules, language: Language) -> Fault | None:
    """Whether `path` names a production source file that no rule protects; None when it does."""
    *folders, name = [_folded(part) for part in path.split("/")]
    protected_folders = {_folded(folder) for folder in rules.protected_folders}
    protected = any(folder in protected_folders for folder in [*folders, name])
    protected |= any(fnmatchcase(name, _folded(pattern)) for pattern in rules.protected_names)
    if protected:
        return Fault("protected-file", f"{shown(path)}: tests and what steers them cannot be changed.")
    suffixes = rules.python_suffixes if language == "python" else rules.go_suffixes
    if not path.endswith(suffixes):
        return Fault(
            "not-production",
            f"{shown(path)}: only production source files ({', '.join(suffixes)}) can be changed.",
        )
    return None


@dataclass(frozen=True, slots=True)
class Occupied:
    """What stands where in a checkout.

    Attributes:
        modes: path -> mode of every entry of the base commit.
        folders: every folder that holds one.
    """

    modes: Mapping[str, str]
    folders: frozenset[str]

    @classmethod
    def of(cls, modes: Mapping[str, str]) -> Occupied:
        """Derive the folders from `modes`."""
        folders: set[str] = set()
        for path in modes:
            at = path.rfind("/")
            while at > 0 and path[:at] not in folders:
                folders.add(path[:at])
                at = path.rfind("/", 0, at)
        return cls(modes, frozenset(folders))

    def check(self, file: FilePatch, exists: bool, others: Iterable[str]) -> Fault | None:
        """Whether `file` can be what it says, in this tree.

        Args:
            file: one file of a patch.
            exists: whether a regular file stands at its path now.
            others: the paths of all files now.
        """
        name = shown(file.path)
        parts = file.path.split("/")
        above = ["/".join(parts[:depth]) for depth in range(1, len(parts))]
        if any(self.modes.get(folder, "") in ("120000", "160000") for folder in [*above, file.path]):
            return Fault("through-link", f"{name}: a symbolic link or submodule stands in this path.")
        if file.path in self.folders or any(folder in self.modes for folder in above):
            return Fault("not-a-file", f"{name}: a folder stands where a file is meant, or the reverse.")
        if file.action == "create":
            if exists:
                return Fault("file-exists", f"{name}: the file exists already; change it instead.")
            return self._check_spelling(file.path, others)
        if not exists:
            return Fault("no-such-file", f"{name}: there is no such file.")
        return None

    def _check_spelling(self, path: str, others: Iterable[str]) -> Fault | None:
        """A new path must differ from each other in more than case: not every file system could hold both."""
        folded = _folded(path)
        near = sorted(other for other in others if other != path and _folded(other) == folded)
        if near:
            return Fault(
                "file-exists", f"{shown(path)}: differs from an existing file in its spelling alone."
            )
        return None


def _check_repeats(files: Iterable[FilePatch]) -> Fault | None:
    """A file may come in several parts of a diff, but only to be modified."""
    seen: dict[str, FilePatch] = {}
    for file in files:
        other = seen.setdefault(file.path, file)
        if other is not file and (file.action != "modify" or other.action != "modify"):
            return Fault("file-twice", f"{shown(file.path)}: created or deleted, and named a second time.")
    return None


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold()


def _is_git(part: str) -> bool:
    """Names that some file system takes for ``.git``, and git's own files such as ``.gitattributes``."""
    plain = unicodedata.normalize("NFKC", part.translate(_UNSEEN)).casefold().strip()
    return plain.startswith((".git", "git~"))
