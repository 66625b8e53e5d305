"""The engine that is a real embedder: loads it, asks it, and lets it go."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock

from repairlab.contract.errors import InfrastructureFailure
from repairlab.hosts.emulator.catalog import MINILM, ModelSpec
from repairlab.hosts.emulator.engines.hashing import without_instruction
from repairlab.hosts.minilm.model import MiniLm, TextTooLong
from repairlab.hosts.minilm.package import (
    MODEL_KEY,
    NATIVE_DIMENSIONS,
    QUANTIZATION,
    RUNTIME_PACKAGE,
    MiniLmPackage,
)
from repairlab.hosts.minilm.windows import WINDOW_TOKENS

LARGEST_CONTEXT = 32_768
"""Tokens of one text, in windows: as much as the study's embedder takes."""


def model_spec(package: MiniLmPackage) -> ModelSpec:
    """The model as the emulated host lists it."""
    variant = f"{MODEL_KEY}@{QUANTIZATION.lower()}"
    return ModelSpec(
        key=MODEL_KEY,
        type="embedding",
        engine=MINILM,
        display_name=f"all-MiniLM-L6-v2 on {RUNTIME_PACKAGE} {package.runtime_version}, padded with zeros",
        quantization=QUANTIZATION,
        size_bytes=package.weights.stat().st_size,
        params_string="22M",
        max_context_length=LARGEST_CONTEXT,
        description=f"A real embedder: {NATIVE_DIMENSIONS} dimensions, windows of {WINDOW_TOKENS} tokens.",
        variants=(variant,),
        selected_variant=variant,
    )


class MiniLmEngine:
    """The loaded embedder, by the id of the instance. One text is computed at a time."""

    def __init__(self, package: MiniLmPackage) -> None:
        self._package = package
        self._loaded: dict[str, MiniLm] = {}
        self._computing = Lock()

    def start(self, instance_id: str, context: int) -> int:
        """Load the model once more; its context is what was asked for."""
        self._loaded[instance_id] = MiniLm(self._package)
        return context

    def stop(self, instance_id: str) -> None:
        """Unload; nothing happens for an id that is not loaded."""
        self._loaded.pop(instance_id, None)

    def embed(self, instance_id: str, texts: Sequence[str], context: int) -> list[list[float]] | TextTooLong:
        """Vectors of `texts`, in order. The instruction before a query is dropped: the model knows none.

        Raises:
            InfrastructureFailure: the instance was unloaded meanwhile.
        """
        model = self._loaded.get(instance_id)
        if model is None:
            raise InfrastructureFailure(f"{instance_id} was unloaded meanwhile", kind="minilm-engine")
        vectors: list[list[float]] = []
        for text in texts:
            with self._computing:
                vector = model.embed(without_instruction(text), context)
            if isinstance(vector, TextTooLong):
                return vector
            vectors.append(vector)
        return vectors
