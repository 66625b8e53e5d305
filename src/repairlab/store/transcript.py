"""The records of ``transcript.jsonl``: every request, reply and tool result of a cell, in order.

No record holds a clock. With the replies taken from here instead of a host, everything else in the cell can
be computed again.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from pydantic import Field, JsonValue, TypeAdapter, ValidationError

from repairlab.contract.errors import BadInput
from repairlab.contract.outcome import EndReason, Stage
from repairlab.contract.strict import StrictModel


class Numbered(StrictModel):
    """What every record has."""

    n: int = Field(ge=0)
    """Sequence number in the cell, without gaps."""


class Request(Numbered):
    """A request to the model, whole."""

    type: Literal["request"]
    body: dict[str, JsonValue]


class Reply(Numbered):
    """The model's reply, whole, in the shape of a reply that was not streamed."""

    type: Literal["reply"]
    body: JsonValue


class Deadline(Numbered):
    """The agent clock ran out during a reply; what had come by then."""

    type: Literal["deadline"]
    partial: JsonValue


class UnparsableCall(Numbered):
    """The host could not read the call that the model wrote."""

    type: Literal["unparsable-call"]
    message: str
    body: JsonValue


class Retry(Numbered):
    """A reply set aside because the failure table lets its request be sent once more."""

    type: Literal["retry"]
    condition: str
    number: int
    body: JsonValue


class Overflow(Numbered):
    """The host says that the conversation is longer than the context."""

    type: Literal["overflow"]
    message: str


class Swap(Numbered):
    """A change of residency inside the episode, with what was verified of the model loaded then."""

    type: Literal["transition"]
    to: Literal["agent", "embedder"]
    level: str
    verified: dict[str, JsonValue]


class QueryVector(Numbered):
    """A query as it was embedded, once in a cell."""

    type: Literal["query-vector"]
    query: str
    text: str
    vector: str
    """Unit length; little-endian float32 in base 64."""


class Shown(StrictModel):
    """A file that a search tool showed."""

    path: str
    start_line: int
    end_line: int
    components: dict[str, int]
    """Which component ranked the file where, from 1."""


class Read(StrictModel):
    """Lines that ``read_file`` showed."""

    path: str
    start_line: int
    end_line: int


class Patch(StrictModel):
    """What became of a diff: refused with a code, or applied with the text that git took."""

    refused: str | None = None
    changed: tuple[str, ...] = ()
    normalised: str | None = None
    repairs: tuple[str, ...] = ()


class PublicRun(StrictModel):
    """A public test run, test by test."""

    end: str
    outcomes: dict[str, str]


class CallRecord(Numbered):
    """A call and its answer."""

    type: Literal["call"]
    id: str
    """Given by the harness; unique in the cell."""
    tool: str
    """The name as the model wrote it."""
    kind: str
    """What became of it: the tool's name when it was executed and accepted, else why not."""
    accepted: bool
    text: str
    """The answer as the model saw it."""
    shown: tuple[Shown, ...] = ()
    read: Read | None = None
    patch: Patch | None = None
    test_run: PublicRun | None = None


class Skeleton(StrictModel):
    """How much of the repository the first stage was shown."""

    files: int
    files_named: int
    files_with_names: int
    names: int
    names_shown: int
    complete: bool


class Span(StrictModel):
    """Lines of a file, both ends included."""

    path: str
    start_line: int
    end_line: int


class StageShown(Numbered):
    """What the request of a stage shows; it stands before that request."""

    type: Literal["stage-shown"]
    stage: Stage
    tokens: int
    """Size of the packed text by the token rule of the stages."""
    cap: int
    """What it may have: the frozen cap, or what the context has left."""
    skeleton: Skeleton | None = None
    shown: tuple[Span, ...] = ()
    left_out: tuple[str, ...] = ()
    """Files of which something was wanted and is not shown."""


class Place(StrictModel):
    """Where something has to change: as the model named it, and the lines that this means."""

    path: str
    label: str
    start_line: int
    end_line: int


class Dropped(StrictModel):
    """Lines of an answer that were not taken."""

    unknown: int
    repeated: int
    beyond: int


class StageTaken(Numbered):
    """What was taken of a stage's answer."""

    type: Literal["stage-taken"]
    stage: Stage
    usable: bool
    fault: str
    """Why the answer cannot be used; empty where it can."""
    selected: tuple[str, ...] = ()
    """Files of the first stage, most likely first."""
    places: tuple[Place, ...] = ()
    """Places of the second stage, most likely first."""
    dropped: Dropped | None = None
    patch: Patch | None = None


class Validation(Numbered):
    """The one run of the public tests behind the last stage. It changes nothing."""

    type: Literal["validation"]
    test_run: PublicRun


class End(Numbered):
    """The end of the episode; always the last record of a complete cell."""

    type: Literal["end"]
    reason: EndReason


Record: TypeAlias = Annotated[
    Request
    | Reply
    | Deadline
    | UnparsableCall
    | Overflow
    | Retry
    | Swap
    | QueryVector
    | CallRecord
    | StageShown
    | StageTaken
    | Validation
    | End,
    Field(discriminator="type"),
]


@cache
def record_adapter() -> TypeAdapter[Record]:
    """Validates one record; built once, when the first transcript is read."""
    return TypeAdapter(Record)


def read_transcript(path: Path) -> Iterator[Record]:
    """Records of a transcript, read line by line: memory does not grow with the file.

    Raises:
        BadInput: a line that is no record, or a sequence number that does not follow; names the line.
    """
    with path.open("rb") as lines:
        for number, line in enumerate(lines):
            yield _parsed(line, number, str(path))


def answers(transcript: bytes, source: str) -> Iterator[Record]:
    """Every record but the requests, which are most of a transcript and hold the conversation once more.

    A record is one line with sorted keys, so a request ends in its type. Whether requests are of their form
    is no question of the analysis; `read_transcript` reads them.

    Raises:
        BadInput: as `read_transcript`.
    """
    for number, line in enumerate(transcript.splitlines()):
        if not line.endswith(_REQUEST_END):
            yield _parsed(line, number, source)


_REQUEST_END = b'"type":"request"}'


def _parsed(line: bytes, number: int, source: str) -> Record:
    try:
        record = record_adapter().validate_json(line, strict=True)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or "(line)"
        raise BadInput(f"{source}:{number + 1}: {field}: {first['msg']}") from error
    if record.n != number:
        raise BadInput(f"{source}:{number + 1}: record {record.n} stands where {number} belongs")
    return record
