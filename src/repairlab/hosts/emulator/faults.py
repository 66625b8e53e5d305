"""Faults of a host as data: at which request of a route what goes wrong.

A scenario is a list of ``{"route": "POST /v1/chat/completions", "from": 1, "times": 1, "do": {...}}``, where
``do`` names a ``kind`` and what that kind needs. Requests of a route are counted from 1; the first entry that
covers the count acts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from repairlab.contract.canonical import Json
from repairlab.contract.errors import BadInput
from repairlab.hosts.emulator.fields import Fields

CHAT_ROUTE = "POST /v1/chat/completions"
LOAD_ROUTE = "POST /api/v1/models/load"
UNLOAD_ROUTE = "POST /api/v1/models/unload"


@dataclass(frozen=True, slots=True)
class ReplyInstead:
    """Another reply in place of the right one: an error in any form at any status, or a literal stream."""

    status: int
    content_type: str
    body: str
    cut: bool = False
    """Close the connection before the body is properly ended."""


@dataclass(frozen=True, slots=True)
class CutStream:
    """The socket closes after so many frames of the stream."""

    after_frames: int


@dataclass(frozen=True, slots=True)
class ErrorFrame:
    """After so many frames the stream holds an error and ends."""

    after_frames: int
    body: Json


@dataclass(frozen=True, slots=True)
class WrongModel:
    """The reply names another model."""

    model: str


@dataclass(frozen=True, slots=True)
class Pace:
    """Waits before each frame, and one long silence before a certain frame."""

    frame_seconds: float
    silent_before_frame: int | None
    silent_seconds: float


@dataclass(frozen=True, slots=True)
class ContextDrift:
    """Answering changes the context of the instance."""

    context: int


@dataclass(frozen=True, slots=True)
class ContextClamp:
    """A load takes another context than was asked for."""

    context: int
    echo_tells: bool
    """Whether the reply to the load tells the truth; the list always does."""


@dataclass(frozen=True, slots=True)
class ExtraInstance:
    """A load brings a second instance of the model, with a context of its own."""

    context: int


@dataclass(frozen=True, slots=True)
class LingeringUnload:
    """An unload is acknowledged, and the instance stays in the list for so many looks."""

    looks: int


Action: TypeAlias = (
    ReplyInstead
    | CutStream
    | ErrorFrame
    | WrongModel
    | Pace
    | ContextDrift
    | ContextClamp
    | ExtraInstance
    | LingeringUnload
)
_ROUTES: Mapping[type[Action], str] = {
    CutStream: CHAT_ROUTE,
    ErrorFrame: CHAT_ROUTE,
    WrongModel: CHAT_ROUTE,
    Pace: CHAT_ROUTE,
    ContextDrift: CHAT_ROUTE,
    ContextClamp: LOAD_ROUTE,
    ExtraInstance: LOAD_ROUTE,
    LingeringUnload: UNLOAD_ROUTE,
}


@dataclass(frozen=True, slots=True)
class Fault:
    """One entry of a scenario."""

    route: str
    first: int
    times: int | None
    """``None`` means from `first` on."""
    action: Action

    def covers(self, route: str, count: int) -> bool:
        """Whether the `count`-th request of `route` meets this fault."""
        inside = self.times is None or count < self.first + self.times
        return route == self.route and count >= self.first and inside


@dataclass(frozen=True, slots=True)
class Scenario:
    """Faults in order of precedence."""

    faults: tuple[Fault, ...] = ()

    def action(self, route: str, count: int) -> Action | None:
        """What happens at the `count`-th request of `route`."""
        return next((fault.action for fault in self.faults if fault.covers(route, count)), None)


def parse_scenario(data: object, where: str) -> Scenario:
    """Typed scenario of parsed JSON; `BadInput` for an unknown kind, key or combination."""
    if not isinstance(data, list):
        raise BadInput(f"{where}: a list of faults belongs here")
    return Scenario(tuple(_fault(item, f"{where}[{index}]") for index, item in enumerate(data)))


def _fault(item: object, where: str) -> Fault:
    fields = Fields(item, where)
    route = fields.text("route")
    first = fields.integer("from", 1, at_least=1)
    times = fields.optional_integer("times", at_least=1)
    action = _action(fields.mapping("do"), f"{where}.do")
    fields.close()
    if _ROUTES.get(type(action), route) != route:
        raise BadInput(f"{where}: {type(action).__name__} cannot happen at {route}")
    return Fault(route, first, times, action)


def _action(data: Mapping[str, object], where: str) -> Action:
    fields = Fields(data, where)
    kind = fields.text("kind")
    read = _KINDS.get(kind)
    if read is None:
        raise BadInput(f"{where}: kind: one of {', '.join(sorted(_KINDS))} belongs here")
    action = read(fields)
    fields.close()
    return action


_KINDS: Mapping[str, Callable[[Fields], Action]] = {
    "reply-instead": lambda f: ReplyInstead(
        f.integer("status", at_least=200),
        f.text("content_type", "application/json"),
        f.text("body"),
        f.flag("cut", False),
    ),
    "cut-stream": lambda f: CutStream(f.integer("after_frames")),
    "error-frame": lambda f: ErrorFrame(f.integer("after_frames"), f.anything("body")),
    "wrong-model": lambda f: WrongModel(f.text("model")),
    "pace": lambda f: Pace(
        f.seconds("frame_seconds", 0.0),
        f.optional_integer("silent_before_frame"),
        f.seconds("silent_seconds", 0.0),
    ),
    "context-drift": lambda f: ContextDrift(f.integer("context", at_least=1)),
    "context-clamp": lambda f: ContextClamp(f.integer("context", at_least=1), f.flag("echo_tells", True)),
    "extra-instance": lambda f: ExtraInstance(f.integer("context", at_least=1)),
    "lingering-unload": lambda f: LingeringUnload(f.integer("looks", at_least=1)),
}
