"""The registered hypotheses, as ``preregistration/hypotheses.toml`` states them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from repairlab.analysis.statistics import Graph, graph_of
from repairlab.contract.errors import BadInput
from repairlab.contract.strict import StrictModel, load
from repairlab.contract.study import Study

Share = Annotated[float, Field(ge=0, le=1)]


def _exactly(number: float) -> AfterValidator:
    def check(value: float) -> float:
        if value != number:
            raise ValueError(f"this analysis gives the interval at {number}")
        return value

    return AfterValidator(check)


class Decision(StrictModel):
    """How a verdict is reached. Each text names the one method that the analysis has."""

    endpoint: Literal["resolved_at_1"]
    alpha: float = Field(gt=0, lt=0.5)
    """Familywise, two-sided."""
    multiplicity: Literal["graph"]
    smallest_effect_of_interest: float = Field(gt=0, lt=1)
    """As a difference of proportions."""
    test: Literal["task-sign-flip-exact"]
    interval: Literal["task-clustered-score"]
    confidence: Annotated[float, _exactly(0.95)]
    simultaneous_confidence: Annotated[float, _exactly(0.99)]
    equivalence_confidence: Annotated[float, _exactly(0.90)]


class Registered(StrictModel):
    """One confirmatory contrast."""

    arm: str
    against: tuple[str, ...] = Field(min_length=1)
    """One arm for a plain difference; several make an intersection-union test."""
    expected: Literal["positive", "none"]
    question: str

    @property
    def arms(self) -> tuple[str, ...]:
        """Every arm that it needs."""
        return (self.arm, *self.against)


class GraphShares(StrictModel):
    """The graphical procedure of Bretz et al. (2009)."""

    weights: dict[str, Share]
    transitions: dict[str, dict[str, Share]]


class Pair(StrictModel):
    """One exploratory contrast."""

    arm: str
    against: str


class Exploratory(StrictModel):
    """What is estimated without verdict words."""

    correction: Literal["benjamini-hochberg"]
    contrasts: tuple[Pair, ...]
    splits: tuple[Literal["model", "repository", "language", "issue-after-cutoff"], ...]
    interactions: tuple[Literal["model"], ...]
    omnibus: Literal["cochran-q"]


class Sensitivity(StrictModel):
    """The fixed list of analyses that can change no verdict."""

    analyses: tuple[
        Literal[
            "mid-p",
            "mcnemar-per-model",
            "pooled-mcnemar-and-cmh",
            "conditional-logit",
            "gee-bias-reduced",
            "task-bootstrap",
            "glmm",
            "leave-one-out",
            "tarone-holm",
        ],
        ...,
    ]
    bootstrap_resamples: int = Field(ge=100, le=10**7)
    bootstrap_seed: int = Field(ge=0)


class Pilot(StrictModel):
    """Tasks outside the study's, run before the freeze."""

    tasks_per_repository: int = Field(ge=1)
    arms: tuple[str, ...]
    floor_arm: str
    floor_resolved: int = Field(ge=0)
    ceiling_arm: str
    ceiling_resolved: int = Field(ge=0)


class Hypotheses(StrictModel):
    """The whole file."""

    schema_version: Literal[1]
    decision: Decision
    contrasts: dict[str, Registered] = Field(min_length=1)
    graph: GraphShares
    exploratory: Exploratory
    sensitivity: Sensitivity
    pilot: Pilot

    @model_validator(mode="after")
    def _coherent(self) -> Hypotheses:
        self.registered_graph()
        for name, contrast in self.contrasts.items():
            if len(set(contrast.arms)) != len(contrast.arms):
                raise ValueError(f"contrasts.{name} names an arm twice")
        return self

    def registered_graph(self) -> Graph:
        """The graph over the contrasts, in the order of the file.

        Raises:
            ValueError: it names what is no contrast, or does not hold the level.
        """
        try:
            return graph_of(tuple(self.contrasts), self.graph.weights, self.graph.transitions)
        except BadInput as error:
            raise ValueError(f"graph: {error.message}") from error


def hypotheses_file(study: Study) -> Path:
    """Where the hypotheses stand."""
    return study.preregistration / "hypotheses.toml"


def load_hypotheses(study: Study) -> Hypotheses:
    """The hypotheses of the study.

    Raises:
        BadInput: naming file, line and field of each fault.
    """
    return load(Hypotheses, hypotheses_file(study))
