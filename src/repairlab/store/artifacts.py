"""The forms of a sealed cell's JSON artifacts: written by a run, validated whenever they are read."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, JsonValue, model_validator

from repairlab.contract.outcome import EndReason, Status, TestOutcome
from repairlab.contract.strict import StrictModel
from repairlab.contract.task import Sha256
from repairlab.manifest.cell import Cell

Count = Field(ge=0)


class CellRecord(StrictModel):
    """``cell.json``: which cell this is, and under which freeze it ran."""

    schema_version: Literal[1]
    cell: Cell
    freeze: Sha256
    """Digest of the freeze record."""
    facts: dict[str, JsonValue]
    """Versions, digests and verified facts of host, sandbox and environment."""


class Metrics(StrictModel):
    """``metrics.json``: what the analysis reads. Every figure can be recomputed from the other artifacts."""

    schema_version: Literal[1]
    resolved_at_1: int = Field(ge=0, le=1)
    status: Status
    reason: str
    """One word: ``resolved``, why nothing was edited, or how the episode ended."""
    label: Literal["", "controlled adaptation"]
    """Printed beside the treatment wherever this result appears."""
    end: EndReason
    verdict: str
    verdict_detail: str
    required_tests: int = Field(ge=1)
    required_tests_passed: int = Count
    model_calls: int = Count
    tool_calls: int = Count
    public_test_runs: int = Count
    prompt_tokens: int | None = Count
    """Sum over replies; ``None`` when one of them had no usable count."""
    completion_tokens: int | None = Count
    calls_by_kind: dict[str, int]
    patch_bytes: int = Count
    files_selected: tuple[str, ...] = ()
    """By the first stage of a staged treatment, most likely first."""
    files_shown: tuple[str, ...]
    """By a search tool, in order of first appearance."""
    files_read: tuple[str, ...]
    """Opened by the agent; of a staged treatment, those whose source a request showed."""
    files_edited: tuple[str, ...]

    @model_validator(mode="after")
    def _consistent(self) -> Metrics:
        if (self.status is Status.RESOLVED) != bool(self.resolved_at_1):
            raise ValueError("status and resolved_at_1 contradict each other")
        if self.resolved_at_1 and self.required_tests_passed != self.required_tests:
            raise ValueError("resolved, and not every required test passed")
        return self


class TestResults(StrictModel):
    """``tests.json``: the hidden evaluation, test by test."""

    __test__ = False  # not a test class, whatever its name looks like

    schema_version: Literal[1]
    end: str
    problem: str
    exit_code: int
    runs: int = Field(ge=1)
    """How many evaluations were made before one could be judged."""
    required: dict[str, TestOutcome]
    unreadable: dict[str, str]
    """Files from which no tests could be collected, with the reason."""
    failures: dict[str, str]
    """What the runner said of tests that did not pass, freed of paths, addresses and durations."""


class Failure(StrictModel):
    """``failure.json`` of an attempt that an infrastructure failure ended."""

    kind: str
    message: str


class Interval(StrictModel):
    """One stretch of the agent clock."""

    kind: Literal["model", "tool"]
    seconds: float = Field(ge=0)


class SandboxRun(StrictModel):
    """Clocks of one run of tests."""

    kind: Literal["public", "hidden"]
    setup_seconds: float = Field(ge=0)
    run_seconds: float = Field(ge=0)
    teardown_seconds: float = Field(ge=0)


class Timing(StrictModel):
    """``timing.json``: the one place for clocks, process ids, machine names and attempt numbers."""

    schema_version: Literal[1]
    attempt: int = Field(ge=1)
    process: int
    machine: str
    started_utc: str
    phases_seconds: dict[str, float]
    agent_seconds: float = Field(ge=0)
    """Model and tools: the clock that the contract's limit binds."""
    agent_intervals: tuple[Interval, ...]
    test_runs: tuple[SandboxRun, ...]
    transition: JsonValue
    """The change of residency at the start, with what had to be unloaded."""
    swaps: tuple[JsonValue, ...] = ()
    """The changes of residency inside the episode, each with its seconds and those until the first token of
    the reply after it: on the residency clock alone, so no interval of the agent's holds them."""
    exchanges: tuple[JsonValue, ...]
    """Every request to the host. Of a chat only its clock: the transcript has the rest."""
