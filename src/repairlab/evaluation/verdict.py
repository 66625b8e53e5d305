"""`resolved_at_1`: pure, and closed to silence. What was not seen to pass has not passed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from repairlab.contract.outcome import TestOutcome
from repairlab.evaluation.runs import RunEnd, TestRun


class Reason(StrEnum):
    """Why a verdict is what it is."""

    ALL_REQUIRED_PASSED = "all-required-passed"
    REQUIRED_FAILED = "required-tests-failed"
    REQUIRED_NOT_SEEN = "required-tests-not-seen"
    UNREADABLE_TESTS = "tests-not-collected"
    INTERRUPTED = "runner-interrupted"
    INTERNAL_ERROR = "runner-internal-error"
    USAGE_ERROR = "runner-refused-to-start-tests"
    NOTHING_COLLECTED = "nothing-collected"
    UNCLEAN_STATUS = "required-passed-but-status-is-not-0"
    WALL_TIME = "over-time-limit"
    MEMORY = "over-memory-limit"
    PROCESSES = "over-process-limit"
    DIED = "runner-died"
    EVIDENCE_BROKEN = "evidence-broken"


_BY_END = MappingProxyType(
    {
        RunEnd.INTERRUPTED: Reason.INTERRUPTED,
        RunEnd.INTERNAL_ERROR: Reason.INTERNAL_ERROR,
        RunEnd.USAGE_ERROR: Reason.USAGE_ERROR,
        RunEnd.NOTHING_COLLECTED: Reason.NOTHING_COLLECTED,
        RunEnd.WALL_TIME: Reason.WALL_TIME,
        RunEnd.MEMORY: Reason.MEMORY,
        RunEnd.PROCESSES: Reason.PROCESSES,
        RunEnd.DIED: Reason.DIED,
        RunEnd.UNKNOWN_STATUS: Reason.DIED,
        RunEnd.STATUS_DIFFERS: Reason.EVIDENCE_BROKEN,
        RunEnd.DUPLICATE_IDS: Reason.EVIDENCE_BROKEN,
        RunEnd.EVIDENCE_BROKEN: Reason.EVIDENCE_BROKEN,
    }
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """A judgement over one run."""

    resolved: bool
    reason: Reason
    detail: str
    """For a reader: the first test concerned, a file that was not collected, or the run's problem."""


def judge(required: Sequence[str], run: TestRun) -> Verdict:
    """Resolved exactly when the report is complete, the status is 0 and every required test was seen to pass.

    Raises:
        ValueError: `required` is empty: nothing would be shown by passing.
    """
    if not required:
        raise ValueError("a verdict needs at least one required test")
    if run.end in _BY_END:
        return Verdict(resolved=False, reason=_BY_END[run.end], detail=run.problem or _first_unreadable(run))
    seen = {name: run.outcomes.get(name, TestOutcome.NOT_RUN) for name in required}
    not_passed = [name for name in required if seen[name] is not TestOutcome.PASSED]
    if not not_passed:
        if run.end is RunEnd.ALL_PASSED:
            return Verdict(
                resolved=True, reason=Reason.ALL_REQUIRED_PASSED, detail=f"{len(required)} tests passed"
            )
        return Verdict(resolved=False, reason=Reason.UNCLEAN_STATUS, detail=_first_unreadable(run))
    first, count = not_passed[0], len(not_passed)
    detail = f"{count} of {len(required)} required tests did not pass, such as {first} ({seen[first]})"
    if all(seen[name] is TestOutcome.NOT_RUN for name in not_passed):
        if run.unreadable:
            return Verdict(
                resolved=False, reason=Reason.UNREADABLE_TESTS, detail=f"{detail}; {_first_unreadable(run)}"
            )
        return Verdict(resolved=False, reason=Reason.REQUIRED_NOT_SEEN, detail=detail)
    return Verdict(resolved=False, reason=Reason.REQUIRED_FAILED, detail=detail)


def _first_unreadable(run: TestRun) -> str:
    return f"no tests could be collected from {min(run.unreadable)}" if run.unreadable else ""
