"""The clocks of a cell. Readings are passed in, so that a recorded cell can be replayed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

Monotonic = Callable[[], float]
"""Seconds from an arbitrary start, never falling."""


@dataclass(slots=True)
class AgentClock:
    """Time of model and tools, and nothing else: what the contract's limit binds.

    Each interval is kept with its kind, in order, for ``timing.json``.
    """

    now: Monotonic
    intervals: list[tuple[Literal["model", "tool"], float]] = field(default_factory=list)
    started: float = field(init=False)

    def __post_init__(self) -> None:
        self.started = self.now()

    @contextmanager
    def running(self, kind: Literal["model", "tool"]) -> Iterator[None]:
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
