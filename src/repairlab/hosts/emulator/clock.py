"""The host's clock: what idle times are measured with, and what a test can set forward."""

from __future__ import annotations

import threading
from collections.abc import Callable


class HostClock:
    """Seconds since the host began, plus what it was set forward.

    Args:
        real: monotonic seconds, or ``None`` for a clock that stands still between settings.
    """

    def __init__(self, real: Callable[[], float] | None) -> None:
        self._real = real
        self._begun = real() if real else 0.0
        self._ahead = 0.0
        self._lock = threading.Lock()

    @property
    def is_virtual(self) -> bool:
        """Whether time passes only by `advance`."""
        return self._real is None

    def now(self) -> float:
        """Seconds since the beginning."""
        real = self._real() - self._begun if self._real else 0.0
        with self._lock:
            return real + self._ahead

    def advance(self, seconds: float) -> None:
        """Set the clock forward."""
        with self._lock:
            self._ahead += seconds
