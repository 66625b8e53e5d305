"""What can go wrong at one request of an emulated host, as data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from repairlab.contract.canonical import Json
from repairlab.contract.errors import BadInput
from repairlab.hosts.emulator.fields import Fields

CHAT_ROUTE = "POST /v1/chat/completions"
EMBEDDINGS_ROUTE = "POST /v1/embeddings"
LOAD_ROUTE = "POST /api/v1/models/load"
UNLOAD_ROUTE = "POST /api/v1/models/unload"

SHAPES = (
    "empty",
    "reasoning-only",
    "think-tags",
    "call-in-content",
    "call-in-reasoning",
    "call-dropped",
    "bad-arguments",
    "empty-id",
    "missing-name",
    "no-content-key",
    "stop-with-calls",
    "cut-call",
    "stopped-early",
    "unstable",
)
"""Ways in which a chat reply can be out of shape; see `repairlab.hosts.emulator.shapes`."""
EMBEDDING_FAULTS = (
    "wrong-length",
    "not-normalised",
    "truncated",
    "constant",
    "nan",
    "null",
    "zero",
    "reordered",
    "index-repeated",
    "fewer",
    "drifting",
)
"""Ways in which an embedding reply can be wrong; see `repairlab.hosts.emulator.embedding`."""


@dataclass(frozen=True, slots=True)
class ReplyInstead:
    """Another reply in place of the right one: an error in any form at any status, or a literal stream."""

    status: int
    content_type: str
    body: str
    cut: bool = False
    """Close the connection before the body is properly ended."""


@dataclass(frozen=True, slots=True)
class Delay:
    """The right reply, after so many seconds of silence."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Hang:
    """Nothing is answered any more, on any route, until the server is stopped."""


@dataclass(frozen=True, slots=True)
class StrayLoad:
    """Just before the request is answered another client loads a model."""

    key: str
    context: int


@dataclass(frozen=True, slots=True)
class StrayUnload:
    """Just before the request is answered everything is unloaded, as by an idle limit or a restart."""


@dataclass(frozen=True, slots=True)
class CutStream:
    """The socket closes after so many frames of the stream."""

    after_frames: int


@dataclass(frozen=True, slots=True)
class Crash:
    """After so many frames the stream holds an error, and the instance is gone."""

    after_frames: int
    message: str


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
class Reshape:
    """The reply in another shape, one of `SHAPES`."""

    shape: str


@dataclass(frozen=True, slots=True)
class CountTokens:
    """The reply's ``usage`` says this, whatever was written."""

    prompt_tokens: int
    completion_tokens: int
    reasoning_tokens: int | None


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
class OtherModel:
    """A load brings another model than was asked for, and says so only by its instance id."""

    key: str


@dataclass(frozen=True, slots=True)
class HiddenInstance:
    """A load is visible to the command line alone; the list and the inference routes do not show it."""


@dataclass(frozen=True, slots=True)
class OddInstance:
    """A loaded instance with an idle limit, or on another device."""

    ttl_seconds: float | None
    device: str | None


@dataclass(frozen=True, slots=True)
class LingeringUnload:
    """An unload is acknowledged, and the instance stays in the list for so many looks."""

    looks: int


@dataclass(frozen=True, slots=True)
class HeldMemory:
    """An unload is acknowledged, and the worker keeps its memory."""


@dataclass(frozen=True, slots=True)
class BadVectors:
    """The embedding reply is wrong in one of the ways of `EMBEDDING_FAULTS`."""

    fault: str
    tokens: int
    """For ``truncated``: only so many tokens of each text are read."""


