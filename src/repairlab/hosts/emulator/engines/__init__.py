"""What answers in place of a language model: programs of known behaviour, labelled as such everywhere."""

from __future__ import annotations

from collections.abc import Mapping

from repairlab.hosts.emulator.catalog import FLOOR, NAVIGATOR, STATEMENT
from repairlab.hosts.emulator.engines.floor import Floor
from repairlab.hosts.emulator.engines.knowledge import Knowledge
from repairlab.hosts.emulator.engines.navigator import Navigator
from repairlab.hosts.emulator.engines.protocol import Engine
from repairlab.hosts.emulator.engines.statement import Statement


def build_engines(knowledge: Knowledge) -> Mapping[str, Engine]:
    """All engines that talk, by the names that a host's configuration uses."""
    return {FLOOR: Floor(), NAVIGATOR: Navigator(knowledge), STATEMENT: Statement(knowledge)}
