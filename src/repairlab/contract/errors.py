"""The error tree. The branch of an error decides what happens next; nothing else does.

==========================  ==========================================================  ===========
branch                      what the caller does                                        exit status
==========================  ==========================================================  ===========
`RefuseToStart`             stops before any scored request; the user repairs a fact    2
`IncompleteData`            the result asked for would rest on missing cells            3
`InfrastructureFailure`     keeps the attempt outside `raw/`, retries the same cell     1
`IntegrityViolation`        stops: a digest or an invariant does not hold               1
==========================  ==========================================================  ===========

What a model does wrong (a patch that does not apply, an unknown tool) is an outcome of the system under
test, travels as a value, and is no exception of this tree.
"""

from __future__ import annotations

from typing import ClassVar


class RepairlabError(Exception):
    """Root of every error that repairlab raises on purpose.

    Args:
        message: what was wrong and where, as one sentence.
        repair: what the reader can do about it; printed on a line of its own.
    """

    exit_status: ClassVar[int] = 1

    def __init__(self, message: str, *, repair: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.repair = repair

    def __str__(self) -> str:
        return f"{self.message}\n  {self.repair}" if self.repair else self.message


class RefuseToStart(RepairlabError):
    """A frozen digest, a fact of a model, a tool or an input is not as the run requires."""

    exit_status = 2


class BadInput(RefuseToStart):
    """A file or an argument of the user is malformed. The message names file, line and field."""


class IncompleteData(RepairlabError):
    """Planned cells are missing where a complete set is required."""

    exit_status = 3


class InfrastructureFailure(RepairlabError):
    """Host, sandbox, disk or harness failed: no outcome of the system under test.

    Args:
        kind: a short stable word for the failure table, such as ``host-unreachable``.
    """

    def __init__(self, message: str, *, kind: str, repair: str = "") -> None:
        super().__init__(message, repair=repair)
        self.kind = kind


class IntegrityViolation(RepairlabError):
    """A seal, digest or internal invariant does not hold. Never retried."""
