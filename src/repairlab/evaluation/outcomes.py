"""From the phases of a test to its outcome: one fixed table.

A test has passed when its set-up, its body and its teardown were each seen to pass, exactly once, and none of
its subtests failed. The other rows:

=====================================================  ==============
seen                                                   outcome
=====================================================  ==============
body or subtest failed (a strict unexpected pass too)  ``failed``
set-up or teardown failed                              ``error``
marked as expected failure, body failed                ``xfailed``
marked as expected failure, body passed                ``xpassed``
marked as expected failure, body never ran             ``not-run``
skipped, before or inside the body                     ``skipped``
a phase is missing or came twice                       ``not-run``
=====================================================  ==============
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from repairlab.contract.outcome import TestOutcome
from repairlab.evaluation.evidence import Phase


def fold(phases: Iterable[Phase], selected: Iterable[str]) -> Mapping[str, TestOutcome]:
    """Outcome of every test in `phases` and of every identifier in `selected`, sorted by identifier."""
    by_test: dict[str, list[Phase]] = defaultdict(list)
    for name in selected:
        by_test[name] = []
    for phase in phases:
        by_test[phase.id].append(phase)
    return {name: outcome_of(by_test[name]) for name in sorted(by_test)}


def outcome_of(phases: list[Phase]) -> TestOutcome:
    """Outcome of one test."""
    failed = [p for p in phases if p.outcome == "failed"]
    if any(p.when == "call" or p.part for p in failed):
        return TestOutcome.FAILED
    if failed:
        return TestOutcome.ERROR
    own = [p for p in phases if not p.part]
    seen = [p.when for p in own]
    if seen == ["setup", "call", "teardown"]:
        return _of_body(own[1])
    if seen == ["setup", "teardown"] and own[0].outcome == "skipped":
        return TestOutcome.NOT_RUN if own[0].expected else TestOutcome.SKIPPED
    return TestOutcome.NOT_RUN


def _of_body(body: Phase) -> TestOutcome:
    if body.expected:
        return TestOutcome.XFAILED if body.outcome == "skipped" else TestOutcome.XPASSED
    return TestOutcome.SKIPPED if body.outcome == "skipped" else TestOutcome.PASSED


def failure_texts(phases: Iterable[Phase], outcomes: Mapping[str, TestOutcome]) -> Mapping[str, str]:
    """Messages of failing phases of tests that did not pass, joined in order, sorted by identifier."""
    texts: dict[str, list[str]] = defaultdict(list)
    for phase in phases:
        if phase.outcome == "failed" and outcomes[phase.id] is not TestOutcome.PASSED:
            texts[phase.id].append(phase.message)
    return {name: "\n".join(texts[name]) for name in sorted(texts)}
