"""Who may see outcomes, and when. One function decides for every command.

Outcomes of a preregistered experiment are seen by nobody before its last cell is sealed; then they are
unsealed once, with a reason. Looking earlier is possible, needs a reason as well, and stays on record for
good: ``preregistration/unblinding.jsonl`` is appended to, and each line holds the digest of all before it.

Blinding is an agreement that leaves a trace. It is no encryption: whoever reads `raw/` by other means sees
what is there.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Literal, NamedTuple

from repairlab.contract.canonical import sha256_hex
from repairlab.contract.errors import BadInput, IntegrityViolation, RefuseToStart
from repairlab.contract.experiment import Experiment
from repairlab.contract.strict import StrictModel, parse_json
from repairlab.contract.study import Study
from repairlab.contract.task import Sha256


class Blinded(RefuseToStart):
    """Outcomes were asked for that nobody is to see yet."""


class Asked(NamedTuple):
    """Who asks to see outcomes, and for which reason."""

    command: str
    user: str
    at_utc: str
    reason: str = ""
    """Empty when unblinding was not asked for."""


class Look(StrictModel):
    """One line of the log: outcomes were shown to somebody."""

    kind: Literal["interim-look", "unsealing"]
    at_utc: str
    experiment: str
    command: str
    user: str
    reason: str
    sealed: int
    planned: int
    before_this: Sha256
    """SHA-256 of every byte of the log before this line."""


def log_file(study: Study) -> Path:
    """Where looks are logged."""
    return study.preregistration / "unblinding.jsonl"


def looks(study: Study, experiment: str) -> tuple[Look, ...]:
    """Every logged look at the outcomes of `experiment`, oldest first.

    Raises:
        IntegrityViolation: a line of the log was changed or taken out.
    """
    path = log_file(study)
    data = path.read_bytes() if path.is_file() else b""
    found, offset = [], 0
    for number, line in enumerate(data.splitlines(keepends=True), start=1):
        try:
            look = parse_json(Look, line, f"{path}:{number}")
        except BadInput as error:
            raise IntegrityViolation(error.message) from error
        if look.before_this != sha256_hex(data[:offset]):
            raise IntegrityViolation(f"{path}:{number}: a line before this one was changed or taken out")
        offset += len(line)
        found.append(look)
    return tuple(look for look in found if look.experiment == experiment)


def open_outcomes(
    study: Study, experiment: Experiment, sealed: int, planned: int, asked: Asked
) -> tuple[Look, ...]:
    """Allow a command to show outcomes, or refuse it. Every command that could show one asks here first.

    Args:
        study: where the log stands.
        experiment: whose outcomes.
        sealed: planned cells that are sealed.
        planned: all planned cells.
        asked: who asks; a reason is an order to log.

    Returns:
        Every look on record, this one included. Empty for an experiment that is not blinded.

    Raises:
        Blinded: the outcomes stay closed.
        IntegrityViolation: the log was edited.
    """
    if not experiment.blinded:
        return ()
    before, complete = looks(study, experiment.name), sealed == planned
    unsealed = any(look.kind == "unsealing" for look in before)
    if complete and unsealed:
        return before
    if not asked.reason.strip():
        if complete:
            raise Blinded(
                f"{experiment.name} is complete, and its outcomes are not unsealed yet",
                repair="--unblind REASON unseals them, once and on record",
            )
        raise Blinded(
            f"{experiment.name} is under way ({sealed} of {planned} cells sealed): its outcomes stay blinded",
            repair="repairlab status counts cells; --unblind REASON shows outcomes and stays on record",
        )
    look = Look(
        kind="unsealing" if complete else "interim-look",
        at_utc=asked.at_utc,
        experiment=experiment.name,
        command=asked.command,
        user=asked.user,
        reason=asked.reason.strip(),
        sealed=sealed,
        planned=planned,
        before_this=sha256_hex(log_file(study).read_bytes() if log_file(study).is_file() else b""),
    )
    _append(log_file(study), look)
    return (*before, look)


def may_show(study: Study, experiment: Experiment, sealed: int, planned: int) -> bool:
    """Whether outcomes are open already; nothing is logged, and nothing refused."""
    if not experiment.blinded:
        return True
    return sealed == planned and any(look.kind == "unsealing" for look in looks(study, experiment.name))


def veiled(difference: str) -> str:
    """Where a record and its replay differ, without what either says there: that may be an outcome."""
    where, mark, _ = difference.partition(": recorded ")
    return f"{where if mark else 'somewhere'}: what differs is blinded"


def _append(path: Path, look: Look) -> None:
    line = json.dumps(look.model_dump(mode="json"), sort_keys=True) + "\n"
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(descriptor, line.encode())
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
