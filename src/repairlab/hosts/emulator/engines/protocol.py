"""What an engine is: a pure function from one request to one reply. It keeps nothing between requests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from repairlab.contract.canonical import Json


@dataclass(frozen=True, slots=True)
class ToolOffer:
    """A tool of the request: its name and the names of its arguments."""

    name: str
    arguments: tuple[str, ...]
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The only values of an argument, where the schema lists them."""


@dataclass(frozen=True, slots=True)
class EngineRequest:
    """Messages as they came, and the tools on offer."""

    messages: tuple[Mapping[str, Any], ...]
    tools: tuple[ToolOffer, ...]

    def offer(self, name: str) -> ToolOffer | None:
        """The tool of this name, if it is on offer."""
        return next((tool for tool in self.tools if tool.name == name), None)

    def call(self, name: str, /, **arguments: Json) -> EngineCall | None:
        """A call of a tool on offer with those of `arguments` that it knows; ``None`` if it is not."""
        offer = self.offer(name)
        if offer is None:
            return None
        return EngineCall(name, {key: value for key, value in arguments.items() if key in offer.arguments})


@dataclass(frozen=True, slots=True)
class EngineCall:
    """A tool call that an engine makes."""

    name: str
    arguments: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class EngineReply:
    """What an engine says and does."""

    content: str
    calls: tuple[EngineCall, ...] = ()
    reasoning: str = ""


class Engine(Protocol):
    """Answers requests."""

    def reply(self, request: EngineRequest) -> EngineReply: ...
