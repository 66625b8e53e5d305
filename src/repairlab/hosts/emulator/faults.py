"""Faults of a host as data: at which request of a route, or in which span of time, what goes wrong.

A scenario is a list of ``{"route": "POST /v1/chat/completions", "from": 1, "times": 1, "do": {...}}``, where
``do`` names a ``kind`` and what that kind needs (`repairlab.hosts.emulator.actions`). Requests of a route are
counted from 1; the route ``*`` stands for every route, with the count of all requests. ``after_seconds`` and
``until_seconds`` bound the host's clock. The first entry that covers a request acts.
"""

from __future__ import annotations

from dataclasses import dataclass

from repairlab.contract.errors import BadInput
from repairlab.hosts.emulator.actions import ROUTES, Action, read_action
from repairlab.hosts.emulator.fields import Fields

EVERY_ROUTE = "*"


@dataclass(frozen=True, slots=True)
class Request:
    """What a fault is held against."""

    route: str
    count: int
    """Requests of this route so far, this one included."""
    total: int
    """Requests of all routes so far, this one included."""
    seconds: float
    """The host's clock."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One entry of a scenario."""

    route: str
    first: int
    times: int | None
    """``None`` means from `first` on."""
    action: Action
    after_seconds: float = 0.0
    until_seconds: float | None = None

    def covers(self, request: Request) -> bool:
        """Whether `request` meets this fault."""
        if self.route not in (EVERY_ROUTE, request.route):
            return False
        count = request.total if self.route == EVERY_ROUTE else request.count
        in_time = request.seconds >= self.after_seconds and (
            self.until_seconds is None or request.seconds < self.until_seconds
        )
        return in_time and count >= self.first and (self.times is None or count < self.first + self.times)


@dataclass(frozen=True, slots=True)
class Scenario:
    """Faults in order of precedence."""

    faults: tuple[Fault, ...] = ()

    def action(self, request: Request) -> Action | None:
        """What happens at `request`."""
        return next((fault.action for fault in self.faults if fault.covers(request)), None)


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
    after = fields.seconds("after_seconds", 0.0)
    until = fields.optional_seconds("until_seconds")
    action = read_action(fields.mapping("do"), f"{where}.do")
    fields.close()
    if route not in ROUTES.get(type(action), (route,)):
        raise BadInput(f"{where}: {type(action).__name__} cannot happen at {route}")
    return Fault(route, first, times, action, after, until)
