"""Bringing a host's server back where the harness controls it: start it, or stop and start one that hangs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, Protocol, TypeAlias

from repairlab.contract.errors import InfrastructureFailure, RepairlabError
from repairlab.hosts.transport import Clock

Step: TypeAlias = Literal["start", "stop"]
_LOOK_SECONDS = 0.25


class Greeter(Protocol):
    """What answers for a server; see `repairlab.hosts.client.LMStudioClient`."""

    def greet(self) -> None: ...


class Controller(Protocol):
    """What starts and stops it; see `repairlab.hosts.lms.Lms`."""

    def start_server(self, port: int | None) -> None: ...

    def stop_server(self) -> bool: ...


class ServerControl:
    """Keeps one server answering.

    Only the greeting proves that it does; what ``lms server status`` says is not even asked.

    Args:
        greeter: the client.
        controller: ``None`` where the harness does not control the server; then nothing is ever done.
        port: for the start; ``None`` takes the port used last.
        clock: monotonic seconds.
        sleep: waits so many seconds between looks.
        on_step: told of each step before it is taken.
        start_seconds: how long a started server may take to greet.
    """

    def __init__(
        self,
        greeter: Greeter,
        controller: Controller | None,
        port: int | None,
        clock: Clock,
        sleep: Callable[[float], None],
        *,
        on_step: Callable[[Step], None] | None = None,
        start_seconds: float = 60.0,
    ) -> None:
        self._greeter = greeter
        self._controller = controller
        self._port = port
        self._clock = clock
        self._sleep = sleep
        self._on_step = on_step
        self._start_seconds = start_seconds

    def wake(self) -> tuple[Step, ...]:
        """Return when the server greets; the steps that it took.

        Raises:
            RefuseToStart, InfrastructureFailure: what the greeting failed with, if nothing can be done about
                it (another server, no control), or if the steps did not help.
        """
        failure = self._fails()
        if failure is None:
            return ()
        kind = _kind_of(failure)
        if self._controller is None or not kind.startswith("host-"):
            raise failure
        steps: tuple[Step, ...] = ("start",) if kind == "host-unreachable" else ("stop", "start")
        for step in steps:
            if self._on_step:
                self._on_step(step)
            if step == "stop":
                self._controller.stop_server()
            else:
                self._controller.start_server(self._port)
        self._await_greeting()
        return steps

    def _await_greeting(self) -> None:
        limit = self._clock() + self._start_seconds
        while (failure := self._fails()) is not None:
            if self._clock() >= limit:
                raise failure
            self._sleep(_LOOK_SECONDS)

    def _fails(self) -> RepairlabError | None:
        try:
            self._greeter.greet()
        except RepairlabError as failure:
            return failure
        return None


def _kind_of(failure: RepairlabError) -> str:
    """The kind of what went wrong, also where the table made a refusal of it."""
    for one in (failure, failure.__cause__):
        if isinstance(one, InfrastructureFailure):
            return one.kind
    return ""
