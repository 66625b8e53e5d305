"""What an experiment needs of the optional small models, and whether this machine has it."""

from __future__ import annotations

from typing import NamedTuple

from repairlab.contract.study import Inputs
from repairlab.hosts.llama import package as llama
from repairlab.hosts.minilm import package as minilm


class SmallModels(NamedTuple):
    """Which models of the extra our own emulator has to offer."""

    llama: bool
    minilm: bool


def small_models(inputs: Inputs) -> SmallModels:
    """What the experiment runs of the extra; nothing where it has a host of its own."""
    ours = inputs.experiment.host == "emulator"
    embedder = inputs.embedder
    return SmallModels(
        llama=ours and any(model.facts.key == llama.MODEL_KEY for model in inputs.models.values()),
        minilm=ours and embedder is not None and embedder.facts.key == minilm.MODEL_KEY,
    )


def hold_small_models(inputs: Inputs) -> str:
    """What of the extra is installed that the experiment runs; empty where it runs none.

    Raises:
        RefuseToStart: a package is missing or not the pinned one; the repair says how to install it.
    """
    wanted, found = small_models(inputs), []
    if wanted.llama:
        version = llama.find_package().engine_version
        found.append(f"{llama.WEIGHTS_PACKAGE} on {llama.ENGINE_PACKAGE} {version}")
    if wanted.minilm:
        version = minilm.find_minilm().runtime_version
        found.append(f"{minilm.WEIGHTS_PACKAGE} on {minilm.RUNTIME_PACKAGE} {version}")
    return ", ".join(found)
