"""From stream parts to one whole reply. Pure: frames in, the JSON of a reply that is not streamed out.

Rules that matter: parts of a call are joined by their index; a new id at the same index begins a new call
(servers send two calls that way); nothing is repaired, nothing is executed from here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeGuard

from repairlab.contract.canonical import Json
from repairlab.contract.errors import InfrastructureFailure

Frame = Mapping[str, Any]
_HEADER_KEYS = ("id", "created", "model", "system_fingerprint")
_TEXT_KEYS = ("content", "reasoning_content", "reasoning")


def assemble(frames: Sequence[Frame]) -> dict[str, Json]:
    """The reply that `frames` amount to, as far as they go.

    Raises:
        InfrastructureFailure: kind ``host-protocol``, for a frame of another shape.
    """
    parts = _Parts()
    for frame in frames:
        parts.add(frame)
    return parts.reply()


def protocol_fault(what: str) -> InfrastructureFailure:
    """The host sent something that is no reply of this protocol."""
    return InfrastructureFailure(f"the host's reply has another shape: {what}", kind="host-protocol")


def join_surrogates(text: str) -> str:
    """Pair the halves that two stream parts split; a half that stays alone becomes U+FFFD."""
    if not any("\ud800" <= character <= "\udfff" for character in text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


@dataclass(slots=True)
class _Call:
    """A call in the making."""

    index: int
    id: str = ""
    name: str = ""
    pieces: list[str] | None = None
    """Text of the arguments as it came; ``None`` while there is none."""
    whole: Mapping[str, Json] | None = None
    """The arguments where an object stands in place of text."""

    def is_another(self, call_id: str, name: str) -> bool:
        """Whether a part with this id and name cannot belong to this call."""
        if call_id and self.id:
            return call_id != self.id
        return bool(name) and self._begun and (name != self.name or bool(call_id))

    def add(self, call_id: str, name: str, arguments: object) -> None:
        repeats_header = bool(name) and name == self.name and (call_id == self.id or self._begun)
        self.id = self.id or call_id
        if not repeats_header:
            self.name += name
        if arguments is None:
            return
        if isinstance(arguments, str) and self.whole is None:
            self.pieces = self.pieces or []
            self.pieces.append(arguments)
        elif is_object(arguments) and not self._begun:
            self.whole = arguments
        else:
            raise protocol_fault("arguments of a tool call are neither text nor one object")

    @property
    def _begun(self) -> bool:
        return self.whole is not None or any(self.pieces or ())

    def entry(self) -> dict[str, Json]:
        function: dict[str, Json] = {"name": join_surrogates(self.name)}
        if self.whole is not None:
            function["arguments"] = self.whole
        elif self.pieces is not None:
            function["arguments"] = join_surrogates("".join(self.pieces))
        return {"id": self.id, "type": "function", "function": function}


@dataclass(slots=True)
class _Parts:
    header: dict[str, Json] = field(default_factory=dict)
    texts: dict[str, list[str]] = field(default_factory=dict)
    calls: list[_Call] = field(default_factory=list)
    open_calls: dict[int, _Call] = field(default_factory=dict)
    finish_reason: str | None = None
    usage: Json = None
    has_choice: bool = False

    def add(self, frame: Frame) -> None:
        for key in _HEADER_KEYS:
            if frame.get(key) is not None:
                self.header.setdefault(key, frame[key])
        if frame.get("usage") is not None:
            self.usage = frame["usage"]
        choices = frame.get("choices", [])
        if not isinstance(choices, list) or not all(is_object(choice) for choice in choices):
            raise protocol_fault("choices is no list of objects")
        for choice in choices:
            self._choice(choice)

    def _choice(self, choice: Frame) -> None:
        if choice.get("index", 0) != 0:
            raise protocol_fault("a second choice, where one was asked for")
        self.has_choice = True
        reason = choice.get("finish_reason")
        if reason is not None:
            self.finish_reason = _text(reason, "finish_reason")
        delta = choice.get("delta")
        if delta is None:
            return
        if not is_object(delta):
            raise protocol_fault("delta is no object")
        for key in _TEXT_KEYS:
            if delta.get(key) is not None:
                self.texts.setdefault(key, []).append(_text(delta[key], key))
        pieces = delta.get("tool_calls")
        if pieces is None:
            return
        if not isinstance(pieces, list) or not all(is_object(piece) for piece in pieces):
            raise protocol_fault("tool_calls is no list of objects")
        for piece in pieces:
            self._piece(piece)

    def _piece(self, piece: Frame) -> None:
        function = piece.get("function")
        function = {} if function is None else function
        if not is_object(function):
            raise protocol_fault("the function of a tool call is no object")
        call_id = _text(piece.get("id") or "", "id of a tool call")
        name = _text(function.get("name") or "", "name of a tool call")
        index = self._index(piece)
        call = self.open_calls.get(index)
        if call is None or call.is_another(call_id, name):
            call = _Call(index)
            self.calls.append(call)
            self.open_calls[index] = call
        call.add(call_id, name, function.get("arguments"))

    def _index(self, piece: Frame) -> int:
        index = piece.get("index")
        if index is None:  # such a part continues the newest call, or begins the first
            return self.calls[-1].index if self.calls else 0
        if not isinstance(index, int) or isinstance(index, bool):
            raise protocol_fault("index of a tool call is no integer")
        return index

    def reply(self) -> dict[str, Json]:
        message: dict[str, Json] = {"role": "assistant"}
        for key in _TEXT_KEYS:
            if key in self.texts:
                message[key] = join_surrogates("".join(self.texts[key]))
        # Python's sort is stable: calls that share an index stay in the order in which they began.
        calls = sorted(self.calls, key=lambda call: call.index)
        message["tool_calls"] = [call.entry() for call in calls]
        choice: dict[str, Json] = {"index": 0, "finish_reason": self.finish_reason, "message": message}
        return {
            **self.header,
            "object": "chat.completion",
            "choices": [choice] if self.has_choice else [],
            "usage": self.usage,
        }


def is_object(value: object) -> TypeGuard[Mapping[str, Any]]:
    """Whether a parsed JSON value is an object."""
    return isinstance(value, dict)


def _text(value: object, what: str) -> str:
    if not isinstance(value, str):
        raise protocol_fault(f"{what} is no text")
    return value
