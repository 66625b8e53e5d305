"""Models, the facts that identify them at a host, and their generation configuration."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, RootModel, model_validator

from repairlab.contract.canonical import Json, digest_of
from repairlab.contract.controls import Generation
from repairlab.contract.strict import StrictModel

UNPINNED = "unpinned"


class ModelFacts(StrictModel):
    """What a host must report of a model before and after each load.

    ``None`` means that the host reports nothing for it (a calibration model has no quantization); the
    literal text ``unpinned`` marks a fact not yet verified, which a frozen main run refuses.
    """

    key: str = Field(min_length=1)
    """The exact key for the host's load route."""
    format: str | None = None
    quantization: str | None = None
    selected_variant: str | None = None
    reasoning_default: str | None = None
    inference_key: str | None = None
    """The id that the inference routes show; ``None`` means the same as `key`."""
    native_dimensions: int | None = Field(default=None, ge=1)
    """Of an embedder that gives fewer numbers than the frozen controls ask for."""
    padded: bool = False
    """Whether its host fills the vectors up with zeros, behind the native ones. No host reports these two;
    every vector is held against them, and a preregistered experiment refuses such an embedder."""

    @model_validator(mode="after")
    def _padding(self) -> ModelFacts:
        if self.padded != (self.native_dimensions is not None):
            raise ValueError("native_dimensions and padded stand together or not at all")
        return self

    def unpinned(self) -> tuple[str, ...]:
        """Names of facts that are still placeholders."""
        return tuple(name for name, value in self.model_dump().items() if value == UNPINNED)


class Model(StrictModel):
    """One model of the study."""

    role: Literal["agent", "embedder"]
    calibration: bool = False
    """A program of known behaviour in place of a language model; never part of a main experiment."""
    context_tokens: int | None = Field(default=None, ge=256)
    """A context of its own; ``None`` takes the shared one (every agent of the study)."""
    temperature: float | None = Field(default=None, ge=0, le=2)
    top_p: float | None = Field(default=None, gt=0, le=1)
    facts: ModelFacts

    @model_validator(mode="after")
    def _agent_settings(self) -> Model:
        if self.role == "agent" and (self.temperature is None or self.top_p is None):
            raise ValueError("an agent needs temperature and top_p: a host would fill in its own")
        if self.role == "agent" and self.facts.padded:
            raise ValueError("only an embedder has dimensions")
        if self.role == "embedder" and self.context_tokens is None:
            raise ValueError("an embedder needs context_tokens of its own")
        return self


class Models(RootModel[dict[str, Model]]):
    """The whole of ``contracts/models.toml``, by identifier."""


def generation_configuration(
    name: str, model: Model, generation: Generation, temperature: float | None = None
) -> Json:
    """All that decides how `model` generates, but for context and seed: those are identity fields.

    Args:
        name: identifier of the model in the study, such as ``M002``.
        model: its contract entry.
        generation: the shared group.
        temperature: an experiment's own temperature (the reliability manifest's), or ``None``.
    """
    shared = generation.model_dump(mode="json")
    del shared["context_tokens"]
    return {
        "id": name,
        "calibration": model.calibration,
        "facts": model.facts.model_dump(mode="json"),
        "temperature": model.temperature if temperature is None else temperature,
        "top_p": model.top_p,
        "generation": shared,
    }


def generation_digest(
    name: str, model: Model, generation: Generation, temperature: float | None = None
) -> str:
    """SHA-256 of the canonical JSON of `generation_configuration`."""
    return digest_of(generation_configuration(name, model, generation, temperature))


def embedder_facts(model: Model) -> Json:
    """All that decides which vectors an embedder gives: what documents' vectors are kept under."""
    return {
        "calibration": model.calibration,
        "facts": model.facts.model_dump(mode="json"),
        "context_tokens": model.context_tokens,
    }
