"""What a cell can end with, and what one test can end with: two closed lists."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal


class Status(StrEnum):
    """How a complete cell ended. An infrastructure attempt is no outcome and has no value here."""

    RESOLVED = "resolved"
    UNRESOLVED = "unresolved"


Stage = Literal["files", "lines", "repair"]
"""A stage of a staged treatment."""
STAGES: tuple[Stage, ...] = ("files", "lines", "repair")


class EndReason(StrEnum):
    """Why an episode ended: ``finish`` or a budget; a staged one by its last stage or an unusable one."""

    FINISHED = "finished"
    MODEL_CALLS_SPENT = "model-calls-spent"
    TOOL_CALLS_SPENT = "tool-calls-spent"
    AGENT_CLOCK_SPENT = "agent-clock-spent"
    CONTEXT_EXHAUSTED = "context-exhausted"
    FILES_STAGE_UNUSABLE = "files-stage-unusable"
    LINES_STAGE_UNUSABLE = "lines-stage-unusable"
    REPAIR_STAGE_UNUSABLE = "repair-stage-unusable"


class TestOutcome(StrEnum):
    """What became of one test. Only ``passed`` counts as a pass for a required test."""

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    SKIPPED = "skipped"
    XFAILED = "xfailed"
    XPASSED = "xpassed"
    NOT_RUN = "not-run"
    """Required and absent from a complete report, or begun and never ended."""

    __test__ = False  # not a test class, whatever its name looks like
