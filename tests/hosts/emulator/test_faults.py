from __future__ import annotations

import pytest

from repairlab.contract.errors import BadInput
from repairlab.hosts.emulator.faults import CHAT_ROUTE, Scenario, WrongModel, parse_scenario


def entry(first: int, times: int | None, model: str) -> dict[str, object]:
    whole: dict[str, object] = {
        "route": CHAT_ROUTE,
        "from": first,
        "do": {"kind": "wrong-model", "model": model},
    }
    return whole if times is None else whole | {"times": times}


def test_the_first_entry_that_covers_the_count_acts():
    scenario = parse_scenario([entry(2, 2, "a"), entry(3, None, "b")], "s")
    acts = [scenario.action(CHAT_ROUTE, count) for count in range(1, 6)]
    assert acts == [None, WrongModel("a"), WrongModel("a"), WrongModel("b"), WrongModel("b")]
    assert scenario.action("GET /v1/models", 2) is None


def test_no_scenario_does_nothing():
    assert Scenario().action(CHAT_ROUTE, 1) is None


@pytest.mark.parametrize(
    "data",
    [
        {},
        [1],
        [{"route": CHAT_ROUTE}],
        [{"route": CHAT_ROUTE, "do": {"kind": "wrong-model"}}],
        [{"route": CHAT_ROUTE, "do": {"kind": "wrong-model", "model": "a", "more": 1}}],
        [{"route": CHAT_ROUTE, "times": 0, "do": {"kind": "wrong-model", "model": "a"}}],
    ],
)
def test_a_scenario_is_read_strictly(data: object):
    with pytest.raises(BadInput):
        parse_scenario(data, "s")
