from __future__ import annotations

import pytest

from repairlab.contract.errors import BadInput
from repairlab.hosts.emulator.actions import CHAT_ROUTE, WrongModel
from repairlab.hosts.emulator.faults import Request, Scenario, parse_scenario


def entry(first: int, times: int | None, model: str) -> dict[str, object]:
    whole: dict[str, object] = {
        "route": CHAT_ROUTE,
        "from": first,
        "do": {"kind": "wrong-model", "model": model},
    }
    return whole if times is None else whole | {"times": times}


def asked(route: str, count: int) -> Request:
    return Request(route, count, count, 0.0)


def test_the_first_entry_that_covers_the_count_acts():
    scenario = parse_scenario([entry(2, 2, "a"), entry(3, None, "b")], "s")
    acts = [scenario.action(asked(CHAT_ROUTE, count)) for count in range(1, 6)]
    assert acts == [None, WrongModel("a"), WrongModel("a"), WrongModel("b"), WrongModel("b")]
    assert scenario.action(asked("GET /v1/models", 2)) is None


def test_a_fault_of_every_route_counts_all_requests_and_one_may_be_bound_to_a_time():
    anywhere = {"route": "*", "from": 3, "do": {"kind": "hang"}}
    later = {
        "route": CHAT_ROUTE,
        "after_seconds": 10,
        "until_seconds": 20,
        "do": {"kind": "delay", "seconds": 1},
    }
    scenario = parse_scenario([later, anywhere], "s")
    assert [scenario.action(Request("GET /x", 1, total, 0.0)) is None for total in (2, 3)] == [True, False]
    seen = [scenario.action(Request(CHAT_ROUTE, 1, 1, seconds)) for seconds in (9.9, 10.0, 19.9, 20.0)]
    assert [action is not None for action in seen] == [False, True, True, False]


def test_no_scenario_does_nothing():
    assert Scenario().action(asked(CHAT_ROUTE, 1)) is None


@pytest.mark.parametrize(
    "data",
    [
        {},
        [1],
        [{"route": CHAT_ROUTE}],
        [{"route": CHAT_ROUTE, "do": {"kind": "wrong-model"}}],
        [{"route": CHAT_ROUTE, "do": {"kind": "wrong-model", "model": "a", "more": 1}}],
        [{"route": CHAT_ROUTE, "do": {"kind": "reshape", "shape": "square"}}],
        [{"route": "*", "do": {"kind": "held-memory"}}],
        [{"route": CHAT_ROUTE, "times": 0, "do": {"kind": "wrong-model", "model": "a"}}],
    ],
)
def test_a_scenario_is_read_strictly(data: object):
    with pytest.raises(BadInput):
        parse_scenario(data, "s")
