"""A cell and its identity."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from repairlab.contract.canonical import Json, digest_of
from repairlab.contract.strict import StrictModel
from repairlab.contract.task import CommitId, Sha256

Label = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9-]{0,60}$")]


class Identity(StrictModel):
    """The fields that make a cell this cell. Equal identity means: the same experiment, to be run once."""

    experiment: Label
    task: Sha256
    """Digest of the task's facts."""
    treatment: Sha256
    """Digest of the treatment's configuration: its facts, controls, prompts and tools."""
    generation: Sha256
    """Digest of the model's generation configuration."""
    context_tokens: int = Field(ge=256)
    seed: int = Field(ge=0)
    repetition: int = Field(ge=0)
    repository: CommitId
    """The base commit."""
    code: Sha256
    """The research-code revision; see `repairlab.manifest.revision`."""

    def digest(self) -> str:
        """SHA-256 of the canonical JSON (RFC 8785) of all fields."""
        fields: Json = self.model_dump(mode="json")
        return digest_of(fields)


class Cell(StrictModel):
    """One planned run: an identity, the labels people know it by, and its place in the frozen order."""

    sequence: int = Field(ge=0)
    """Position in the order of the experiment; no part of the identity."""
    task: Label
    treatment: Label
    model: Label
    identity: Identity
    digest: Sha256

    @property
    def name(self) -> str:
        """Folder name: labels for people, twelve digits of the identity for uniqueness."""
        place = f"s{self.identity.seed}.r{self.identity.repetition}"
        return f"{self.task}.{self.treatment}.{self.model}.{place}.{self.digest[:12]}"


class Manifest(StrictModel):
    """All cells of one experiment, in the order in which they are to run."""

    schema_version: Literal[1]
    experiment: Label
    cells: tuple[Cell, ...]

    def digest(self) -> str:
        """SHA-256 of the canonical JSON: other bytes of the same meaning have the same digest."""
        fields: Json = self.model_dump(mode="json")
        return digest_of(fields)