Action: TypeAlias = (
    ReplyInstead
    | Delay
    | Hang
    | StrayLoad
    | StrayUnload
    | CutStream
    | Crash
    | ErrorFrame
    | WrongModel
    | Pace
    | Reshape
    | CountTokens
    | ContextDrift
    | ContextClamp
    | ExtraInstance
    | OtherModel
    | HiddenInstance
    | OddInstance
    | LingeringUnload
    | HeldMemory
    | BadVectors
)
ROUTES: Mapping[type[Action], tuple[str, ...]] = {
    CutStream: (CHAT_ROUTE,),
    Crash: (CHAT_ROUTE,),
    ErrorFrame: (CHAT_ROUTE,),
    WrongModel: (CHAT_ROUTE, EMBEDDINGS_ROUTE),
    Pace: (CHAT_ROUTE,),
    Reshape: (CHAT_ROUTE,),
    CountTokens: (CHAT_ROUTE,),
    ContextDrift: (CHAT_ROUTE, EMBEDDINGS_ROUTE),
    ContextClamp: (LOAD_ROUTE,),
    ExtraInstance: (LOAD_ROUTE,),
    OtherModel: (LOAD_ROUTE,),
    HiddenInstance: (LOAD_ROUTE,),
    OddInstance: (LOAD_ROUTE,),
    LingeringUnload: (UNLOAD_ROUTE,),
    HeldMemory: (UNLOAD_ROUTE,),
    BadVectors: (EMBEDDINGS_ROUTE,),
}
"""The routes at which an action can happen; one that is not here can happen everywhere."""


def read_action(data: Mapping[str, object], where: str) -> Action:
    """Typed action of parsed JSON; `BadInput` for an unknown kind or key."""
    fields = Fields(data, where)
    kind = fields.text("kind")
    read = _KINDS.get(kind)
    if read is None:
        raise BadInput(f"{where}: kind: one of {', '.join(sorted(_KINDS))} belongs here")
    action = read(fields)
    fields.close()
    return action


def _one_of(fields: Fields, key: str, known: tuple[str, ...]) -> str:
    value = fields.text(key)
    if value not in known:
        raise BadInput(f"{fields.where}: {key}: one of {', '.join(known)} belongs here")
    return value


_KINDS: Mapping[str, Callable[[Fields], Action]] = {
    "reply-instead": lambda f: ReplyInstead(
        f.integer("status", at_least=200),
        f.text("content_type", "application/json"),
        f.text("body"),
        f.flag("cut", False),
    ),
    "delay": lambda f: Delay(f.seconds("seconds")),
    "hang": lambda _: Hang(),
    "stray-load": lambda f: StrayLoad(f.text("key"), f.integer("context", 4096, at_least=1)),
    "stray-unload": lambda _: StrayUnload(),
    "cut-stream": lambda f: CutStream(f.integer("after_frames")),
    "crash": lambda f: Crash(f.integer("after_frames"), f.text("message")),
    "error-frame": lambda f: ErrorFrame(f.integer("after_frames"), f.anything("body")),
    "wrong-model": lambda f: WrongModel(f.text("model")),
    "pace": lambda f: Pace(
        f.seconds("frame_seconds", 0.0),
        f.optional_integer("silent_before_frame"),
        f.seconds("silent_seconds", 0.0),
    ),
    "reshape": lambda f: Reshape(_one_of(f, "shape", SHAPES)),
    "count-tokens": lambda f: CountTokens(
        f.integer("prompt_tokens"), f.integer("completion_tokens"), f.optional_integer("reasoning_tokens")
    ),
    "context-drift": lambda f: ContextDrift(f.integer("context", at_least=1)),
    "context-clamp": lambda f: ContextClamp(f.integer("context", at_least=1), f.flag("echo_tells", True)),
    "extra-instance": lambda f: ExtraInstance(f.integer("context", at_least=1)),
    "other-model": lambda f: OtherModel(f.text("key")),
    "hidden-instance": lambda _: HiddenInstance(),
    "odd-instance": lambda f: OddInstance(f.optional_integer("ttl_seconds"), f.optional_text("device")),
    "lingering-unload": lambda f: LingeringUnload(f.integer("looks", at_least=1)),
    "held-memory": lambda _: HeldMemory(),
    "bad-vectors": lambda f: BadVectors(
        _one_of(f, "fault", EMBEDDING_FAULTS), f.integer("tokens", 512, at_least=1)
    ),
}
