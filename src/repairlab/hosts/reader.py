"""Takes the bytes of one chat reply as they come and decides when to stop."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from repairlab.contract.errors import InfrastructureFailure
from repairlab.hosts.failures import HostError, error_in, parse_json
from repairlab.hosts.sse import Event, EventDecoder
from repairlab.hosts.transport import Clock, Head

END_MARK = "[DONE]"
TOKENS_A_SECOND = 2000
"""No local model writes faster: such a reply was held back until it was whole."""
_WRITTEN = ("content", "reasoning_content", "reasoning", "tool_calls", "refusal")
"""Keys of a stream part that hold what a model wrote."""


@dataclass(frozen=True, slots=True)
class Unpaid:
    """The time before the first token of a reply, where it is not the asker's own.

    The request after a change of residency pays for reading a conversation that no other request has to read
    again. All that can be observed of it is when the first token comes. A reply that comes faster than any
    model writes was not streamed while it was written: it shows no such time, and all of it is the asker's.
    """

    most_seconds: float
    """More than this is the asker's again, so that a host that never writes holds nobody up for ever."""
    tell: Callable[[float], None]
    """Told at most once, when the reply has ended: the seconds from the request to the first token."""


class ReplyReader:
    """State of one streamed reply. It is also right for a host that answers at once, without a stream.

    The deadline is looked at whenever bytes come, so a host that is alive past it ends the reply as *late*,
    while one that has gone quiet is left to the transport's silence limit. Unpaid time moves the deadline.
    """

    def __init__(
        self, where: str, expected_model: str, clock: Clock, deadline: float, unpaid: Unpaid | None = None
    ) -> None:
        self.frames: list[Mapping[str, Any]] = []
        self.error: HostError | None = None
        self.late = False
        self.done = False
        self.streamed = False
        self._where = where
        self._model = expected_model
        self._clock = clock
        self._deadline = deadline
        self._unpaid = unpaid
        self._sent = clock()
        self._first_token: float | None = None
        self._decoder = EventDecoder()

    def take(self, head: Head, data: bytes) -> bool:
        """See `repairlab.hosts.transport.Take`."""
        self.streamed = head.status == 200 and "text/event-stream" in head.content_type
        if not self.streamed:
            return False
        self._decode(lambda: self._decoder.feed(data))
        now = self._clock()
        unpaid = self._unpaid_seconds(now)
        if data and self.error is None and now >= self._deadline + unpaid:
            self.late = True
        if self.late or self.done:
            self._tell(unpaid)
        return self.done or self.late or self.error is not None

    def finish(self) -> None:
        """The body ended properly; a last line may still be open.

        Raises:
            InfrastructureFailure: ``host-stream-lost`` when the end mark never came.
        """
        if not self.done:
            self._decode(self._decoder.end)
            self._tell(self._unpaid_seconds(self._clock()))
        if not self.done and self.error is None:
            raise InfrastructureFailure(
                f"{self._where}: the stream ended without its end mark", kind="host-stream-lost"
            )

    def check_model(self, frame: Mapping[str, Any]) -> None:
        """Raise ``host-wrong-model`` when `frame` names another model than was asked."""
        named = frame.get("model")
        if named is not None and named != self._model:
            raise InfrastructureFailure(
                f"{self._where}: {named!r} answered where {self._model!r} was asked", kind="host-wrong-model"
            )

    def _decode(self, events: Callable[[], list[Event]]) -> None:
        try:
            completed = events()
        except UnicodeDecodeError as error:
            raise InfrastructureFailure(
                f"{self._where}: the stream is not UTF-8", kind="host-protocol"
            ) from error
        for event in completed:
            if self.done or self.error is not None:
                return
            self._event(event)

    def _event(self, event: Event) -> None:
        if event.data == END_MARK:
            self.done = True
            return
        if event.name == "error" and not event.data.lstrip().startswith("{"):
            self.error = HostError(event.data)
            return
        frame = parse_json(event.data, self._where)
        self.error = error_in(frame)
        if self.error is None and event.name == "error":
            self.error = HostError(event.data)
        if self.error is None:
            self.check_model(frame)
            self.frames.append(frame)
            if self._first_token is None and _writes(frame):
                self._first_token = self._clock()

    def _unpaid_seconds(self, now: float) -> float:
        """By how much the deadline has moved until now."""
        if self._unpaid is None or (self.done and not self._was_streamed(now)):
            return 0.0
        until = now if self._first_token is None else self._first_token
        return min(until - self._sent, self._unpaid.most_seconds)

    def _tell(self, seconds: float) -> None:
        unpaid, self._unpaid = self._unpaid, None
        if unpaid and seconds:
            unpaid.tell(seconds)

    def _was_streamed(self, now: float) -> bool:
        """Whether the reply took as long as its tokens need; without a count its parts are taken."""
        if self._first_token is None:
            return False
        counted = [_counted(frame) for frame in self.frames]
        tokens = max((one for one in counted if one is not None), default=len(self.frames))
        return tokens <= (now - self._first_token) * TOKENS_A_SECOND


def _counted(frame: Mapping[str, Any]) -> int | None:
    usage = frame.get("usage")
    tokens = usage.get("completion_tokens") if isinstance(usage, dict) else None
    return tokens if isinstance(tokens, int) else None


def _writes(frame: Mapping[str, Any]) -> bool:
    """Whether a stream part holds text or a call, or ends the reply. A part with the role alone does not."""
    choices = frame.get("choices")
    for choice in choices if isinstance(choices, list) else ():
        delta = choice.get("delta") if isinstance(choice, dict) else None
        if isinstance(delta, dict) and any(delta.get(key) for key in _WRITTEN):
            return True
        if isinstance(choice, dict) and choice.get("finish_reason"):
            return True
    return False
