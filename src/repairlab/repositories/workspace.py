"""An agent's checkout: a template that nobody writes to, under a small layer of edits.

Nothing is copied and nothing mounted, so a workspace costs a folder. An edit goes through the one
normalisation, the policy, our own placing of the hunks and the real ``git apply``; it counts only when git's
result is, byte for byte, the one that the diff's lines say.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self, TypeAlias

from repairlab.contract.controls import PatchRules
from repairlab.contract.errors import IntegrityViolation
from repairlab.contract.task import Language
from repairlab.repositories.canonical import diff_states
from repairlab.repositories.diffs import RECOUNT, Fault, Patch, Step, unwrap
from repairlab.repositories.headers import shown
from repairlab.repositories.layer import Layer
from repairlab.repositories.locate import AppliedHunk, place
from repairlab.repositories.mirrors import TreeEntry
from repairlab.repositories.parse import parse
from repairlab.repositories.policy import Occupied, check_patch
from repairlab.repositories.scratch import apply_strictly
from repairlab.repositories.templates import Template


@dataclass(frozen=True, slots=True)
class Applied:
    """A diff that took effect as a whole.

    Attributes:
        paths: the files that changed, by their contents, sorted.
        raw: the text as the model sent it.
        normalised: the text that git applied.
        repairs: the normalisation steps that changed something, in their order.
        hunks: where each hunk went.
        white_space_only: the change would vanish if all white space were removed.
    """

    paths: tuple[str, ...]
    raw: str
    normalised: str
    repairs: tuple[Step, ...]
    hunks: tuple[AppliedHunk, ...]
    white_space_only: bool


@dataclass(frozen=True, slots=True)
class Refused:
    """A diff that changed nothing: a stable `code`, a `message` for the model, the text as it was sent."""

    code: str
    message: str
    raw: str


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What a patch makes of the files that it names."""

    contents: Mapping[str, bytes | None]
    hunks: tuple[AppliedHunk, ...]


Answer: TypeAlias = Applied | Refused


