"""Which files of a commit are searched: a pure function of its tree and the frozen corpus rules."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from repairlab.contract.canonical import digest_of
from repairlab.contract.controls import Corpus as CorpusRules
from repairlab.contract.task import Language
from repairlab.search.blobs import LINK_MODE, REGULAR_MODES, Entry, path_bytes

FORMAT_VERSION = 2
"""Raised whenever the same tree and rules would give another corpus file."""


_GENERATED = re.compile(rb"(?im)^[ \t]*(?:#|//|/?\*)[^\n]*\bgenerated\b[^\n]*\bdo not edit\b")


class SkipReason(StrEnum):
    """Why a file with the language's suffix is not searched."""

    BINARY = "contains a NUL byte"
    TOO_LARGE = "larger than the frozen limit"
    LINK = "symbolic link"
    NOT_A_FILE = "not a regular file"


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file left out as a whole."""

    path: str
    reason: SkipReason


@dataclass(frozen=True, slots=True)
class Selection:
    """The candidate files of a commit, before their bytes are read.

    Attributes:
        files: (path, blob id), sorted by path bytes. A NUL byte may still exclude one.
        skipped: left out by what the tree alone says, sorted by path bytes.
        digest: identity of the corpus: 64 hexadecimal digits.
    """

    files: tuple[tuple[str, str], ...]
    skipped: tuple[Skipped, ...]
    digest: str


def generated_files(files: Sequence[bytes], rules: CorpusRules) -> list[int]:
    """Positions of the files with a comment line at their head that says "generated" and "do not edit".

    So do Go's convention and the headers that tools put into Python files, whatever the case of the letters.
    """
    heads = (b"\n".join(data.split(b"\n", rules.generated_lines)[: rules.generated_lines]) for data in files)
    return [number for number, head in enumerate(heads) if _GENERATED.search(head)]


def suffixes(language: Language, rules: CorpusRules) -> tuple[str, ...]:
    """File name endings of `language`, case-sensitive."""
    return rules.python_suffixes if language == "python" else rules.go_suffixes


def select(entries: Iterable[Entry], language: Language, rules: CorpusRules) -> Selection:
    """Choose the files of a corpus.

    The digest covers mode, path and object name of every entry with the suffix (skipped ones too), the rules
    and the format: two commits share a corpus exactly when all of these are equal.
    """
    endings = suffixes(language, rules)
    chosen = sorted((e for e in entries if e.path.endswith(endings)), key=lambda e: path_bytes(e.path))
    files: list[tuple[str, str]] = []
    skipped: list[Skipped] = []
    tree = hashlib.sha256()
    for entry in chosen:
        tree.update(b"%s %s %s\0" % (entry.mode.encode(), entry.blob_id.encode(), path_bytes(entry.path)))
        reason = _reason(entry, rules)
        if reason is None:
            files.append((entry.path, entry.blob_id))
        else:
            skipped.append(Skipped(entry.path, reason))
    digest = digest_of(
        {
            "format": FORMAT_VERSION,
            "language": language,
            "suffixes": endings,
            "file_bytes": rules.file_bytes,
            "generated_lines": rules.generated_lines,
            "tree": tree.hexdigest(),
        }
    )
    return Selection(tuple(files), tuple(skipped), digest)


def _reason(entry: Entry, rules: CorpusRules) -> SkipReason | None:
    if entry.mode == LINK_MODE:
        return SkipReason.LINK
    if entry.mode not in REGULAR_MODES:
        return SkipReason.NOT_A_FILE
    # An object that the mirror lacks is no reason: reading it fails. No corpus depends on the clone.
    return SkipReason.TOO_LARGE if entry.size is not None and entry.size > rules.file_bytes else None
