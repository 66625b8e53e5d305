"""Drive one started process to its end: handshake, bounded drain of its output, limits, time.

The result hangs on the process and its report alone. A child that keeps an inherited pipe open does not keep
the harness waiting: once the program has ended, what is left is killed and the pipes are read empty.
"""

from __future__ import annotations

import os
import selectors
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from repairlab.evaluation.sandbox.capped import Capped
from repairlab.evaluation.sandbox.model import READY, Limits, Stop
from repairlab.evaluation.sandbox.pipes import Pipes

_TICK = 0.05
_CHUNK = 1 << 16
_DRAIN_SECONDS = 5.0

Clock = Callable[[], float]


class Group(Protocol):
    """Everything that a run started, as its backend knows it."""

    def ready(self) -> None:
        """The program inside runs now."""

    def excess(self, limits: Limits) -> Stop | None:
        """Which bound all processes together break."""

    def kill(self) -> int | None:
        """End every process, the first one included; how many outlived the program, if that is known."""


@dataclass(frozen=True, slots=True)
class Ended:
    """What came out of a run. Times are readings of the clock; `ready_at` is None when nothing ran inside."""

    output: Capped
    report: bytes
    report_overflow: bool
    started_at: float
    ready_at: float | None
    ended_at: float
    stopped: Stop | None
    leftovers: int | None


def supervise(
    process: subprocess.Popen[bytes], group: Group, pipes: Pipes, payload: bytes, limits: Limits, clock: Clock
) -> Ended:
    """Serve `process` until it has ended or was stopped, and everything of its group is dead."""
    run = _Run(process, group, pipes, memoryview(payload), limits, clock)
    with selectors.DefaultSelector() as selector:
        try:
            run.serve(selector)
        finally:
            run.ended_at = clock()
            run.leftovers = group.kill()
            process.wait()
        run.drain()
    return Ended(
        run.output,
        bytes(run.report),
        run.report_overflow,
        run.started_at,
        run.ready_at,
        run.ended_at,
        run.stopped,
        run.leftovers,
    )


class _Run:
    def __init__(
        self,
        process: subprocess.Popen[bytes],
        group: Group,
        pipes: Pipes,
        payload: memoryview,
        limits: Limits,
        clock: Clock,
    ) -> None:
        self.process, self.group, self.pipes = process, group, pipes
        self.payload, self.limits, self.clock = payload, limits, clock
        self.output = Capped(limits.output_bytes)
        self.report = bytearray()
        self.report_overflow = False
        self.started_at = self.ended_at = clock()
        self.ready_at: float | None = None
        self.stopped: Stop | None = None
        self.leftovers: int | None = None

    def serve(self, selector: selectors.BaseSelector) -> None:
        selector.register(self.pipes.output, selectors.EVENT_READ, self._take_output)
        selector.register(self.pipes.report, selectors.EVENT_READ, self._take_report)
        exited = _exit_descriptor(self.process.pid)
        if exited is not None:
            selector.register(exited, selectors.EVENT_READ, None)
        try:
            next_look = self.started_at
            while self.process.poll() is None and not self._over():
                for key, _ in selector.select(_TICK):
                    if key.data is not None and not key.data(selector):
                        selector.unregister(key.fd)
                if self.clock() >= next_look:
                    self.stopped = self.group.excess(self.limits)
                    next_look = self.clock() + _TICK
        finally:
            if exited is not None:
                os.close(exited)

    def drain(self) -> None:
        """Read what is still in the pipes. What escaped the kill may hold them open: time is bounded."""
        deadline = self.clock() + _DRAIN_SECONDS
        for descriptor, keep in (
            (self.pipes.output, self.output.add),
            (self.pipes.report, self._keep_report),
        ):
            while self.clock() < deadline and (data := _read(descriptor)):
                keep(data)

    def _over(self) -> bool:
        """Whether the harness has to end the run; `stopped` says why, unless it never began."""
        if self.stopped is not None:
            return True
        if self.ready_at is None:
            return self.clock() - self.started_at > self.limits.start_seconds
        if self.clock() - self.ready_at > self.limits.wall_seconds:
            self.stopped = Stop.WALL_TIME
        return self.stopped is not None

    def _take_output(self, _: selectors.BaseSelector) -> bool:
        data = _read(self.pipes.output)
        self.output.add(data or b"")
        return data != b""

    def _take_report(self, selector: selectors.BaseSelector) -> bool:
        data = _read(self.pipes.report)
        if data and self.ready_at is None and data.startswith(READY):
            self.ready_at = self.clock()
            self.group.ready()
            selector.register(self.pipes.payload, selectors.EVENT_WRITE, self._feed)
            data = data[len(READY) :] or None
        self._keep_report(data or b"")
        return data != b""

    def _keep_report(self, data: bytes) -> None:
        room = self.limits.report_bytes - len(self.report)
        self.report += data[:room]
        self.report_overflow = self.report_overflow or len(data) > room

    def _feed(self, selector: selectors.BaseSelector) -> bool:
        try:
            self.payload = self.payload[os.write(self.pipes.payload, self.payload[:_CHUNK]) :]
        except BlockingIOError:
            return True
        except BrokenPipeError:  # the program does not want its payload; its report will be missing
            self.payload = self.payload[len(self.payload) :]
        if self.payload:
            return True
        selector.unregister(self.pipes.payload)
        self.pipes.close(self.pipes.payload)
        return True


def _read(descriptor: int) -> bytes | None:
    """The next bytes, b"" at the end of the stream, None when nothing is there now."""
    try:
        return os.read(descriptor, _CHUNK)
    except BlockingIOError:
        return None


def _exit_descriptor(pid: int) -> int | None:
    """A descriptor that becomes readable when the child `pid` ends, where the system has such a thing."""
    return os.pidfd_open(pid) if hasattr(os, "pidfd_open") else None
