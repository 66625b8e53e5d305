"""`repairlab verify`: hold a freeze, its timestamps, sealed cells and decisions against their digests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from repairlab.contract.errors import IntegrityViolation, RefuseToStart
from repairlab.contract.study import Study, load_inputs, open_study
from repairlab.manifest.deviations import read
from repairlab.manifest.freeze import Frozen, amendment_file, differences, read_frozen, record_file
from repairlab.runner.campaign import Standing, standing
from repairlab.runner.provenance import revision_of
from repairlab.runner.witnesses import Witness, witnesses
from repairlab.store.carried import decided, faults_of_decisions
from repairlab.store.layout import Layout
from repairlab.store.sealed import faults, read_cell, sealed_names


def verify_command(root: Path, experiment: str, authority: Path | None) -> None:
    """Check everything that is frozen or sealed; every fault is listed.

    Raises:
        RefuseToStart: something differs.
    """
    study = open_study(root)
    inputs = load_inputs(study, experiment)
    frozen = read_frozen(study, experiment)
    layout = Layout(study.raw / experiment, study.incomplete / experiment)
    planned = {cell.name: cell for cell in frozen.manifest.cells}
    stamps = tuple(_witnesses(study, frozen, authority))
    found = [
        *_faults_of_log(study),
        *differences(study, inputs, frozen, revision_of(study)),
        *faults(layout, planned),
        *faults_of_decisions(layout),
        *(stamp.line for stamp in stamps if stamp.state == "fails"),
    ]
    if inputs.experiment.blinded:
        found += _of_another_freeze(layout, frozen)
    now = standing(layout, frozen.manifest.cells, inputs.shared.infrastructure.attempts)
    _print(frozen, layout, now, stamps)
    if found:
        raise RefuseToStart(f"{len(found)} faults:\n  " + "\n  ".join(found))
    print("  every frozen input and every seal holds")


def _print(frozen: Frozen, layout: Layout, now: Standing, stamps: tuple[Witness, ...]) -> None:
    name, count = frozen.record.experiment, len(sealed_names(layout))
    print(f"{name}: {len(frozen.manifest.cells)} cells planned, {count} sealed, freeze {frozen.head[:12]}")
    for amendment in frozen.amendments:
        print(f"  amendment {amendment.number} of {amendment.amended_at}: {amendment.reason}")
    if frozen.amendments:
        refused = len(decided(layout, "refused"))
        print(f"  {len(now.carried)} cells carried over to the code in force, {refused} ever refused")
    print(
        f"  host level {frozen.record.host_level}; {len(frozen.record.environments)} test environments frozen"
    )
    if now.foreign:
        print(
            f"  {len(now.foreign)} sealed cells belong to another freeze or revision, such as"
            f" {now.foreign[0]}"
        )
    for stamp in stamps:
        print(f"  {stamp.line}")


def _witnesses(study: Study, frozen: Frozen, authority: Path | None) -> Iterator[Witness]:
    name = frozen.record.experiment
    yield from witnesses(record_file(study, name), frozen.record.tag, authority)
    for amendment in frozen.amendments:
        yield from witnesses(amendment_file(study, name, amendment.number), amendment.tag, authority)


def _faults_of_log(study: Study) -> Iterator[str]:
    try:
        read(study)
    except IntegrityViolation as error:
        yield error.message


def _of_another_freeze(layout: Layout, frozen: Frozen) -> Iterator[str]:
    """Sealed cells of a preregistered experiment that ran under none of its links, or under the wrong one."""
    revision_of_link = dict(zip(frozen.chain, frozen.revisions, strict=True))
    for name in sealed_names(layout):
        record = read_cell(layout.sealed(name))
        revision = revision_of_link.get(record.freeze)
        if revision is None:
            yield f"{name}: ran under {record.freeze[:12]}, which is no link of this freeze"
        elif revision != record.cell.identity.code:
            yield f"{name}: names a link of the freeze that has another code revision"
