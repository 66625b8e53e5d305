"""Shapes of a host's native replies. Keys unknown here are allowed: the exchange journal keeps the bytes."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class WireModel(BaseModel):
    """Base of what a host sends: no coercion of types, extra keys kept but not read."""

    model_config = ConfigDict(extra="allow", frozen=True, strict=True)


class Quantization(WireModel):
    """Of the selected variant."""

    name: str | None = None
    bits_per_weight: float | None = None


class Reasoning(WireModel):
    """The reasoning switch of a model that has one."""

    allowed_options: tuple[str, ...] = ()
    default: str | None = None


class Capabilities(WireModel):
    """Absent for an embedding model and on older servers."""

    vision: bool | None = None
    trained_for_tool_use: bool | None = None
    reasoning: Reasoning | None = None


class InstanceConfig(WireModel):
    """How an instance was loaded. Engine settings other than the context stay among the extra keys."""

    context_length: int


class Instance(WireModel):
    """One loaded instance. The id is the key, or the key with ``:2``, ``:3`` for a further instance."""

    id: str
    config: InstanceConfig


class ListedModel(WireModel):
    """One downloaded model, loaded or not."""

    type: str
    key: str
    loaded_instances: tuple[Instance, ...]
    max_context_length: int
    publisher: str | None = None
    display_name: str | None = None
    architecture: str | None = None
    format: str | None = None
    quantization: Quantization | None = None
    size_bytes: float | None = None
    params_string: str | None = None
    capabilities: Capabilities | None = None
    description: str | None = None
    variants: tuple[str, ...] | None = None
    selected_variant: str | None = None

    @property
    def quantization_name(self) -> str | None:
        """Name such as ``Q4_K_M``, where the host gives one."""
        return self.quantization.name if self.quantization else None

    @property
    def reasoning_default(self) -> str | None:
        """Default of the reasoning switch, where the model has one."""
        reasoning = self.capabilities.reasoning if self.capabilities else None
        return reasoning.default if reasoning else None


class Listing(WireModel):
    """Reply of ``GET /api/v1/models``."""

    models: tuple[ListedModel, ...]

    @property
    def resident(self) -> tuple[tuple[str, Instance], ...]:
        """Every loaded instance with its model's key, sorted by instance id."""
        pairs = [(model.key, instance) for model in self.models for instance in model.loaded_instances]
        return tuple(sorted(pairs, key=lambda pair: (pair[1].id, pair[0])))


class Loaded(WireModel):
    """Reply of ``POST /api/v1/models/load``."""

    type: str
    instance_id: str
    status: str
    load_time_seconds: float | None = None
    load_config: InstanceConfig | None = None


class Unloaded(WireModel):
    """Reply of ``POST /api/v1/models/unload``: an acknowledgement, no proof."""

    instance_id: str


class InferenceModel(WireModel):
    """One entry of ``GET /v1/models``."""

    id: str


class InferenceListing(WireModel):
    """Reply of ``GET /v1/models``."""

    data: tuple[InferenceModel, ...]


class Greeting(WireModel):
    """Reply of ``GET /lmstudio-greeting``."""

    lmstudio: bool
