"""The freeze record of an experiment: a digest of every frozen input, and of the manifest made from them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal, NamedTuple

from repairlab.contract.canonical import Json, digest_of, sha256_hex
from repairlab.contract.errors import RefuseToStart
from repairlab.contract.strict import StrictModel, load_json
from repairlab.contract.study import Inputs, Study
from repairlab.contract.task import Sha256
from repairlab.manifest.cell import Manifest
from repairlab.manifest.expand import expand


class SourceState(NamedTuple):
    """The source tree that repairlab runs from, as far as git knows it."""

    commit: str | None
    """Commit id, or ``None`` for an installed copy without git."""
    dirty: bool


class FreezeRecord(StrictModel):
    """What was frozen. The digest of this record is written into every attempt that runs under it."""

    schema_version: Literal[1]
    experiment: str
    manifest: Sha256
    cells: int
    inputs: dict[str, Sha256]
    """SHA-256 of each frozen file, by its path in the study."""
    code: Sha256
    source_commit: str | None
    source_dirty: bool
    frozen_at: str
    """UTC, a label for people."""

    def digest(self) -> str:
        """SHA-256 of the canonical JSON of the record."""
        fields: Json = self.model_dump(mode="json")
        return digest_of(fields)


class Frozen(NamedTuple):
    """A freeze record and its manifest, read back and consistent with each other."""

    record: FreezeRecord
    manifest: Manifest


def manifest_file(study: Study, experiment: str) -> Path:
    """Where the manifest of an experiment stands."""
    return study.preregistration / f"{experiment}.manifest.json"


def record_file(study: Study, experiment: str) -> Path:
    """Where the freeze record of an experiment stands."""
    return study.preregistration / f"{experiment}.freeze.json"


def input_files(study: Study, inputs: Inputs) -> dict[str, str]:
    """SHA-256 of every file that the experiment is read from, by its path in the study."""
    paths = [study.experiment_file(inputs.experiment.name)]
    paths += sorted(p for p in study.contracts.rglob("*") if p.is_file())
    paths += sorted(study.task_file(name) for name in inputs.tasks)
    return {path.relative_to(study.root).as_posix(): sha256_hex(path.read_bytes()) for path in paths}


def make_freeze(study: Study, inputs: Inputs, code: str, source: SourceState, now: str) -> Frozen:
    """Expand and describe an experiment; nothing is written.

    Raises:
        RefuseToStart: a preregistered experiment with an unpinned model fact or a dirty source tree.
    """
    if inputs.experiment.preregistered:
        _refuse_unready(inputs, source)
    manifest = expand(inputs, code)
    record = FreezeRecord(
        schema_version=1,
        experiment=inputs.experiment.name,
        manifest=manifest.digest(),
        cells=len(manifest.cells),
        inputs=input_files(study, inputs),
        code=code,
        source_commit=source.commit,
        source_dirty=source.dirty,
        frozen_at=now,
    )
    return Frozen(record, manifest)


def _refuse_unready(inputs: Inputs, source: SourceState) -> None:
    models = dict(inputs.models)
    if inputs.embedder:
        models[inputs.experiment.embedder] = inputs.embedder
    for name, model in sorted(models.items()):
        unpinned = model.facts.unpinned()
        if unpinned:
            raise RefuseToStart(
                f"contracts/models.toml: {name}: {', '.join(unpinned)} not verified at a host",
                repair="a frozen study names models by verified facts; fill them in first",
            )
    if source.dirty:
        raise RefuseToStart(
            "the source tree has uncommitted changes", repair="commit them: a frozen study names its code"
        )


def read_frozen(study: Study, experiment: str) -> Frozen:
    """Read record and manifest of an experiment.

    Raises:
        RefuseToStart: not frozen yet, or the manifest is not the one that the record names.
        BadInput: a file is malformed.
    """
    path = record_file(study, experiment)
    if not path.is_file():
        raise RefuseToStart(f"{experiment} is not frozen", repair=f"run: repairlab freeze {experiment}")
    record = load_json(FreezeRecord, path)
    manifest = load_json(Manifest, manifest_file(study, experiment))
    if manifest.digest() != record.manifest:
        raise RefuseToStart(
            f"{manifest_file(study, experiment)}: digest {manifest.digest()[:12]} is not the frozen"
            f" {record.manifest[:12]}",
            repair="restore the frozen manifest; a frozen file is never edited",
        )
    return Frozen(record, manifest)


def differences(study: Study, inputs: Inputs, frozen: Frozen, code: str) -> tuple[str, ...]:
    """What differs between a freeze and the study as it stands; empty when nothing does."""
    found: list[str] = []
    now = input_files(study, inputs)
    then = frozen.record.inputs
    for path in sorted(now.keys() | then.keys()):
        if path not in now:
            found.append(f"{path}: frozen, and gone")
        elif path not in then:
            found.append(f"{path}: not among the frozen files")
        elif now[path] != then[path]:
            found.append(f"{path}: changed since the freeze")
    if code != frozen.record.code:
        found.append(f"research code: revision {code[:12]} is not the frozen {frozen.record.code[:12]}")
    if expand(inputs, frozen.record.code) != frozen.manifest:
        found.append("manifest: its cells are not those that the inputs expand to")
    return tuple(found)


def encode(model: FreezeRecord | Manifest) -> bytes:
    """The JSON text of a record or manifest, for people to read and diff."""
    return (json.dumps(model.model_dump(mode="json"), indent=1, ensure_ascii=True) + "\n").encode()