class Workspace:
    """One checkout to read and edit.

    Args:
        template: the base commit.
        layer_dir: folder of the edits; it is made when absent, and taken up again when it exists.
        rules: the frozen patch policy.
        language: decides which files are production sources.

    Raises:
        IntegrityViolation: the folder holds edits of another base.
    """

    def __init__(self, template: Template, layer_dir: Path, rules: PatchRules, language: Language) -> None:
        self.template = template
        self._rules = rules
        self._language = language
        self._entries: dict[str, TreeEntry] = {entry.path: entry for entry in template.files}
        self._occupied = Occupied.of({entry.path: entry.mode for entry in template.files})
        layer_dir.mkdir(parents=True, exist_ok=True)
        self._layer = Layer(layer_dir, template.tree_id)
        self._edits = self._layer.load()

    @classmethod
    def from_patch(
        cls, template: Template, layer_dir: Path, rules: PatchRules, language: Language, patch: bytes
    ) -> Self:
        """The workspace that a reconstructed `patch` (see `final_patch`) makes of the base.

        Raises:
            IntegrityViolation: the patch is refused, or not in normal form.
        """
        workspace = cls(template, layer_dir, rules, language)
        if workspace._edits:
            raise IntegrityViolation(f"{layer_dir}: an evaluation starts from a fresh folder")
        if patch:
            answer = workspace._apply(patch, patch.decode("utf-8", "surrogateescape"))
            if isinstance(answer, Refused):
                raise IntegrityViolation(f"a reconstructed patch is refused: {answer.message}")
            if answer.repairs:
                raise IntegrityViolation(
                    f"a reconstructed patch needed a repair: {', '.join(answer.repairs)}"
                )
        return workspace

    def read(self, path: str) -> bytes | None:
        """Content of the file at `path` now; None when no regular file of this checkout stands there.

        Links are not followed, and what is not tracked and was not created by an edit does not exist.

        Raises:
            IntegrityViolation: the template was altered.
        """
        if path in self._edits:
            return self._edits[path]
        entry = self._entries.get(path)
        return self._base(entry) if entry is not None and entry.is_regular else None

    def paths(self) -> tuple[str, ...]:
        """Every file that `read` gives, sorted by the bytes of the paths."""
        present = {path for path, entry in self._entries.items() if entry.is_regular}
        present |= {path for path, content in self._edits.items() if content is not None}
        present -= {path for path, content in self._edits.items() if content is None}
        return tuple(sorted(present, key=os.fsencode))

    def edited(self) -> tuple[str, ...]:
        """Files that differ from the base (changed, created, deleted), sorted by the bytes of the paths."""
        return tuple(sorted(self._edits, key=os.fsencode))

    def changes(self) -> Mapping[str, bytes | None]:
        """The same files with their new content, None for a deleted one: what to lay over the template."""
        return {path: self._edits[path] for path in self.edited()}

    def apply(self, raw: str) -> Answer:
        """Apply a model's diff as a whole, or refuse it as a whole."""
        try:
            data = raw.encode("utf-8")
        except UnicodeEncodeError:
            return Refused("not-unicode", "The diff holds characters that are not valid Unicode.", raw)
        if len(data) > self._rules.diff_bytes:
            limit = self._rules.diff_bytes
            return Refused("too-long", f"The diff has {len(data)} bytes; at most {limit} are taken.", raw)
        return self._apply(data, raw)

    def final_patch(self) -> bytes:
        """The edits as one canonical git diff against the base; empty when there are none.

        Raises:
            IntegrityViolation: the diff, applied to a fresh checkout, would not give exactly this state.
        """
        if not self._edits:
            return b""
        before = {path: (e.mode, self._base(e)) for path in self.edited() if (e := self._entries.get(path))}
        after = {
            path: (before[path][0] if path in before else "100644", content)
            for path, content in self.changes().items()
            if content is not None
        }
        with tempfile.TemporaryDirectory(prefix="diff-", dir=self._layer.folder) as folder:
            patch = diff_states(before, after, Path(folder) / "git")
            fresh = Path(folder) / "layer"
            again = Workspace.from_patch(self.template, fresh, self._rules, self._language, patch)
        if again.changes() != self.changes():
            raise IntegrityViolation("the reconstructed patch does not give the workspace's state")
        return patch

    def _base(self, entry: TreeEntry) -> bytes:
        """Content at the base, held against its blob id."""
        try:
            content = (self.template.root / entry.path).read_bytes()
        except OSError as error:
            raise IntegrityViolation(f"{self.template.root}: {entry.path} is not there any more") from error
        header = b"blob %d\0" % len(content)
        if hashlib.sha1(header + content, usedforsecurity=False).hexdigest() != entry.blob_id:
            raise IntegrityViolation(f"{self.template.root}: {entry.path} was altered")
        return content

    def _apply(self, data: bytes, raw: str) -> Answer:
        unwrapped = unwrap(data, self._rules.normalisation)
        if isinstance(unwrapped, Fault):
            return Refused(unwrapped.code, unwrapped.message, raw)
        patch = parse(unwrapped.text, recount=RECOUNT in self._rules.normalisation)
        if isinstance(patch, Fault):
            return Refused(patch.code, patch.message, raw)
        outcome = check_patch(patch, self._rules, self._language) or self._outcome(patch)
        if isinstance(outcome, Fault):
            return Refused(outcome.code, outcome.message, raw)
        old = {path: self.read(path) for path in outcome.contents}
        self._commit(outcome.contents)
        return Applied(
            paths=tuple(sorted(outcome.contents, key=os.fsencode)),
            raw=raw,
            normalised=patch.text.decode("utf-8", "surrogateescape"),
            repairs=(*unwrapped.repairs, *((RECOUNT,) if patch.recounted else ())),
            hunks=outcome.hunks,
            white_space_only=all(
                b"".join((old[path] or b"").split()) == b"".join((content or b"").split())
                and None not in (old[path], content)
                for path, content in outcome.contents.items()
            ),
        )

    def _outcome(self, patch: Patch) -> _Outcome | Fault:
        """What `patch` makes of its files, by our own placing and by git, which must agree."""
        others = self.paths() if any(file.action == "create" for file in patch.files) else ()
        present: dict[str, bytes | None] = {file.path: self.read(file.path) for file in patch.files}
        for file in patch.files:
            content = present[file.path]
            fault = self._occupied.check(file, content is not None, others)
            if fault:
                return fault
            if content is not None and b"\0" in content:
                return Fault(
                    "binary", f"{shown(file.path)}: this file holds NUL bytes; only text can be changed."
                )
        placed = _place_all(patch, present)
        if isinstance(placed, Fault):
            return placed
        before = {
            path: (self._mode(path), content) for path, content in present.items() if content is not None
        }
        by_git = apply_strictly(patch.text, before, self._layer.folder)
        if by_git is None:
            return Fault("git-apply-refused", "git apply does not take this diff.")
        expected = {path: content for path, content in placed.contents.items() if content is not None}
        if by_git != expected:
            return Fault("no-effect", "The diff does not do what its lines say. Send it again in plain form.")
        unchanged = [path for path, content in placed.contents.items() if content == present[path]]
        if unchanged:
            return Fault("changes-nothing", f"{shown(unchanged[0])}: the diff leaves the file as it is.")
        return placed

    def _mode(self, path: str) -> str:
        entry = self._entries.get(path)
        return entry.mode if entry is not None else "100644"

    def _commit(self, contents: Mapping[str, bytes | None]) -> None:
        """Take `contents` into the layer; what equals the base again leaves it."""
        edits = self._edits | dict(contents)
        for path in contents:
            entry = self._entries.get(path)
            base = self._base(entry) if entry is not None else None
            if edits[path] == base:
                del edits[path]
        self._layer.save(edits)
        self._edits = edits


def _place_all(patch: Patch, present: Mapping[str, bytes | None]) -> _Outcome | Fault:
    """Place every hunk of every file; a file may come several times."""
    contents: dict[str, bytes | None] = dict(present)
    hunks: list[AppliedHunk] = []
    for file in patch.files:
        placed = place(file, contents[file.path] or b"")
        if isinstance(placed, Fault):
            return placed
        hunks += placed.hunks
        if file.action == "delete" and placed.content:
            return Fault(
                "deletion-leaves-lines", f"{shown(file.path)}: a deletion must remove every line of the file."
            )
        contents[file.path] = None if file.action == "delete" else placed.content
    return _Outcome(contents, tuple(hunks))
