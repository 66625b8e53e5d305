"""The freeze record of an experiment: a digest of every frozen input, and of the manifest made from them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from repairlab.contract.canonical import Json, digest_of, sha256_hex
from repairlab.contract.errors import RefuseToStart
from repairlab.contract.experiment import Level
from repairlab.contract.strict import StrictModel, load_json
from repairlab.contract.study import Inputs, Study
from repairlab.contract.task import Sha256
from repairlab.manifest.amendments import Amendment, applied, changes, with_code
from repairlab.manifest.cell import Manifest
from repairlab.manifest.expand import expand
from repairlab.manifest.revision import Code


class SourceState(NamedTuple):
    """The source tree that repairlab runs from, as far as git knows it."""

    commit: str | None
    """Commit id, or ``None`` for an installed copy without git."""
    dirty: bool


class FreezeRecord(StrictModel):
    """What was frozen. Every attempt that runs under it names the digest of the chain's last link."""

    schema_version: Literal[1]
    experiment: str
    manifest: Sha256
    cells: int
    inputs: dict[str, Sha256]
    """SHA-256 of each frozen file, by its path in the study."""
    code: Sha256
    sources: dict[str, Sha256]
    """SHA-256 of each file of the program that the revision covers, by a path that starts with ``src``."""
    environments: dict[str, Sha256]
    """Task to the key of its test environment: requirements, exact interpreter or toolchain, platform. Empty
    where they were not frozen."""
    host_level: Level
    """What a verification of the host has to rest on; a run refuses a host below it."""
    source_commit: str | None
    source_dirty: bool
    frozen_at: str
    """UTC, a label for people; `tag` or a token beside the record is what a third party can check."""
    tag: str
    """Name of the signed git tag that is to witness this record; empty for none."""

    def digest(self) -> str:
        """SHA-256 of the canonical JSON of the record."""
        fields: Json = self.model_dump(mode="json")
        return digest_of(fields)


class Frozen(NamedTuple):
    """A freeze record, its amendments and the manifest in force, read back and consistent with each other."""

    record: FreezeRecord
    manifest: Manifest
    """With the code revision of the last amendment in every identity."""
    amendments: tuple[Amendment, ...] = ()

    @property
    def chain(self) -> tuple[str, ...]:
        """Digests of the record and of each amendment, in order."""
        return (self.record.digest(), *(one.digest() for one in self.amendments))

    @property
    def head(self) -> str:
        """Digest of the last link: what an attempt that runs now names."""
        return self.chain[-1]

    @property
    def revisions(self) -> tuple[str, ...]:
        """Code revisions in order, the one in force last."""
        return (self.record.code, *(one.code for one in self.amendments))

    @property
    def code(self) -> str:
        """The code revision in force."""
        return self.revisions[-1]

    @property
    def manifest_digest(self) -> str:
        """Digest of the manifest in force, as the last link names it."""
        return self.amendments[-1].manifest if self.amendments else self.record.manifest

    @property
    def program(self) -> Code:
        """The program in force."""
        sources = {path: sha for path, sha in self.files().items() if path.startswith("src/")}
        return Code(self.code, sources)

    def files(self) -> dict[str, str]:
        """Every frozen file, of the study and of the program, as the last link leaves it."""
        files = {**self.record.inputs, **self.record.sources}
        for amendment in self.amendments:
            files = applied(files, amendment.changed)
        return files


def manifest_file(study: Study, experiment: str) -> Path:
    """Where the manifest of an experiment stands."""
    return study.preregistration / f"{experiment}.manifest.json"


def record_file(study: Study, experiment: str) -> Path:
    """Where the freeze record of an experiment stands."""
    return study.preregistration / f"{experiment}.freeze.json"


def amendment_file(study: Study, experiment: str, number: int) -> Path:
    """Where an amendment of an experiment stands."""
    return study.preregistration / f"{experiment}.amendment-{number:02d}.json"


