"""An installed environment as facts, and how they are read off the disk."""

from __future__ import annotations

import base64
import csv
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from repairlab.contract.canonical import digest_of
from repairlab.contract.strict import StrictModel
from repairlab.contract.task import Sha256

MARKER = "repairlab.json"


class Distribution(StrictModel):
    """One installed distribution."""

    name: str
    """With the version, as in the name of its ``.dist-info`` folder: ``pytest-8.4.2``."""
    record_digest: Sha256
    """Over the sorted lines of its RECORD that carry a hash: equal wherever the same wheel is installed."""


class Record(StrictModel):
    """The marker file of a complete environment."""

    schema_version: Literal[1]
    python: str
    interpreter_folders: tuple[str, ...]
    requirements: tuple[str, ...]
    distributions: tuple[Distribution, ...]
    files_digest: Sha256


@dataclass(frozen=True, slots=True)
class InstalledEnvironment:
    """A complete virtual environment."""

    key: str
    root: Path
    python_version: str
    platform: str
    interpreter_folders: tuple[Path, ...]
    """Folders of the base interpreter, which the environment links to."""
    distributions: tuple[Distribution, ...]
    files_digest: str

    @property
    def python(self) -> Path:
        """The environment's interpreter."""
        return self.root / "bin" / "python"


@dataclass(frozen=True, slots=True)
class State:
    """What is on the disk."""

    distributions: tuple[Distribution, ...]
    files_digest: str
    """Over path and content of every file and link but the marker; differs between machines."""


def environment_state(root: Path) -> State:
    """Read the state of the environment at `root`."""
    found = [_distribution(folder) for folder in root.glob("lib/python*/site-packages/*.dist-info")]
    return State(tuple(sorted(found, key=lambda d: d.name)), digest_of(dict(_files(root))))


def files_unlike_record(root: Path) -> tuple[str, ...]:
    """Installed files whose SHA-256 is not the one in their distribution's RECORD, sorted.

    RECORD is a CSV file: path relative to site-packages, ``sha256=`` and the digest in unpadded URL-safe
    base64, size. Files that the installer wrote itself have no digest from the wheel and are left out.
    """
    differing: list[str] = []
    for folder in root.glob("lib/python*/site-packages/*.dist-info"):
        with (folder / "RECORD").open(encoding="utf-8", newline="") as lines:
            for path, digest, *_ in csv.reader(lines):
                if digest.startswith("sha256=") and not path.startswith(".."):
                    found = hashlib.sha256((folder.parent / path).read_bytes()).digest()
                    if (
                        base64.urlsafe_b64encode(found).rstrip(b"=")
                        != digest.removeprefix("sha256=").encode()
                    ):
                        differing.append((folder.parent / path).relative_to(root).as_posix())
    return tuple(sorted(differing))


def _distribution(folder: Path) -> Distribution:
    lines = (folder / "RECORD").read_bytes().split(b"\n")
    hashed = sorted(line for line in lines if b",sha256=" in line and not _made_here(line, folder.name))
    return Distribution(
        name=folder.name.removesuffix(".dist-info"),
        record_digest=hashlib.sha256(b"\n".join(hashed)).hexdigest(),
    )


def _made_here(line: bytes, folder: str) -> bool:
    """Whether a line of RECORD speaks of a file that the installer wrote, not the wheel."""
    path = line.partition(b",")[0]
    written = (b"INSTALLER", b"REQUESTED", b"direct_url.json", b"uv_cache.json")
    return path.startswith(b"..") or path in {folder.encode() + b"/" + name for name in written}


def _files(root: Path) -> Iterator[tuple[str, str]]:
    for path in root.rglob("*"):
        name = path.relative_to(root).as_posix()
        if path.is_symlink():
            yield name, f"link to {path.readlink()}"
        elif path.is_file() and name != MARKER:
            yield name, hashlib.sha256(path.read_bytes()).hexdigest()
