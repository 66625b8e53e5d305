"""Errors of a host: one reader for every form they come in; what each means is read in the frozen table.

An ``error`` key is a failure at every HTTP status and inside a stream; its value may be text or an object.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast

from repairlab.contract.errors import InfrastructureFailure, RefuseToStart, RepairlabError
from repairlab.contract.failures import CONDITIONS, Condition, Failure, FailureClass, FailureTable
from repairlab.hosts.assemble import is_object

Phase: TypeAlias = Literal["start", "run"]

_MESSAGE_CHARACTERS = 600


@dataclass(frozen=True, slots=True)
class HostError:
    """What a host says went wrong."""

    message: str
    type: str = ""
    code: str = ""


def error_in(body: object) -> HostError | None:
    """The error that a parsed reply or stream frame carries, or ``None``. ``"error": null`` is none."""
    if not is_object(body) or body.get("error") is None:
        return None
    error = body["error"]
    if is_object(error):
        message = error.get("message", error.get("title", body.get("message")))
        return HostError(
            _word(message) or json.dumps(error), _word(error.get("type")), _word(error.get("code"))
        )
    return HostError(error if isinstance(error, str) else json.dumps(error), "", _word(body.get("code")))


def _word(value: object) -> str:
    return "" if value is None else value if isinstance(value, str) else json.dumps(value)


class FailureRules:
    """The frozen table applied: from what was noticed to what the caller has to raise.

    Args:
        table: the rows; see `repairlab.contract.failures`. Without a table a rejected authorization and an
            unknown route refuse, whatever else a host tells is an infrastructure failure of kind
            ``host-error``, every condition is its own kind, and nothing is repeated.
        phase: ``start`` before the first scored request, ``run`` afterwards.
    """

    def __init__(self, table: FailureTable | None = None, phase: Phase = "run") -> None:
        self._rows = table.failure if table else ()
        self._phase: Phase = phase

    def at(self, phase: Phase) -> FailureRules:
        """The same table in another phase."""
        other = FailureRules(None, phase)
        other._rows = self._rows
        return other

    def of(self, condition: Condition) -> Failure:
        """The row of a condition that the code noticed."""
        found = next((row for row in self._rows if condition in row.conditions), None)
        return found or _untabled(condition, FailureClass.INFRASTRUCTURE)

    def of_kind(self, kind: str) -> Failure:
        """The first row of a kind; one that repeats nothing where no row has it."""
        found = next((row for row in self._rows if row.kind == kind), None)
        return found or _untabled("host-error", FailureClass.INFRASTRUCTURE).model_copy(update={"kind": kind})

    def match(self, error: HostError, status: int = 200) -> Failure:
        """The row of what a host says: by its status, else by the first marker found."""
        text = f"{error.message}\n{error.type}\n{error.code}".lower()
        by_status = (row for row in self._rows if status in row.statuses)
        by_marker = (row for row in self._rows if row.marked_in(text))
        return next(by_status, None) or next(by_marker, None) or self._unmatched(status)

    def bare(self, status: int) -> Failure:
        """The row of a status that is no success, with a body that names no error."""
        rows = self._rows
        found = next((row for row in rows if status in row.statuses or status in row.bare_statuses), None)
        return found or self._unmatched(status)

    def _unmatched(self, status: int) -> Failure:
        if not self._rows and status in (401, 403, 404):
            return _untabled("host-error", FailureClass.REFUSE)
        return self.of("host-error")

    def class_of(self, row: Failure) -> FailureClass:
        """The class of `row` in this phase."""
        return row.at_start if self._phase == "start" else row.in_run

    def refuses(self, row: Failure) -> bool:
        """Whether `row` stops the run in this phase."""
        return self.class_of(row) is FailureClass.REFUSE

    def raised(self, row: Failure, what: str) -> RepairlabError:
        """The exception that `row` asks for, where its failure ends what was asked.

        A row of class ``model`` gives an `InfrastructureFailure` of its kind: whoever can score it (the loop
        of an agent, for a context that overflows) catches that kind; nobody else's result can rest on it.
        """
        message = f"{what}: {row.message}" if what else row.message
        if self.class_of(row) is FailureClass.REFUSE:
            return RefuseToStart(message, repair=row.repair)
        return InfrastructureFailure(message, kind=row.kind, repair=row.repair)

    def noticed(self, condition: Condition, what: str) -> RepairlabError:
        """The exception for `condition`."""
        return self.raised(self.of(condition), what)

    def told(self, error: HostError, where: str, status: int) -> RepairlabError:
        """The exception for what a host says. Of a rejected authorization nothing is quoted."""
        row = self.match(error, status)
        quoted = "" if status in row.statuses else f": {error.message[:_MESSAGE_CHARACTERS]}"
        return self.raised(row, f"{where}: status {status}{quoted}")

    def reclassified(self, failure: InfrastructureFailure) -> RepairlabError:
        """What the table says of a failure whose kind is a condition, such as ``host-silent``."""
        if failure.kind not in CONDITIONS:
            return failure
        row = self.of(cast("Condition", failure.kind))
        repair = failure.repair or row.repair
        if self.class_of(row) is FailureClass.REFUSE:
            return RefuseToStart(failure.message, repair=repair)
        return InfrastructureFailure(failure.message, kind=failure.kind, repair=repair)


def _untabled(condition: Condition, in_run: FailureClass) -> Failure:
    return Failure(
        id=condition,
        conditions=(condition,),
        at_start=FailureClass.REFUSE,
        in_run=in_run,
        kind=condition,
        message="Noticed by the program; it was given no table of failures that says more.",
        repair="Check the host's address, its version and the token.",
    )


def parse_json(text: str, where: str) -> Mapping[str, Any]:
    """The JSON object that a reply's body must be.

    Raises:
        InfrastructureFailure: kind ``host-protocol``.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InfrastructureFailure(
            f"{where}: the reply is not JSON ({error})", kind="host-protocol"
        ) from error
    if not is_object(value):
        raise InfrastructureFailure(f"{where}: the reply is no JSON object", kind="host-protocol")
    return value
