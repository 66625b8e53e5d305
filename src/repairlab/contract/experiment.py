"""An experiment: which tasks, treatments, models and seeds make its cells, and in what order."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from repairlab.contract.strict import StrictModel
from repairlab.contract.task import Name

Level = Literal["rest", "rest+lms"]
"""What a verification of the host rests on: its native REST endpoints, or the program ``lms`` as well."""


class Order(StrictModel):
    """How cells are ordered. See `repairlab.manifest.order`."""

    seed: str = Field(min_length=1)
    """Ranks tasks, treatments and models by hash, so that no list order in a file matters."""
    model_offsets: tuple[int, ...] = ()
    """Rotation offset of each model, in rank order. For a factorial design, and only there."""


class Experiment(StrictModel):
    """One file of ``experiments/``."""

    schema_version: Literal[1]
    name: Name
    kind: Literal["main", "reliability", "calibration", "trial", "simulation"]
    """``main`` and ``reliability`` are preregistered; ``calibration`` runs programs of known behaviour; the
    outcomes of a ``simulation`` are drawn by a random generator, and no agent runs."""
    rehearsal: bool = False
    """A simulation handled like a preregistered experiment: blinded until it is complete."""
    title: str
    tasks: tuple[Name, ...] = Field(min_length=1)
    treatments: tuple[str, ...] = Field(min_length=1)
    models: tuple[str, ...] = Field(min_length=1)
    embedder: str = ""
    """The embedding model, by its entry in ``models.toml``: named exactly where a treatment embeds."""
    seeds: tuple[int, ...] = Field(min_length=1)
    repetitions: int = Field(default=1, ge=1, le=100)
    temperature: float | None = Field(default=None, ge=0, le=2)
    design: Literal["factorial", "reliability"] = "factorial"
    """``factorial``: every task under every treatment with every model, see `repairlab.manifest.order`.
    ``reliability``: 24 balanced cells, see `repairlab.manifest.reliability`."""
    order: Order
    host: Literal["emulator", "lmstudio"]
    """``emulator`` starts repairlab's own double of the host for the run."""
    host_level: Level = "rest"
    """The level of verification that a run requires of the host."""
    allow_unsandboxed: bool = False
    """Whether tests may run without a sandbox where none can be had. For embedded repositories only."""

    @model_validator(mode="after")
    def _coherent(self) -> Experiment:
        for field in ("tasks", "treatments", "models", "seeds"):
            values = getattr(self, field)
            if len(set(values)) != len(values):
                raise ValueError(f"{field} lists an entry twice")
        if any(not 0 <= seed < 2**31 for seed in self.seeds):
            raise ValueError("seeds lie between 0 and 2147483647: hosts disagree about others")
        if self.design == "factorial" and len(self.order.model_offsets) != len(self.models):
            raise ValueError("order.model_offsets needs one offset for each model")
        if self.design == "reliability" and self.order.model_offsets:
            raise ValueError("order.model_offsets has no meaning in a reliability design")
        if self.kind == "reliability" and self.design != "reliability":
            raise ValueError("a reliability experiment has design = 'reliability'")
        if self.preregistered and self.host != "lmstudio":
            raise ValueError(f"a {self.kind} experiment runs on host = 'lmstudio'")
        if self.rehearsal and self.kind != "simulation":
            raise ValueError("only a simulation is a rehearsal")
        return self

    @property
    def preregistered(self) -> bool:
        """Whether results of this experiment are results of the study."""
        return self.kind in ("main", "reliability")

    @property
    def blinded(self) -> bool:
        """Whether nobody is to see outcomes before the last cell is sealed."""
        return self.preregistered or self.rehearsal
