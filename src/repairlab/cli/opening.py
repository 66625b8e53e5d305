"""Asking for outcomes on behalf of a command: the one way from the command line to anything blinded."""

from __future__ import annotations

import getpass
from collections.abc import Callable
from datetime import UTC, datetime

from repairlab.contract.study import Inputs, Study
from repairlab.manifest.freeze import Frozen
from repairlab.store.blinding import Asked, Look, may_show, open_outcomes, veiled
from repairlab.store.carried import complete_names
from repairlab.store.layout import Layout


def outcomes_opened(
    study: Study, inputs: Inputs, frozen: Frozen, command: str, reason: str = ""
) -> tuple[Look, ...]:
    """Allow `command` to show outcomes of an experiment; see `repairlab.store.blinding.open_outcomes`.

    Raises:
        Blinded: the outcomes stay closed.
    """
    sealed, planned = progress(study, frozen)
    asked = Asked(command, getpass.getuser(), datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"), reason)
    return open_outcomes(study, inputs.experiment, sealed, planned, asked)


def veil(study: Study, inputs: Inputs, frozen: Frozen) -> Callable[[str], str]:
    """What a command does to a difference before it prints it: nothing, unless outcomes are closed."""
    if may_show(study, inputs.experiment, *progress(study, frozen)):
        return str
    return veiled


def progress(study: Study, frozen: Frozen) -> tuple[int, int]:
    """How many planned cells are sealed, and how many are planned."""
    name, cells = frozen.record.experiment, frozen.manifest.cells
    present = complete_names(Layout(study.raw / name, study.incomplete / name))
    return sum(cell.name in present for cell in cells), len(cells)
