"""`repairlab freeze` and `repairlab verify`."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from repairlab.contract.errors import IntegrityViolation, RefuseToStart
from repairlab.contract.study import Inputs, Study, load_inputs, open_study
from repairlab.manifest.freeze import (
    Frozen,
    differences,
    encode,
    make_freeze,
    manifest_file,
    read_frozen,
    record_file,
)
from repairlab.runner.provenance import revision_of, source_state
from repairlab.store.layout import Layout
from repairlab.store.sealed import faults, sealed_names


def freeze_command(root: Path, experiment: str, *, replace: bool) -> None:
    """Freeze, or say that the experiment is frozen as it stands."""
    study = open_study(root)
    frozen, fresh = freeze(study, experiment, replace=replace)
    verb = "frozen" if fresh else "already frozen, and nothing differs"
    print(f"{experiment}: {verb}: {frozen.record.cells} cells, freeze record {frozen.record.digest()[:12]}")


def freeze(study: Study, experiment: str, *, replace: bool) -> tuple[Frozen, bool]:
    """Freeze an experiment; the second value tells whether anything was written.

    Raises:
        RefuseToStart: it is frozen and something differs, and it may not or was not asked to be replaced.
    """
    inputs = load_inputs(study, experiment)
    code = revision_of(study)
    if record_file(study, experiment).is_file():
        frozen = read_frozen(study, experiment)
        found = differences(study, inputs, frozen, code)
        if not found:
            return frozen, False
        if not replace or inputs.experiment.preregistered:
            raise RefuseToStart(
                f"{experiment} is frozen, and differs now:\n  " + "\n  ".join(found),
                repair=_how_to_go_on(inputs, experiment),
            )
    frozen = make_freeze(study, inputs, code, source_state(), _now())
    _write(study, experiment, frozen)
    return frozen, True


def checked(study: Study, experiment: str) -> tuple[Inputs, Frozen]:
    """Inputs and freeze of an experiment, with nothing different.

    Raises:
        RefuseToStart: not frozen, or something differs.
    """
    inputs = load_inputs(study, experiment)
    frozen = read_frozen(study, experiment)
    found = differences(study, inputs, frozen, revision_of(study))
    if found:
        raise RefuseToStart(
            f"{experiment} differs from its freeze:\n  " + "\n  ".join(found),
            repair=_how_to_go_on(inputs, experiment),
        )
    return inputs, frozen


def verify_command(root: Path, experiment: str) -> None:
    """Check freeze record, manifest, inputs, code and every seal; all faults are listed."""
    study = open_study(root)
    inputs = load_inputs(study, experiment)
    frozen = read_frozen(study, experiment)
    layout = Layout(study.raw / experiment, study.incomplete / experiment)
    planned = {cell.name: cell for cell in frozen.manifest.cells}
    found = [*differences(study, inputs, frozen, revision_of(study)), *faults(layout, planned)]
    names = sealed_names(layout)
    foreign = [name for name in names if name not in planned]
    freeze_digest = frozen.record.digest()[:12]
    print(f"{experiment}: {len(planned)} cells planned, {len(names)} sealed, freeze {freeze_digest}")
    if foreign:
        print(
            f"  {len(foreign)} sealed cells belong to another freeze of this experiment, such as {foreign[0]}"
        )
    if found:
        raise IntegrityViolation(f"{len(found)} faults:\n  " + "\n  ".join(found))
    print("  every frozen input and every seal holds")


def _how_to_go_on(inputs: Inputs, experiment: str) -> str:
    if inputs.experiment.preregistered:
        return "restore what was frozen; a preregistered experiment is never frozen anew"
    return f"restore what was frozen, or run: repairlab freeze {experiment} --replace"


def _write(study: Study, experiment: str, frozen: Frozen) -> None:
    """Manifest first: a record never names a manifest that is not there."""
    for path, data in (
        (manifest_file(study, experiment), encode(frozen.manifest)),
        (record_file(study, experiment), encode(frozen.record)),
    ):
        scratch = path.with_suffix(".new")
        scratch.write_bytes(data)
        scratch.replace(path)


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
