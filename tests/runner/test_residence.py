"""The clocks of a cell: time spent on loading models is nobody's work."""

from __future__ import annotations

import pytest

from repairlab.contract.errors import InfrastructureFailure
from repairlab.runner.residence import CellClock


def test_a_swap_inside_a_tool_or_a_request_is_kept_off_the_agent_s_clock() -> None:
    now = [100.0]
    clock = CellClock(lambda: now[0])
    with clock.running("tool"):
        now[0] += 2.0
        with clock.residency():
            now[0] += 30.0
        now[0] += 1.0
    with clock.running("model"):
        with clock.residency():
            now[0] += 40.0
        now[0] += 5.0
    assert clock.agent.intervals == [("tool", 3.0), ("model", 5.0)]
    assert clock.binding("agent") == 8.0
    assert clock.residency_seconds == 70.0
    assert clock.binding("wall") == 78.0


def test_a_swap_that_fails_is_kept_off_too() -> None:
    now = [0.0]
    clock = CellClock(lambda: now[0])

    def failing_swap() -> None:
        with clock.running("tool"), clock.residency():
            now[0] += 9.0
            raise InfrastructureFailure("the host is gone", kind="host-unreachable")

    with pytest.raises(InfrastructureFailure):
        failing_swap()
    assert (clock.binding("agent"), clock.residency_seconds) == (0.0, 9.0)