def input_files(study: Study, inputs: Inputs) -> dict[str, str]:
    """SHA-256 of every file that the experiment is read from, by its path in the study."""
    paths = [study.experiment_file(inputs.experiment.name)]
    paths += sorted(p for p in study.contracts.rglob("*") if p.is_file())
    paths += sorted(study.task_file(name) for name in inputs.tasks)
    if inputs.experiment.preregistered:
        paths += sorted(p for p in study.preregistration.iterdir() if _is_plan(p))
    return {path.relative_to(study.root).as_posix(): sha256_hex(path.read_bytes()) for path in paths}


def _is_plan(path: Path) -> bool:
    """Whether a file of ``preregistration/`` belongs to the plan: prose and hypotheses, but no log."""
    return path.is_file() and path.suffix in (".md", ".toml") and path.name not in _LOGS


_LOGS = frozenset({"DEVIATIONS.md", "README.md"})


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
    frozen = Frozen(record, manifest)
    while (path := amendment_file(study, experiment, len(frozen.amendments) + 1)).is_file():
        frozen = _amended(frozen, load_json(Amendment, path), path)
    _refuse_loose(study, experiment, len(frozen.amendments))
    return frozen


def _amended(frozen: Frozen, amendment: Amendment, path: Path) -> Frozen:
    """`frozen` with one more link, which has to follow from it."""
    manifest = with_code(frozen.manifest, amendment.code)
    facts = (
        ("experiment", amendment.experiment, frozen.record.experiment),
        ("number", amendment.number, len(frozen.amendments) + 1),
        ("parent", amendment.parent, frozen.head),
        ("manifest", amendment.manifest, manifest.digest()),
    )
    for name, found, expected in facts:
        if found != expected:
            raise RefuseToStart(
                f"{path}: {name} is {found!r}, and {expected!r} follows from what stands before it",
                repair="restore the freeze record and its amendments; a frozen file is never edited",
            )
    following = Frozen(frozen.record, manifest, (*frozen.amendments, amendment))
    try:
        following.files()
    except ValueError as error:
        raise RefuseToStart(f"{path}: {error}", repair="restore it; a frozen file is never edited") from error
    return following


def _refuse_loose(study: Study, experiment: str, count: int) -> None:
    """An amendment behind a gap is one that was taken out."""
    known = {amendment_file(study, experiment, number) for number in range(1, count + 1)}
    loose = sorted(set(study.preregistration.glob(f"{experiment}.amendment-*.json")) - known)
    if loose:
        raise RefuseToStart(
            f"{loose[0]} follows on nothing: amendment {count + 1} is missing", repair="restore it"
        )


def differences(study: Study, inputs: Inputs, frozen: Frozen, code: Code) -> tuple[str, ...]:
    """What differs between a freeze and the study as it stands; empty when nothing does."""
    found: list[str] = []
    then = {path: sha for path, sha in frozen.files().items() if not path.startswith("src/")}
    now = input_files(study, inputs)
    for path in sorted(now.keys() | then.keys()):
        if path not in now:
            found.append(f"{path}: frozen, and gone")
        elif path not in then:
            found.append(f"{path}: not among the frozen files")
        elif now[path] != then[path]:
            found.append(f"{path}: changed since the freeze")
    if code.revision != frozen.code:
        found.append(
            f"research code: revision {code.revision[:12]} is not the frozen {frozen.code[:12]}"
            f"{_named(list(changes(frozen.program.sources, code.sources)))}"
        )
    if expand(inputs, frozen.code) != frozen.manifest:
        found.append("manifest: its cells are not those that the inputs expand to")
    if inputs.experiment.host_level != frozen.record.host_level:
        found.append(f"host level: {inputs.experiment.host_level}, not the frozen {frozen.record.host_level}")
    return tuple(found)


def _named(paths: Sequence[str], most: int = 5) -> str:
    """`paths` in brackets, the first few of them."""
    if not paths:
        return ""
    more = f" and {len(paths) - most} more" if len(paths) > most else ""
    return f" ({', '.join(paths[:most])}{more})"


def encode(model: FreezeRecord | Manifest | Amendment) -> bytes:
    """The JSON text of a record, manifest or amendment, for people to read and diff."""
    return (json.dumps(model.model_dump(mode="json"), indent=1, ensure_ascii=True) + "\n").encode()
