"""What the application hands to the socket."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from repairlab.hosts.emulator.bodies import Whole


@dataclass(frozen=True, slots=True)
class Wait:
    """Send nothing for so many seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Stream:
    """A streamed reply: bytes to send and waits between them."""

    steps: tuple[bytes | Wait, ...]
    cut: bool = False
    """The connection closes without a proper end."""


@dataclass(frozen=True, slots=True)
class Literal:
    """Bytes of a scenario's own."""

    status: int
    content_type: str
    body: bytes
    cut: bool


@dataclass(frozen=True, slots=True)
class Delayed:
    """A reply after some seconds."""

    seconds: float
    reply: Reply


@dataclass(frozen=True, slots=True)
class Silence:
    """No reply, until the server is stopped."""


@dataclass(frozen=True, slots=True)
class Pending:
    """A reply that takes long to make: the host answers other requests meanwhile."""

    make: Callable[[], Reply]


Reply: TypeAlias = "Whole | Stream | Literal | Delayed | Silence | Pending"
