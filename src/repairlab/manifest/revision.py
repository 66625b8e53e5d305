"""The research-code revision: a digest over everything in code that can change an outcome.

It covers the source of every room but `analysis` and `cli`, and those files of a study's ``contracts/`` that
do not enter identities field by field. What is typed (shared controls, treatments, models, ``prompts/`` as a
whole) is left out on purpose: each value enters through the configuration digests of exactly those cells that
use it, and counting it here as well would move every identity whenever one value changes. Prose
(``*.md``) is left out because nothing reads it, embedded repositories because a cell's repository commit
covers them. It needs no git, so it holds for an
installed copy too.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from repairlab.contract.canonical import digest_of, sha256_hex

_NO_INFLUENCE = frozenset({"analysis", "cli"})
_BY_FIELD = frozenset({"shared.toml", "treatments.toml", "models.toml"})
_BY_FIELD_FOLDERS = frozenset({"prompts"})


def code_files(package: Path, contracts: Path) -> dict[str, str]:
    """SHA-256 of each file that the revision covers, by a path that starts with ``src`` or ``contracts``.

    Args:
        package: folder of the installed package ``repairlab``.
        contracts: the study's ``contracts/``.
    """
    files = {f"src/{name}": sha256_hex(path.read_bytes()) for name, path in _package_files(package)}
    for path in sorted(contracts.rglob("*")):
        name = path.relative_to(contracts).as_posix()
        typed = name in _BY_FIELD or name.partition("/")[0] in _BY_FIELD_FOLDERS
        if path.is_file() and not typed and path.suffix != ".md":
            files[f"contracts/{name}"] = sha256_hex(path.read_bytes())
    return files


class Code(NamedTuple):
    """The program, as a freeze names it."""

    revision: str
    sources: dict[str, str]
    """SHA-256 of each file of the program that the revision covers, by a path that starts with ``src``."""


def code_revision(package: Path, contracts: Path) -> str:
    """Digest over names and contents of `code_files`."""
    return digest_of(code_files(package, contracts))


def read_code(package: Path, contracts: Path) -> Code:
    """Revision and sources; see `code_files`."""
    files = code_files(package, contracts)
    return Code(digest_of(files), {name: sha for name, sha in files.items() if name.startswith("src/")})


def _package_files(package: Path) -> Iterator[tuple[str, Path]]:
    for path in sorted(package.rglob("*")):
        parts = path.relative_to(package).parts
        skipped = (
            parts[0] in _NO_INFLUENCE or parts[:2] == ("repositories", "embedded") or "__pycache__" in parts
        )
        if path.is_file() and not skipped:
            yield "/".join(parts), path
