"""Budgets: what counts, and when an episode ends."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repairlab.agents.budget import Spent, budget_end, may_call_tool, may_run_tests
from repairlab.agents.context import ContextBound
from repairlab.contract.controls import SharedControls
from repairlab.contract.outcome import EndReason
from repairlab.contract.strict import load

ROOT = Path(__file__).resolve().parent.parent.parent
SHARED = load(SharedControls, ROOT / "contracts" / "shared.toml")
BUDGETS = SHARED.budgets


def test_the_contract_s_numbers() -> None:
    assert (BUDGETS.model_calls, BUDGETS.tool_calls, BUDGETS.public_test_runs) == (12, 12, 2)
    assert (BUDGETS.agent_clock_seconds, BUDGETS.binding_clock) == (1800, "agent")
    assert (SHARED.generation.context_tokens, SHARED.generation.completion_tokens) == (65536, 8192)


@pytest.mark.parametrize(
    ("spent", "seconds", "end"),
    [
        (Spent(), 0.0, None),
        (Spent(11, 11, 2), 1799.9, None),
        (Spent(12, 11, 0), 0.0, EndReason.MODEL_CALLS_SPENT),
        (Spent(11, 12, 0), 0.0, EndReason.TOOL_CALLS_SPENT),
        (Spent(12, 12, 0), 0.0, EndReason.TOOL_CALLS_SPENT),
        (Spent(1, 1, 0), 1800.0, EndReason.AGENT_CLOCK_SPENT),
        (Spent(12, 12, 0), 1800.0, EndReason.AGENT_CLOCK_SPENT),
    ],
)
def test_a_budget_ends_the_episode_exactly_at_its_limit(
    spent: Spent, seconds: float, end: EndReason | None
) -> None:
    assert budget_end(spent, BUDGETS, seconds) == end


@given(st.integers(0, 40))
def test_the_twelfth_call_is_executed_and_the_thirteenth_is_not(calls: int) -> None:
    spent = Spent()
    executed = 0
    for _ in range(calls):
        spent = spent.with_tool_call()
        executed += may_call_tool(spent, BUDGETS)
    assert spent.tool_calls == calls
    assert executed == min(calls, 12)


def test_two_test_runs_are_executed() -> None:
    spent = Spent()
    runs = 0
    while may_run_tests(spent, BUDGETS):
        spent = spent.with_test_run()
        runs += 1
    assert runs == 2


MESSAGE = {"role": "user", "content": "x" * 1000}


def test_the_first_request_is_bounded_by_its_bytes() -> None:
    bound = ContextBound(SHARED.generation, 65536)
    assert bound.prompt_bound([MESSAGE], []) == pytest.approx(1000, abs=60)


def test_later_requests_rest_on_what_the_host_counted() -> None:
    bound = ContextBound(SHARED.generation, 65536).after(40_000, 1)
    assert bound.prompt_bound([MESSAGE, MESSAGE], []) == pytest.approx(40_000 + 1000, abs=60)


@pytest.mark.parametrize("usage", [None, 0, -1])
def test_an_unknown_usage_does_not_loosen_the_bound(usage: int | None) -> None:
    bound = ContextBound(SHARED.generation, 65536)
    assert bound.after(usage, 1) == bound


def test_a_reply_of_full_length_must_still_fit() -> None:
    bound = ContextBound(SHARED.generation, 65536).after(65536 - 8192 - 1100, 1)
    assert bound.fits([MESSAGE, MESSAGE], [])
    assert not bound.fits([MESSAGE, MESSAGE, MESSAGE], [])


def test_half_a_surrogate_pair_does_not_stop_the_bound() -> None:
    ContextBound(SHARED.generation, 65536).prompt_bound([{"role": "assistant", "content": "\ud800"}], [])
