"""What an experiment needs of the optional small models, and whether this machine has it."""

from __future__ import annotations

from repairlab.contract.study import Inputs
from repairlab.hosts.llama.package import MODEL_KEY, WEIGHTS_PACKAGE, WEIGHTS_VERSION, find_package


def wants_small_models(inputs: Inputs) -> bool:
    """Whether our own emulator has to offer a small model of the extra."""
    wanted = any(model.facts.key == MODEL_KEY for model in inputs.models.values())
    return wanted and inputs.experiment.host == "emulator"


def hold_small_models(inputs: Inputs) -> str:
    """What of the extra is installed that the experiment runs; empty where it runs none.

    Raises:
        RefuseToStart: a package is missing or not the pinned one; the repair says how to install it.
    """
    if not wants_small_models(inputs):
        return ""
    package = find_package()
    return f"{WEIGHTS_PACKAGE} {WEIGHTS_VERSION}, engine {package.engine_version}"
