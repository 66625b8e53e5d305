"""`repairlab freeze`: freezing an experiment, and amending its freeze."""

from __future__ import annotations

import getpass
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from repairlab.contract.errors import BadInput, RefuseToStart
from repairlab.contract.study import Inputs, Study, load_inputs, open_study
from repairlab.manifest.amendments import Amendment
from repairlab.manifest.deviations import Deviation, Unsealing, append, read
from repairlab.manifest.freeze import (
    Frozen,
    amendment_file,
    differences,
    encode,
    manifest_file,
    read_frozen,
    record_file,
)
from repairlab.manifest.making import Moment, amend, make_freeze
from repairlab.manifest.revision import Code
from repairlab.runner.provenance import revision_of, source_state
from repairlab.store.blinding import looks


class Wish(NamedTuple):
    """How an experiment is to be frozen."""

    replace: bool = False
    tag: str = ""
    environments: dict[str, str] | None = None


def freeze_command(root: Path, experiment: str, wish: Wish) -> None:
    """Freeze, or say that the experiment is frozen as it stands."""
    study = open_study(root)
    frozen, fresh = freeze(study, experiment, wish)
    verb = "frozen" if fresh else "already frozen, and nothing differs"
    print(f"{experiment}: {verb}: {frozen.record.cells} cells, freeze record {frozen.head[:12]}")
    if fresh and wish.tag:
        print(f"  commit preregistration/, then sign: git tag --sign {wish.tag} -m 'Freeze of {experiment}'")


def freeze(study: Study, experiment: str, wish: Wish) -> tuple[Frozen, bool]:
    """Freeze an experiment; the second value tells whether anything was written.

    Raises:
        RefuseToStart: it is frozen and something differs, and it may not or was not asked to be replaced.
    """
    inputs = load_inputs(study, experiment)
    code = revision_of(study)
    if record_file(study, experiment).is_file():
        found = _found(study, inputs, code, wish)
        if isinstance(found, Frozen):
            return found, False
        if not wish.replace or inputs.experiment.preregistered:
            raise RefuseToStart(
                f"{experiment} is frozen, and differs now:\n  " + "\n  ".join(found),
                repair=how_to_go_on(inputs),
            )
        for path in study.preregistration.glob(f"{experiment}.amendment-*.json"):
            path.unlink()
    frozen = make_freeze(study, inputs, code, _moment(wish.tag), wish.environments)
    # Manifest first: a record never names a manifest that is not there.
    _write(manifest_file(study, experiment), encode(frozen.manifest))
    _write(record_file(study, experiment), encode(frozen.record))
    return frozen, True


def _found(study: Study, inputs: Inputs, code: Code, wish: Wish) -> Frozen | tuple[str, ...]:
    """What is frozen already, or why it cannot stand. A replaceable record of an older form cannot."""
    try:
        frozen = read_frozen(study, inputs.experiment.name)
    except BadInput as error:
        if not wish.replace or inputs.experiment.preregistered:
            raise
        return (error.message,)
    found = list(differences(study, inputs, frozen, code))
    if wish.environments and wish.environments != frozen.record.environments:
        found.append("test environments: those of this machine are not the frozen ones")
    if wish.tag and wish.tag != frozen.record.tag:
        found.append(f"tag: {wish.tag}, and the record names {frozen.record.tag or 'none'}")
    return tuple(found) or frozen


def amend_command(root: Path, experiment: str, reason: str, tag: str) -> None:
    """Append an amendment to the freeze of an experiment, and log it as a deviation."""
    study = open_study(root)
    inputs, frozen = load_inputs(study, experiment), read_frozen(study, experiment)
    read(study)  # a log that was tampered with stops the command before anything is written
    amended = amend(study, inputs, frozen, revision_of(study), _moment(tag), reason)
    amendment = amended.amendments[-1]
    _write(amendment_file(study, experiment, amendment.number), encode(amendment))
    entry = append(study, _deviation(study, inputs, amendment, frozen))
    print(
        f"{experiment}: amendment {amendment.number} ({amended.head[:12]}) follows {frozen.head[:12]}:"
        f" {len(amendment.changed)} files changed; deviation D{entry.number:03d}"
    )
    if amendment.code != frozen.code:
        print(f"  sealed cells stand under it where they are carried over: repairlab carry-over {experiment}")


def _deviation(study: Study, inputs: Inputs, amendment: Amendment, before: Frozen) -> Deviation:
    listed = ", ".join(list(amendment.changed)[:8]) or "no file of the study"
    more = f" and {len(amendment.changed) - 8} more" if len(amendment.changed) > 8 else ""
    code = f"code revision {before.code[:12]} to {amendment.code[:12]}"
    effect = (
        "open until the carry-over: it replays every sealed cell and says which of them stand"
        if amendment.code != before.code
        else "none: the code revision and every identity stay as they were"
    )
    return Deviation(
        experiment=inputs.experiment.name,
        at=amendment.amended_at,
        unsealing=unsealing_of(study, inputs),
        what=f"amendment {amendment.number} ({amendment.digest()[:12]}), {code}; changed: {listed}{more}",
        why=" ".join(amendment.reason.split()),
        who=getpass.getuser(),
        effect=effect,
    )


def unsealing_of(study: Study, inputs: Inputs) -> Unsealing:
    """Whether outcomes may have been seen by now: those of an experiment that is not blinded always may."""
    if not inputs.experiment.blinded or looks(study, inputs.experiment.name):
        return "after"
    return "before"


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
            repair=how_to_go_on(inputs),
        )
    return inputs, frozen


def how_to_go_on(inputs: Inputs) -> str:
    """What to do when something differs from the freeze."""
    name = inputs.experiment.name
    amending = f"a repair of the harness is amended: repairlab freeze {name} --amend --reason TEXT"
    if inputs.experiment.preregistered:
        return f"restore what was frozen; {amending}; a preregistered experiment is never frozen anew"
    return f"restore what was frozen, or run: repairlab freeze {name} --replace; {amending}"


def _write(path: Path, data: bytes) -> None:
    scratch = path.with_suffix(".new")
    scratch.write_bytes(data)
    scratch.replace(path)


def _moment(tag: str) -> Moment:
    return Moment(source_state(), utc_now(), tag)


def utc_now() -> str:
    """The time of this machine, as records hold it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
