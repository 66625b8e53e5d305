"""One run of a test suite as a value, and what a runner of any language looks like."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from repairlab.contract.outcome import TestOutcome
from repairlab.evaluation.sandbox.model import Materialisation, Sandbox, Tree


class RunEnd(StrEnum):
    """How a run of tests ended. The first six are a runner's own words and come with a complete report."""

    ALL_PASSED = "all-passed"
    TESTS_FAILED = "tests-failed"
    INTERRUPTED = "interrupted"
    INTERNAL_ERROR = "internal-error"
    USAGE_ERROR = "usage-error"
    NOTHING_COLLECTED = "nothing-collected"

    UNKNOWN_STATUS = "unknown-status"
    """The runner ended with a status that it does not document."""
    DUPLICATE_IDS = "duplicate-ids"
    """Two selected tests share one identifier, so no result can be told apart."""
    WALL_TIME = "wall-time"
    MEMORY = "memory"
    PROCESSES = "processes"
    DIED = "died"
    """No final record: the runner was ended from within or killed."""
    STATUS_DIFFERS = "status-differs"
    """The process ended with another status than the runner reported."""
    EVIDENCE_BROKEN = "evidence-broken"
    """A record is not authentic, malformed or out of order, or the report is longer than allowed."""

    @property
    def complete(self) -> bool:
        """Whether the report tells everything that the runner had to say."""
        return self in _COMPLETE


_COMPLETE = frozenset(
    {
        RunEnd.ALL_PASSED,
        RunEnd.TESTS_FAILED,
        RunEnd.INTERRUPTED,
        RunEnd.INTERNAL_ERROR,
        RunEnd.USAGE_ERROR,
        RunEnd.NOTHING_COLLECTED,
    }
)


@dataclass(frozen=True, slots=True)
class RunFacts:
    """Circumstances of a run. They explain; no verdict hangs on them."""

    sandbox: str
    materialisation: Materialisation
    versions: Mapping[str, str]
    exit_code: int
    output_head: bytes
    output_tail: bytes
    dropped_bytes: int
    leftovers: int | None
    places: Mapping[str, str]
    seconds_setup: float
    seconds_run: float
    seconds_teardown: float


@dataclass(frozen=True, slots=True)
class TestRun:
    """What one run of tests showed. Keys are the runner's own identifiers, byte for byte, sorted."""

    __test__ = False  # not a test class, whatever its name looks like

    end: RunEnd
    problem: str
    """One sentence about an end that is not a runner's own word; empty otherwise."""
    outcomes: Mapping[str, TestOutcome]
    """Every selected or reported test; a selected one that was not seen, or not to its end, is `NOT_RUN`."""
    failures: Mapping[str, str]
    """The runner's text for tests that did not pass, as reported: with paths and addresses."""
    unreadable: Mapping[str, str]
    """Files from which no tests could be collected, with the reason."""
    facts: RunFacts

    @property
    def complete(self) -> bool:
        """Whether the evidence is whole: first to last record, and a status that agrees."""
        return self.end.complete


@dataclass(frozen=True, slots=True)
class TestRequest:
    """Which tests to run on which tree, within which bounds."""

    __test__ = False

    tree: Tree
    select: tuple[str, ...] | None
    """Run exactly these tests; None runs everything that `files` hold."""
    files: tuple[str, ...]
    """Test files, relative to the root. Empty with `select` set: those that the identifiers name."""
    wall_seconds: float
    memory_bytes: int
    processes: int


class Runner(Protocol):
    """Runs tests of one language inside a sandbox."""

    @property
    def steering_names(self) -> frozenset[str]:
        """Names of files that the runner loads by itself; no patch may bring one."""

    def run(self, request: TestRequest, sandbox: Sandbox) -> TestRun:
        """Run the tests.

        Raises:
            InfrastructureFailure: the sandbox did not start, or the runner never said hello (nothing of the
                tree is on the import path before that).
        """
