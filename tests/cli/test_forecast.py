"""The bound on a campaign's hours."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repairlab.cli.forecast import bound, call_seconds, forecast
from repairlab.contract.study import Inputs, Study, load_inputs
from repairlab.hosts.preflight import Speeds
from repairlab.manifest.cell import Cell
from repairlab.manifest.expand import expand


@pytest.fixture
def inputs(study: Study) -> Inputs:
    return load_inputs(study, "small")


@pytest.fixture
def cells(inputs: Inputs) -> tuple[Cell, ...]:
    return expand(inputs, "0" * 64).cells


def test_the_bound_is_the_sum_of_what_each_cell_may_use(inputs: Inputs, cells: tuple[Cell, ...]) -> None:
    assert len(cells) == 12
    fast, slow = Speeds(10.0, 57_344.0, 8192.0), Speeds(20.0, 1.0, 1.0)
    found = bound(inputs, cells, {"FLOOR": fast, "NAVIGATOR": slow}, None)
    assert found.loads == 6 * 10 + 6 * 20
    # A call of the fast one takes 1 + 1 seconds, its public tests twice 60; the slow one ends by the clock.
    assert found.agents == pytest.approx(6 * (12 * 2 + 2 * 60) + 6 * 1800)
    assert found.evaluation == 12 * 120 * inputs.shared.evaluation.timeout_reproductions
    assert found.total == found.loads + found.agents + found.evaluation


def test_a_treatment_that_embeds_pays_a_swap_for_each_tool_call(
    inputs: Inputs, cells: tuple[Cell, ...]
) -> None:
    treatment = inputs.treatments["H000"]
    dense = treatment.model_copy(update={"components": ("exact", "dense")})
    inputs.treatments["H000"] = dense
    speed = {name: Speeds(10.0, 1e6, 1e6) for name in inputs.models}
    found = bound(inputs, cells, speed, Speeds(5.0, None, None))
    assert found.loads == 12 * 10 + 6 * 12 * (10 + 5)


SPEED = st.none() | st.floats(0.01, 1e6)


def test_a_cell_never_has_more_agent_seconds_than_its_clock(inputs: Inputs, cells: tuple[Cell, ...]) -> None:
    @given(prompt=SPEED, completion=SPEED, load=st.floats(0, 1e4))
    def hold(prompt: float | None, completion: float | None, load: float) -> None:
        one, two = (
            bound(inputs, cells, dict.fromkeys(inputs.models, speeds), None).agents
            for speeds in (
                Speeds(load, prompt, completion),
                Speeds(load, prompt and prompt * 2, completion and completion * 2),
            )
        )
        assert 0 < two <= one <= len(cells) * inputs.shared.budgets.agent_clock_seconds

    hold()


def test_a_full_prompt_in_longer_silence_than_is_allowed_is_told(
    inputs: Inputs, cells: tuple[Cell, ...]
) -> None:
    speeds: dict[str, Speeds | None] = {"FLOOR": Speeds(1.0, 60.0, 100.0), "NAVIGATOR": Speeds(1.0, 1e5, 1e3)}
    slow, fast, total = forecast(inputs, cells, speeds, None)
    assert (slow.good, slow.needed) == (False, False)
    assert "in silence" in slow.found
    assert fast.good
    assert "at most" in total.what
    assert "for 12 cells (6 of FLOOR, 6 of NAVIGATOR)" in total.found


def test_no_bound_is_given_while_a_speed_is_missing(inputs: Inputs, cells: tuple[Cell, ...]) -> None:
    *_, total = forecast(inputs, cells, {"FLOOR": None, "NAVIGATOR": Speeds(1.0, 1e5, 1e3)}, None)
    assert not total.good
    assert " h " not in total.found


def test_the_context_leaves_room_for_the_reply(inputs: Inputs) -> None:
    assert call_seconds(inputs.shared, 65_536, Speeds(1.0, 100.0, 10.0)) == pytest.approx(
        (65_536 - 8192) / 100 + 8192 / 10
    )
    assert call_seconds(inputs.shared, 65_536, Speeds(1.0, None, 10.0)) is None
