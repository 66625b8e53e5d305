"""The frozen table of failures: what is noticed at a host, and what it means for a run.

One row for each reported fault of the host (a *quirk*), and a few for what no report covers. A row says by
what it is recognised, which class it has before and during a run, and how often the operation is repeated
before the class applies. The code notices; this table decides.
"""

from __future__ import annotations

from collections import Counter
from enum import StrEnum
from pathlib import Path
from typing import Literal, get_args

from pydantic import Field, model_validator

from repairlab.contract.strict import StrictModel, load

QUIRKS = 40


class FailureClass(StrEnum):
    """What a failure means.

    ``refuse``: nothing more is sent; in mid-run the campaign stops and the attempt under way is kept as
    incomplete. ``infrastructure``: the attempt is no outcome; the same cell is tried again. ``model``: the
    model wrote the bytes that are the cause; scored. ``accept``: legal; handled without harm.
    """

    REFUSE = "refuse"
    INFRASTRUCTURE = "infrastructure"
    MODEL = "model"
    ACCEPT = "accept"


Condition = Literal[
    # residency
    "loaded-context-differs",
    "context-drifted",
    "second-instance",
    "stray-instance",
    "model-gone",
    "memory-held",
    "unload-stuck",
    "acknowledgement-only",
    "surfaces-disagree",
    "variant-differs",
    "key-differs",
    "type-differs",
    "format-differs",
    "reasoning-differs",
    "context-over-maximum",
    "inference-ids-differ",
    "time-to-live",
    "remote-device",
    "facts-changed",
    "level-too-low",
    # one reply of a chat model
    "call-without-name",
    "call-in-content",
    "call-in-reasoning",
    "call-dropped",
    "arguments-not-json",
    "reply-cut",
    "finish-reason-differs",
    "reasoning-only",
    "think-tags",
    "context-overflow",
    "prompt-shrank",
    "stopped-early",
    "seed-ignored",
    # transport and server
    "host-wrong-model",
    "host-silent",
    "host-connection-lost",
    "host-stream-lost",
    "host-unreachable",
    "host-protocol",
    "host-error",
    "lms-failed",
    "status-doubtful",
    "version-changed",
    "requests-overlap",
    # embeddings
    "embedding-truncated",
    "embedding-malformed",
    "empty-input",
]
"""Everything that the code can notice by itself, in whatever the host says."""

CONDITIONS: tuple[str, ...] = get_args(Condition)


class Failure(StrictModel):
    """One row."""

    id: str = Field(pattern=r"^[a-z][a-z0-9-]{2,60}$")
    quirk: int | None = Field(default=None, ge=1, le=QUIRKS)
    """Number of the reported fault; absent where no report covers the failure."""
    conditions: tuple[Condition, ...] = ()
    """What the code notices by itself."""
    statuses: tuple[int, ...] = ()
    """A reply with one of these HTTP statuses matches, whatever it says."""
    markers: tuple[str, ...] = ()
    """An error matches whose message, type or code holds one of these, compared in lower case."""
    bare_statuses: tuple[int, ...] = ()
    """A reply with one of these statuses matches if its body names no error."""
    at_start: FailureClass
    """Class before the first scored request."""
    in_run: FailureClass
    """Class afterwards."""
    kind: str = Field(pattern=r"^[a-z][a-z0-9-]{2,60}$")
    """Stable word: the kind of the infrastructure failure, or the name of the counter."""
    retries: int = Field(default=0, ge=0, le=3)
    """How often the operation is repeated before the class applies. Each repetition is journaled."""
    message: str = Field(min_length=10)
    repair: str = ""

    @model_validator(mode="after")
    def _coherent(self) -> Failure:
        if not (self.conditions or self.statuses or self.markers or self.bare_statuses):
            raise ValueError(f"{self.id}: nothing can match this row")
        if any(marker != marker.lower() or not marker.strip() for marker in self.markers):
            raise ValueError(f"{self.id}: markers are written in lower case and are not blank")
        classes = (self.at_start, self.in_run)
        if FailureClass.REFUSE in classes and not self.repair:
            raise ValueError(f"{self.id}: a refusal says how to repair it")
        if self.retries and classes == (FailureClass.ACCEPT, FailureClass.ACCEPT):
            raise ValueError(f"{self.id}: what is accepted is not repeated")
        return self

    def marked_in(self, text: str) -> bool:
        """Whether `text` (lower case) holds one of the markers."""
        return any(marker in text for marker in self.markers)


class FailureTable(StrictModel):
    """The whole of ``contracts/failures.toml``. Of several rows that match an error, the first one counts."""

    schema_version: Literal[1]
    failure: tuple[Failure, ...]

    @model_validator(mode="after")
    def _whole(self) -> FailureTable:
        _once("id", Counter(row.id for row in self.failure))
        quirks = Counter(str(row.quirk) for row in self.failure if row.quirk is not None)
        _once("quirk", quirks, tuple(str(number) for number in range(1, QUIRKS + 1)))
        _once("condition", Counter(name for row in self.failure for name in row.conditions), CONDITIONS)
        for row in self.failure:
            for marker in row.markers:
                first = next(other for other in self.failure if other.marked_in(marker))
                if first is not row:
                    raise ValueError(f"{row.id}: {marker!r} is caught before by {first.id}")
        return self


def load_failures(contracts: Path) -> FailureTable:
    """Read ``failures.toml`` of the folder `contracts`.

    Raises:
        BadInput: naming file, line and field; also where a quirk or a condition has no row or two.
    """
    return load(FailureTable, contracts / "failures.toml")


def _once(what: str, counts: Counter[str], required: tuple[str, ...] = ()) -> None:
    twice = sorted(name for name, count in counts.items() if count > 1)
    if twice:
        raise ValueError(f"{what} {twice[0]} has two rows")
    missing = [name for name in required if name not in counts]
    if missing:
        raise ValueError(f"{what} {missing[0]} has no row")
