"""A result class for unittest that sends, for each test, the same three phases that pytest knows.

unittest itself reports a failing set-up, body and teardown alike, and of a class or module whose fixture
failed it does not name one test. Here each test is reported by its full name: `package.module.Class.test`.
"""

from __future__ import annotations

import re
import unittest
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if not TYPE_CHECKING:
    import launching

    def override(method: object) -> object:
        """Younger than the oldest Python that this file runs on."""
        return method

else:
    from types import TracebackType

    from typing_extensions import override

    from repairlab.evaluation.inside import launching

    Failure = tuple[type[BaseException], BaseException, TracebackType] | tuple[None, None, None]

_FIXTURE = re.compile(r"(setUp|tearDown)(Class|Module) \((.+)\)")
_STEPS = {
    "_callSetUp": "setup",
    "_callTestMethod": "call",
    "_callTearDown": "teardown",
    "doCleanups": "teardown",
}
_CASES = ("unittest.case", "unittest.async_case")
_SUBTEST: Any = unittest.case._SubTest  # type: ignore[attr-defined]  # private, and in no stub


@dataclass
class _Phase:
    outcome: str = "passed"
    expected: bool = False
    message: str = ""


class Recorder(unittest.TestResult):
    """Sends the phases of a test when the test is over, and those of failed subtests at once."""

    def __init__(self, send: launching.Send) -> None:
        super().__init__()
        self._send = send
        self._running: dict[str, dict[str, _Phase]] = {}
        self._ended: set[str] = set()
        self.tests: Sequence[unittest.TestCase] = ()
        """The tests of this run: a fixture that fails is told for those of its class or module."""
        self.phases = 0
        """How many phase records were sent."""

    @override
    def startTest(self, test: unittest.TestCase) -> None:
        super().startTest(test)
        self._running[test.id()] = {"setup": _Phase(), "teardown": _Phase()}

    @override
    def stopTest(self, test: unittest.TestCase) -> None:
        super().stopTest(test)
        said = self._running.pop(test.id(), {})
        for when in ("setup", "call", "teardown"):
            if when in said:
                self._phase(test.id(), when, said[when])
        self._ended.add(test.id())

    @override
    def addSuccess(self, test: unittest.TestCase) -> None:
        super().addSuccess(test)
        self._say(test.id(), "call", _Phase())

    @override
    def addFailure(self, test: unittest.TestCase, err: Failure) -> None:
        super().addFailure(test, err)
        self._say(test.id(), _step(err[2]), _Phase("failed", message=self.failures[-1][1]))

    @override
    def addError(self, test: unittest.TestCase, err: Failure) -> None:
        super().addError(test, err)
        phase = _Phase("failed", message=self.errors[-1][1])
        if isinstance(test, unittest.TestCase):
            self._say(test.id(), _step(err[2]), phase)
        else:
            self._fixture(str(test), phase)

    @override
    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        super().addSkip(test, reason)
        phase = _Phase("skipped", message=reason)
        if isinstance(test, _SUBTEST):
            self._say(test.test_case.id(), "call", phase)
        elif isinstance(test, unittest.TestCase):
            self._say(test.id(), "call", phase)
        else:
            self._fixture(str(test), phase)

    @override
    def addExpectedFailure(self, test: unittest.TestCase, err: Failure) -> None:
        super().addExpectedFailure(test, err)
        message = self.expectedFailures[-1][1]
        self._say(test.id(), "call", _Phase("skipped", expected=True, message=message))

    @override
    def addUnexpectedSuccess(self, test: unittest.TestCase) -> None:
        super().addUnexpectedSuccess(test)
        self._say(test.id(), "call", _Phase(expected=True))

    @override
    def addSubTest(self, test: unittest.TestCase, subtest: unittest.TestCase, err: Failure | None) -> None:
        before = len(self.failures), len(self.errors)
        super().addSubTest(test, subtest, err)
        if err is not None:
            told = self.failures[before[0] :] + self.errors[before[1] :]
            message = f"{subtest}\n{told[-1][1]}"
            self._phase(test.id(), "call", _Phase("failed", message=message), part=True)

    def _say(self, name: str, when: str, phase: _Phase) -> None:
        """Note a phase of a test; the first failure of a phase stays. Before and after a test, send it."""
        running = self._running.get(name)
        if running is not None:
            if when not in running or running[when].outcome != "failed":
                running[when] = phase
        elif name in self._ended:
            self._phase(name, "teardown", phase)  # Django's own teardown comes after the test
        else:
            self._never_began(name, phase)

    def _never_began(self, name: str, phase: _Phase) -> None:
        self._phase(name, "setup", phase)
        self._phase(name, "teardown", _Phase())
        self._ended.add(name)

    def _fixture(self, description: str, phase: _Phase) -> None:
        """A fixture of a class or module failed or was skipped: say so for each test that hangs on it."""
        found = _FIXTURE.fullmatch(description)
        if found is None:
            return  # not of unittest's making; the run as a whole is not clean
        side, level, name = found.groups()
        for test in self.tests:
            kind = type(test)
            owner = kind.__module__ if level == "Module" else f"{kind.__module__}.{kind.__qualname__}"
            if owner != name:
                continue
            if side == "tearDown":
                self._phase(test.id(), "teardown", phase)
            else:
                self._never_began(test.id(), phase)

    def _phase(self, name: str, when: str, phase: _Phase, *, part: bool = False) -> None:
        self.phases += 1
        self._send(
            "phase",
            id=name,
            when=when,
            outcome=phase.outcome,
            expected=phase.expected,
            part=part,
            message=launching.shortened(phase.message),
        )


def _step(trace: TracebackType | None) -> str:
    """The phase in which unittest was when it met a failure; the body, when it cannot be told."""
    while trace is not None:
        frame = trace.tb_frame
        if frame.f_globals.get("__name__") in _CASES and frame.f_code.co_name in _STEPS:
            return _STEPS[frame.f_code.co_name]
        trace = trace.tb_next
    return "call"
