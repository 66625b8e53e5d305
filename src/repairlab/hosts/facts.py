"""What the study pins of a model, and what a host was seen to have loaded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Literal

from repairlab.contract.canonical import Json
from repairlab.contract.experiment import Level
from repairlab.contract.models import UNPINNED, Model

Kind = Literal["llm", "embedding"]


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """Facts that a host must report before and after each load.

    ``None`` means that the host must report nothing for the fact; the word ``unpinned`` means that it is not
    compared (a frozen main run refuses such a placeholder before it comes here).
    """

    key: str
    """The exact key for the load route."""
    kind: Kind
    context_tokens: int
    format: str | None = None
    quantization: str | None = None
    selected_variant: str | None = None
    reasoning_default: str | None = None
    inference_key: str | None = None
    """The id that the inference routes must show; ``None`` means the same as `key`."""
    native_dimensions: int | None = None
    """Numbers of a vector that are not padding; ``None`` where there is none."""

    @classmethod
    def of(cls, model: Model, shared_context_tokens: int) -> ModelFacts:
        """Facts of a contract entry; a model without a context of its own takes the shared one."""
        facts = model.facts
        return cls(
            key=facts.key,
            kind="embedding" if model.role == "embedder" else "llm",
            context_tokens=model.context_tokens or shared_context_tokens,
            format=facts.format,
            quantization=facts.quantization,
            selected_variant=facts.selected_variant,
            reasoning_default=facts.reasoning_default,
            inference_key=facts.inference_key,
            native_dimensions=facts.native_dimensions,
        )

    @property
    def inference_id(self) -> str:
        """The id that chat and embedding requests carry."""
        return self.key if self.inference_key in (None, UNPINNED) else str(self.inference_key)


@dataclass(frozen=True, slots=True)
class VerifiedFacts:
    """What the host reported of the one loaded model, after the load. No clock reading stands here."""

    key: str
    kind: str
    instance_id: str
    context_tokens: int
    max_context_tokens: int
    display_name: str | None
    architecture: str | None
    format: str | None
    quantization: str | None
    selected_variant: str | None
    reasoning_default: str | None
    instance_config: Mapping[str, Json]
    """The whole configuration of the instance as the list shows it."""
    inference_ids: tuple[str, ...]
    """Sorted ids of ``/v1/models``."""

    def facts(self) -> Json:
        """All facts as JSON values."""
        return {**asdict(self), "inference_ids": list(self.inference_ids)}


@dataclass(frozen=True, slots=True)
class Transition:
    """One verified change of residency; the same transition of the same host has the same value."""

    model: str
    fresh: bool
    """Whether a load was asked for even if the model was resident."""
    loaded: bool
    """Whether a load took place."""
    unloaded: tuple[str, ...]
    """Instance ids that were unloaded first, in order."""
    verified: VerifiedFacts
    level: Level = "rest"
    retries: tuple[str, ...] = ()
    """Rows of the table of failures for which the load was repeated."""

    def facts(self) -> Json:
        """All facts as JSON values."""
        return {
            "model": self.model,
            "fresh": self.fresh,
            "loaded": self.loaded,
            "unloaded": list(self.unloaded),
            "verified": self.verified.facts(),
            "level": self.level,
            "retries": list(self.retries),
        }
