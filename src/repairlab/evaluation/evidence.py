"""Reading the report of a run: numbered, authenticated records, and nothing else.

The first record that does not verify ends the evidence; what came before it stands, what follows is not read.
The rules of the sending side are in `repairlab.evaluation.inside.launching`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter, ValidationError

from repairlab.contract.strict import StrictModel
from repairlab.evaluation.frames import read_frames


class Hello(StrictModel):
    """The runner is imported; tested code is not yet on the import path."""

    kind: Literal["hello"]
    n: int
    python: str
    pytest: str = ""
    """Empty when another framework runs the tests."""
    django: str = ""

    @property
    def versions(self) -> Mapping[str, str]:
        """Versions of Python and of the framework, by name."""
        known = {"python": self.python, "pytest": self.pytest, "django": self.django}
        return {name: version for name, version in known.items() if version}


class Collected(StrictModel):
    """Collection is over; `twice` lists identifiers that several selected tests share."""

    kind: Literal["collected"]
    n: int
    selected: int
    twice: tuple[str, ...]


class Unreadable(StrictModel):
    """A file or class from which no tests could be collected."""

    kind: Literal["unreadable"]
    n: int
    id: str
    message: str


class Phase(StrictModel):
    """One phase of one test."""

    kind: Literal["phase"]
    n: int
    id: str
    when: Literal["setup", "call", "teardown"]
    outcome: Literal["passed", "failed", "skipped"]
    expected: bool
    """Marked as an expected failure."""
    part: bool
    """A subtest of the test `id`, not the test itself."""
    message: str


class Final(StrictModel):
    """The runner has returned `exit`; `phases` counts every phase record."""

    kind: Literal["final"]
    n: int
    exit: int
    phases: int
    leftovers: int | None


Record = Annotated[Hello | Collected | Unreadable | Phase | Final, Field(discriminator="kind")]
_RECORD: TypeAdapter[Hello | Collected | Unreadable | Phase | Final] = TypeAdapter(Record)


@dataclass(frozen=True, slots=True)
class Evidence:
    """Verified records in order, and why reading stopped early ("" when the stream ended between records)."""

    records: tuple[Hello | Collected | Unreadable | Phase | Final, ...]
    broken: str

    @property
    def hello(self) -> Hello | None:
        """The first record, when it is what it should be."""
        return next((r for r in self.records[:1] if isinstance(r, Hello)), None)

    @property
    def final(self) -> Final | None:
        """The last record of an unbroken stream, when it is what it should be and its count is right."""
        if self.broken or not self.records:
            return None
        last = self.records[-1]
        if not isinstance(last, Final) or last.phases != len(self.phases):
            return None
        return last

    @property
    def phases(self) -> tuple[Phase, ...]:
        """Every phase record."""
        return tuple(r for r in self.records if isinstance(r, Phase))

    @property
    def unreadable(self) -> tuple[Unreadable, ...]:
        """Every collection failure."""
        return tuple(r for r in self.records if isinstance(r, Unreadable))

    @property
    def twice(self) -> tuple[str, ...]:
        """Identifiers that were collected more than once."""
        return tuple(name for r in self.records if isinstance(r, Collected) for name in r.twice)


def read_evidence(data: bytes, key: bytes) -> Evidence:
    """Verify the records in `data`, which were sent under the first key `key`."""
    frames = read_frames(data, key)
    records: list[Hello | Collected | Unreadable | Phase | Final] = []
    for payload in frames.payloads:
        try:
            record = _RECORD.validate_json(payload, strict=True)
        except ValidationError:
            return Evidence(tuple(records), f"record {len(records)} is malformed")
        if record.n != len(records) or (records and isinstance(records[-1], Final)):
            return Evidence(tuple(records), f"record {len(records)} is out of order")
        records.append(record)
    return Evidence(tuple(records), frames.broken)
