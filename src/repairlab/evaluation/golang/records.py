"""What the driver reports, and what a test program reports through it."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, TypeAdapter, ValidationError

from repairlab.contract.strict import StrictModel
from repairlab.evaluation.frames import read_frames


def _from_hex(text: str) -> str:
    return bytes.fromhex(text).decode("utf-8", "replace")


def _int_from_hex(text: str) -> int:
    return int(_from_hex(text))


def _is_base64(text: str) -> str:
    try:
        base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ValueError("not base64") from error
    return text


HexText = Annotated[str, AfterValidator(_from_hex)]
Base64 = Annotated[str, AfterValidator(_is_base64)]


class Hello(StrictModel):
    """The driver runs; no tested code does."""

    kind: Literal["hello"]
    n: int
    go: str


class Unreadable(StrictModel):
    """A package without a test program, or a test file that cannot be read, and why."""

    kind: Literal["unreadable"]
    n: int
    id: str
    message: str


class Entry(StrictModel):
    """A file of the build cache, compressed with zlib, in base64."""

    kind: Literal["entry"]
    n: int
    path: Annotated[str, Field(pattern=r"^[0-9a-f]{2}/[0-9a-f]{64}-[ad]$")]
    data: Base64


class Chunk(StrictModel):
    """Bytes of the report of start `run`, in base64, as they came."""

    kind: Literal["chunk"]
    n: int
    run: int
    data: Base64


class Ended(StrictModel):
    """The test program of start `run` has ended and nothing of it is left."""

    kind: Literal["ended"]
    n: int
    run: int
    status: int
    """As a shell gives it."""
    output: str
    """Head and tail of what it printed. Text, and no evidence."""
    leftovers: int


class Final(StrictModel):
    """The driver is done."""

    kind: Literal["final"]
    n: int
    exit: int
    built: int
    runs: int


DriverRecord = Hello | Unreadable | Entry | Chunk | Ended | Final


class Started(StrictModel):
    """The generated main function of the test program has come to the tests."""

    kind: Literal["hello"]
    n: int
    go: HexText


class Begin(StrictModel):
    """A test begins."""

    kind: Literal["begin"]
    n: int
    id: HexText


class End(StrictModel):
    """A test, its clean-up and all of its subtests are over."""

    kind: Literal["end"]
    n: int
    id: HexText
    outcome: Annotated[Literal["passed", "failed", "skipped"], BeforeValidator(_from_hex)]
    message: HexText


class Ran(StrictModel):
    """All tests are over; the status that the runner asks for."""

    kind: Literal["ran"]
    n: int
    code: Annotated[int, BeforeValidator(_int_from_hex)]


class Spoiled(StrictModel):
    """Somebody reported tests of its own through package testing."""

    kind: Literal["spoiled"]
    n: int
    what: HexText


ProgramRecord = Started | Begin | End | Ran | Spoiled

_DRIVER: TypeAdapter[DriverRecord] = TypeAdapter(Annotated[DriverRecord, Field(discriminator="kind")])
_PROGRAM: TypeAdapter[ProgramRecord] = TypeAdapter(Annotated[ProgramRecord, Field(discriminator="kind")])


@dataclass(frozen=True, slots=True)
class DriverReport:
    """Verified records of the driver in order; `broken` says why reading ended early."""

    records: tuple[DriverRecord, ...]
    broken: str

    @property
    def hello(self) -> Hello | None:
        """The first record, when it is what it should be."""
        return next((r for r in self.records[:1] if isinstance(r, Hello)), None)

    @property
    def final(self) -> Final | None:
        """The last record of an unbroken report, when it is what it should be."""
        last = self.records[-1] if self.records and not self.broken else None
        return last if isinstance(last, Final) else None

    def of(self, run: int) -> bytes:
        """What the test program of start `run` reported."""
        return b"".join(
            base64.b64decode(r.data) for r in self.records if isinstance(r, Chunk) and r.run == run
        )

    def end_of(self, run: int) -> Ended | None:
        """How start `run` ended, once."""
        found = [r for r in self.records if isinstance(r, Ended) and r.run == run]
        return found[0] if len(found) == 1 else None


@dataclass(frozen=True, slots=True)
class ProgramReport:
    """Verified records of one test program in order."""

    records: tuple[ProgramRecord, ...]
    broken: str
    """Why there is no trust in what follows; empty also when the program ended in the middle of a record."""

    @property
    def ran(self) -> bool:
        """Whether all of its tests are over."""
        return not self.broken and bool(self.records) and isinstance(self.records[-1], Ran)


def read_driver(data: bytes, key: bytes) -> DriverReport:
    """Verify the driver's records in `data`."""
    frames = read_frames(data, key)
    records: list[DriverRecord] = []
    for payload in frames.payloads:
        try:
            record = _DRIVER.validate_json(payload, strict=True)
        except ValidationError:
            return DriverReport(tuple(records), f"record {len(records)} is malformed")
        if record.n != len(records) or (records and isinstance(records[-1], Final)):
            return DriverReport(tuple(records), f"record {len(records)} is out of order")
        records.append(record)
    return DriverReport(tuple(records), frames.broken)


def read_program(data: bytes, key: bytes) -> ProgramReport:
    """Verify a test program's records in `data`."""
    frames = read_frames(data, key)
    records: list[ProgramRecord] = []
    for payload in frames.payloads:
        try:
            record = _PROGRAM.validate_json(payload, strict=True)
        except ValidationError:
            return ProgramReport(tuple(records), f"record {len(records)} is malformed")
        if isinstance(record, Spoiled):
            return ProgramReport(tuple(records), record.what)
        if record.n != len(records) or isinstance(record, Started) != (not records):
            return ProgramReport(tuple(records), f"record {len(records)} is out of order")
        records.append(record)
    return ProgramReport(tuple(records), "" if frames.truncated else frames.broken)
