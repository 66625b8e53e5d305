"""Treatments, and the configuration that identifies each one."""

from __future__ import annotations

from typing import Literal

from pydantic import RootModel, model_validator

from repairlab.contract.canonical import Json, digest_of
from repairlab.contract.controls import SharedControls
from repairlab.contract.models import Model, embedder_facts
from repairlab.contract.strict import StrictModel
from repairlab.contract.wording import Wording

Component = Literal["exact", "paths", "lexical", "symbols", "dense", "graph"]
TreatmentId = str

_EVERY_CELL = ("budgets", "patch", "evaluation", "infrastructure")
_OF_COMPONENT: dict[str, tuple[str, ...]] = {
    "exact": ("exact",),
    "paths": ("paths",),
    "lexical": ("lexical", "fuzzy", "named_paths", "dense"),  # BM25 ranks the chunks of the dense group
    "symbols": ("symbols",),
    "dense": ("dense",),
    "graph": ("graph",),
}


class Treatment(StrictModel):
    """What distinguishes one arm of the experiment."""

    purpose: str
    kind: Literal["interactive", "staged"]
    tools: tuple[str, ...] = ()
    components: tuple[Component, ...] = ()
    fusion: Literal["none", "dense-first", "reciprocal-rank"] = "none"
    oracle_files: bool = False
    """Whether the prompt names the gold production files: an upper bound, no treatment of the world."""
    syntax_check: bool = False
    """Whether the answer to an applied patch says which of the changed files cannot be parsed any more."""
    label: Literal["", "controlled adaptation"] = ""
    """Printed beside the treatment wherever results appear."""

    @model_validator(mode="after")
    def _coherent(self) -> Treatment:
        if self.kind == "interactive" and "finish" not in self.tools:
            raise ValueError("an interactive treatment needs the tool finish")
        if self.kind == "staged" and (self.tools or self.components or self.oracle_files):
            raise ValueError("a staged treatment has no tools, no search and no oracle")
        if self.syntax_check and "apply_patch" not in self.tools:
            raise ValueError("a syntax check is part of the answer of apply_patch, which is not offered")
        if self.fusion == "reciprocal-rank" and len(self.components) < 2:
            raise ValueError("reciprocal-rank fusion needs at least two components")
        if self.oracle_files and self.components:
            raise ValueError("an oracle treatment has no search")
        return self

    @property
    def embeds(self) -> bool:
        """Whether queries are embedded."""
        return "dense" in self.components

    @property
    def searches(self) -> bool:
        """Whether the treatment looks anything up in the corpus of the base commit."""
        return bool(self.components) or self.kind == "staged"


class Treatments(RootModel[dict[str, Treatment]]):
    """The whole of ``contracts/treatments.toml``, by identifier."""


def control_groups(treatment: Treatment) -> tuple[str, ...]:
    """Names of the groups of the shared controls that can change an outcome under `treatment`.

    The groups ``generation`` (in the model configuration) and these together cover every shared control.
    """
    groups = list(_EVERY_CELL)
    if treatment.kind == "interactive":
        groups += ["interaction", "view"]
    else:
        groups.append("staged")
    if treatment.searches:
        groups.append("corpus")
    if treatment.components:
        groups.append("search")
    for component in treatment.components:
        groups += _OF_COMPONENT[component]
    if treatment.fusion == "reciprocal-rank" or "graph" in treatment.components:
        groups.append("fusion")
    return tuple(sorted(set(groups)))


def configuration(
    name: TreatmentId,
    treatment: Treatment,
    shared: SharedControls,
    wording: Wording,
    embedder: Model | None = None,
) -> Json:
    """Everything that makes `treatment` what it is: its own facts, its controls, its prompts and tools.

    The embedding model enters where queries are embedded, and nowhere else.
    """
    controls = shared.model_dump(mode="json")
    own: dict[str, Json] = {"embedder": embedder_facts(embedder)} if embedder and treatment.embeds else {}
    return {
        **own,
        "id": name,
        "treatment": treatment.model_dump(mode="json"),
        "controls": {group: controls[group] for group in control_groups(treatment)},
        "prompts": _prompts(treatment, wording),
        "tools": {tool: wording.tools[tool].model_dump(mode="json") for tool in sorted(treatment.tools)},
    }


def _prompts(treatment: Treatment, wording: Wording) -> Json:
    """The texts that `treatment` uses, and no others."""
    texts = wording.prompts.model_dump(mode="json")
    used = {"system", "task", treatment.kind} | ({"oracle"} if treatment.oracle_files else set())
    return {name: text for name, text in texts.items() if name in used}


def configuration_digest(
    name: TreatmentId,
    treatment: Treatment,
    shared: SharedControls,
    wording: Wording,
    embedder: Model | None = None,
) -> str:
    """SHA-256 of the canonical JSON of `configuration`."""
    return digest_of(configuration(name, treatment, shared, wording, embedder))
