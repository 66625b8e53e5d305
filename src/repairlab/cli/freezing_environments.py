"""The test environments of this machine, for a freeze that names them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from repairlab.contract.study import load_inputs, open_study
from repairlab.runner.provenance import revision_of


@dataclass(frozen=True, slots=True)
class Where:
    """What the command line was given of this machine."""

    sources: str
    cache: str
    sandbox: str


def environment_keys(root: Path, experiment: str, where: Where, *, asked: bool) -> dict[str, str]:
    """Key of each task's test environment; empty where the freeze does not name them.

    A preregistered experiment always names them, so its tasks have to be preparable where it is frozen.
    """
    study = open_study(root)
    inputs = load_inputs(study, experiment)
    if not asked and not inputs.experiment.preregistered:
        return {}
    from repairlab.cli.running import Options, machine_of, preparation_of  # heavy, and rarely needed

    options = Options(root, experiment, where.sources, where.cache, "", where.sandbox, plain=True)
    machine = machine_of(study, inputs, options)
    code = revision_of(study).revision
    return preparation_of(inputs, machine, code, lambda _event: None).environment_keys()
