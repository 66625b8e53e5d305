from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repairlab.contract.outcome import TestOutcome as Outcome
from repairlab.evaluation.runs import RunEnd
from repairlab.evaluation.verdict import Reason, judge

REQUIRED = ("t::a", "t::b")
PASSED = {"t::a": Outcome.PASSED, "t::b": Outcome.PASSED}


def test_every_required_test_seen_to_pass_is_resolved(made_run):
    verdict = judge(REQUIRED, made_run(outcomes=PASSED))
    assert (verdict.resolved, verdict.reason) == (True, Reason.ALL_REQUIRED_PASSED)


@pytest.mark.parametrize("end", [end for end in RunEnd if end is not RunEnd.ALL_PASSED])
def test_no_other_end_is_resolved_whatever_the_tests_say(made_run, end):
    verdict = judge(REQUIRED, made_run(end=end, outcomes=PASSED))
    assert not verdict.resolved
    assert verdict.reason is not Reason.ALL_REQUIRED_PASSED


@given(
    end=st.sampled_from(RunEnd),
    outcomes=st.dictionaries(st.sampled_from(["t::a", "t::b", "t::c"]), st.sampled_from(Outcome)),
)
def test_silence_is_never_a_pass(made_run, end, outcomes):
    verdict = judge(REQUIRED, made_run(end=end, outcomes=outcomes))
    assert verdict.resolved == (
        end is RunEnd.ALL_PASSED and all(outcomes.get(name) is Outcome.PASSED for name in REQUIRED)
    )


@pytest.mark.parametrize(
    ("end", "outcomes", "unreadable", "reason"),
    [
        (RunEnd.TESTS_FAILED, {**PASSED, "t::b": Outcome.FAILED}, {}, Reason.REQUIRED_FAILED),
        (RunEnd.TESTS_FAILED, {"t::a": Outcome.PASSED}, {}, Reason.REQUIRED_NOT_SEEN),
        (RunEnd.TESTS_FAILED, {}, {"t": "SyntaxError"}, Reason.UNREADABLE_TESTS),
        (RunEnd.TESTS_FAILED, PASSED, {"u": "SyntaxError"}, Reason.UNCLEAN_STATUS),
        (RunEnd.ALL_PASSED, {**PASSED, "t::b": Outcome.SKIPPED}, {}, Reason.REQUIRED_FAILED),
        (RunEnd.USAGE_ERROR, {}, {}, Reason.USAGE_ERROR),
        (RunEnd.WALL_TIME, PASSED, {}, Reason.WALL_TIME),
        (RunEnd.DIED, PASSED, {}, Reason.DIED),
    ],
)
def test_reasons(made_run, end, outcomes, unreadable, reason):
    run = dataclasses.replace(made_run(end=end, outcomes=outcomes), unreadable=unreadable)
    verdict = judge(REQUIRED, run)
    assert verdict.reason is reason
    assert not verdict.resolved
    if unreadable:
        assert min(unreadable) in verdict.detail


def test_nothing_required_is_no_verdict(made_run):
    with pytest.raises(ValueError, match="at least one"):
        judge((), made_run(outcomes={}))
