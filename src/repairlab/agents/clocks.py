"""The clocks of a cell. Readings are passed in, so that a recorded cell can be replayed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Literal, Protocol

from repairlab.contract.errors import IntegrityViolation

Monotonic = Callable[[], float]
"""Seconds from an arbitrary start, never falling."""


Work = Literal["model", "tool"]


class Clock(Protocol):
    """What the loop needs of a clock."""

    def running(self, kind: Work) -> AbstractContextManager[None]:
        """Count the time inside the block."""

    def binding(self, clock: Literal["agent", "wall"]) -> float:
        """Seconds on the clock that the frozen controls name."""


@dataclass(slots=True)
class AgentClock:
    """Time of model and tools, and nothing else: what the contract's limit binds.

    Each interval is kept with its kind, in order, for ``timing.json``.
    """

    now: Monotonic
    intervals: list[tuple[Work, float]] = field(default_factory=list)
    started: float = field(init=False)

    def __post_init__(self) -> None:
        self.started = self.now()

    @contextmanager
    def running(self, kind: Work) -> Iterator[None]:
        """Count the time inside the block."""
        begun = self.now()
        try:
            yield
        finally:
            self.intervals.append((kind, self.now() - begun))

    def agent_seconds(self) -> float:
        """Sum of all intervals."""
        return sum(seconds for _, seconds in self.intervals)

    def wall_seconds(self) -> float:
        """Time since the episode began."""
        return self.now() - self.started

    def binding(self, clock: Literal["agent", "wall"]) -> float:
        """Reading of the clock that the frozen controls name."""
        return self.agent_seconds() if clock == "agent" else self.wall_seconds()


@dataclass(slots=True)
class RecordedClock:
    """The readings of an earlier run, in order: a replay spends the time that was spent then."""

    intervals: list[tuple[Work, float]]
    _spent: float = 0.0
    _next: int = 0

    @contextmanager
    def running(self, kind: Work) -> Iterator[None]:
        """Take the next recorded interval.

        Raises:
            IntegrityViolation: the replay does something else than was recorded.
        """
        if self._next >= len(self.intervals) or self.intervals[self._next][0] != kind:
            raise IntegrityViolation(f"the recorded clock has no interval of kind {kind} here")
        yield
        self._spent += self.intervals[self._next][1]
        self._next += 1

    def binding(self, clock: Literal["agent", "wall"]) -> float:
        """Sum of the intervals so far; the wall clock of an earlier run cannot be read again."""
        if clock == "wall":
            raise IntegrityViolation("an episode bound by the wall clock cannot be replayed")
        return self._spent
