"""What the emulated host has downloaded, and its settings."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

from repairlab.contract.errors import BadInput
from repairlab.hosts.emulator.fields import Fields, read_json

FLOOR = "floor"
NAVIGATOR = "navigator"


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """One downloaded model. `engine` names what answers for it; an embedding model has none."""

    key: str
    type: Literal["llm", "embedding"]
    engine: str | None
    display_name: str
    publisher: str = "repairlab"
    architecture: str | None = None
    format: str | None = None
    quantization: str | None = None
    size_bytes: int = 0
    params_string: str | None = None
    max_context_length: int = 131_072
    tool_use: bool = True
    reasoning_options: tuple[str, ...] = ()
    reasoning_default: str | None = None
    description: str | None = None
    variants: tuple[str, ...] = ()
    selected_variant: str | None = None
    load_seconds: float = 0.0
    """A load takes so long, and says so."""


@dataclass(frozen=True, slots=True)
class HostConfig:
    """Models and settings of one emulated host."""

    models: tuple[ModelSpec, ...]
    jit: bool = False
    """Just-in-time loading: off, unlike the real server's default, because the study needs it off."""
    default_context: int = 4096
    memory_bytes: int | None = None
    """Models together larger than this are refused at load; ``None`` is unlimited."""
    token: str | None = None
    """Bearer token that every request but the greeting must carry."""

    def model(self, key: str) -> ModelSpec | None:
        """The model with exactly this key."""
        return next((spec for spec in self.models if spec.key == key), None)


def builtin() -> HostConfig:
    """The two calibration models."""
    return HostConfig(
        models=(
            ModelSpec(
                key="repairlab/calibration-floor",
                type="llm",
                engine=FLOOR,
                display_name="Calibration model: floor (no language model)",
                architecture="calibration",
                description="A program, no language model: looks around and finishes without an edit.",
            ),
            ModelSpec(
                key="repairlab/calibration-navigator",
                type="llm",
                engine=NAVIGATOR,
                display_name="Calibration model: navigator (no language model)",
                architecture="calibration",
                description="A program, no language model: it was told the true fix and applies it.",
            ),
        )
    )


def load_config(path: Path, known_engines: frozenset[str]) -> HostConfig:
    """Read a host's configuration.

    The file is ``{"schema_version": 1, "models": [...], "jit": ..., "default_context": ..., "memory_bytes":
    ..., "token": ...}``; all but the first two keys have the defaults of `HostConfig`.

    Raises:
        BadInput: naming file and key.
    """
    fields = Fields(read_json(path), str(path))
    if fields.integer("schema_version") != 1:
        raise BadInput(f"{path}: schema_version: only 1 is known")
    models = tuple(
        _model(item, f"{path}: models[{index}]", known_engines)
        for index, item in enumerate(fields.items("models"))
    )
    keys = [spec.key for spec in models]
    if len(set(keys)) != len(keys):
        raise BadInput(f"{path}: models: two models have the same key")
    config = HostConfig(
        models,
        jit=fields.flag("jit", False),
        default_context=fields.integer("default_context", 4096, at_least=1),
        memory_bytes=fields.optional_integer("memory_bytes", at_least=1),
        token=fields.optional_text("token"),
    )
    fields.close()
    return config


def _model(item: object, where: str, known_engines: frozenset[str]) -> ModelSpec:
    fields = Fields(item, where)
    kind = fields.text("type", "llm")
    if kind not in ("llm", "embedding"):
        raise BadInput(f"{where}: type: llm or embedding belongs here")
    engine = fields.optional_text("engine")
    if kind == "llm" and engine not in known_engines:
        raise BadInput(f"{where}: engine: one of {', '.join(sorted(known_engines))} belongs here")
    key = fields.text("key")
    spec = ModelSpec(
        key=key,
        type=cast("Literal['llm', 'embedding']", kind),
        engine=engine,
        display_name=fields.text("display_name", key),
        publisher=fields.text("publisher", "repairlab"),
        architecture=fields.optional_text("architecture"),
        format=fields.optional_text("format"),
        quantization=fields.optional_text("quantization"),
        size_bytes=fields.integer("size_bytes", 0),
        params_string=fields.optional_text("params_string"),
        max_context_length=fields.integer("max_context_length", 131_072, at_least=1),
        tool_use=fields.flag("tool_use", True),
        reasoning_options=fields.texts("reasoning_options", ()),
        reasoning_default=fields.optional_text("reasoning_default"),
        description=fields.optional_text("description"),
        variants=fields.texts("variants", ()),
        selected_variant=fields.optional_text("selected_variant"),
        load_seconds=fields.seconds("load_seconds", 0.0),
    )
    fields.close()
    if (spec.selected_variant is None) != (not spec.variants):
        raise BadInput(f"{where}: variants and selected_variant stand together or not at all")
    return spec
