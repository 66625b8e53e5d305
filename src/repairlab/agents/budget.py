"""What an episode has used, and whether that ends it. Pure: every change gives a new value."""

from __future__ import annotations

from dataclasses import dataclass, replace

from repairlab.contract.controls import Budgets
from repairlab.contract.outcome import EndReason


@dataclass(frozen=True, slots=True)
class Spent:
    """Counts of one episode. ``finish`` is in none of the tool counts."""

    model_calls: int = 0
    tool_calls: int = 0
    """Every call but ``finish``, once: executed, refused, unparsable, unknown or over a budget."""
    public_test_runs: int = 0
    """Test runs that were executed."""

    def with_model_call(self) -> Spent:
        """One more reply asked for."""
        return replace(self, model_calls=self.model_calls + 1)

    def with_tool_call(self) -> Spent:
        """One more call, whatever becomes of it."""
        return replace(self, tool_calls=self.tool_calls + 1)

    def with_test_run(self) -> Spent:
        """One more executed test run."""
        return replace(self, public_test_runs=self.public_test_runs + 1)


def may_call_tool(spent: Spent, budgets: Budgets) -> bool:
    """Whether the call just counted lies within the budget of tool calls."""
    return spent.tool_calls <= budgets.tool_calls


def may_run_tests(spent: Spent, budgets: Budgets) -> bool:
    """Whether one more test run may be executed."""
    return spent.public_test_runs < budgets.public_test_runs


def budget_end(spent: Spent, budgets: Budgets, agent_seconds: float) -> EndReason | None:
    """Which budget ends the episode before its next request, if one does.

    Args:
        spent: counts so far.
        budgets: the frozen limits.
        agent_seconds: reading of the clock that binds.
    """
    if agent_seconds >= budgets.agent_clock_seconds:
        return EndReason.AGENT_CLOCK_SPENT
    if spent.tool_calls >= budgets.tool_calls:
        return EndReason.TOOL_CALLS_SPENT
    if spent.model_calls >= budgets.model_calls:
        return EndReason.MODEL_CALLS_SPENT
    return None
