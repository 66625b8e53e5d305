"""Bounds of incomplete data hold whatever the missing pairs turn out to be."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repairlab.analysis.statistics import PartialTask, sign_flip, worst_case
from repairlab.contract.errors import BadInput


def task(missing: int) -> st.SearchStrategy[PartialTask]:
    return st.integers(missing - 2, 2 - missing).map(lambda total: PartialTask(total, missing))


TASKS = st.lists(st.sampled_from([0, 0, 0, 1, 2]).flatmap(task), min_size=1, max_size=14).filter(
    lambda tasks: sum(t.missing for t in tasks) <= 5
)


@given(TASKS)
@settings(max_examples=60)
def test_no_outcome_of_the_missing_pairs_leaves_the_bounds(tasks: list[PartialTask]) -> None:
    found = worst_case(tasks, 2)
    assert found.planned == 2 * len(tasks)
    places = [index for index, one in enumerate(tasks) for _ in range(one.missing)]
    for outcome in itertools.product((-1, 0, 1), repeat=len(places)):
        totals = [one.total for one in tasks]
        for place, value in zip(places, outcome, strict=True):
            totals[place] += value
        assert found.low <= Fraction(sum(totals), found.planned) <= found.high
        assert sign_flip(totals).p <= found.p


def test_missing_pairs_move_the_difference_by_their_share() -> None:
    tasks = [PartialTask(2, 0)] * 10 + [PartialTask(0, 0)] * 48 + [PartialTask(1, 1), PartialTask(0, 2)]
    found = worst_case(tasks, 2)
    assert (found.missing, found.planned) == (3, 120)
    assert (found.low, found.high) == (Fraction(18, 120), Fraction(24, 120))
    assert found.p == sign_flip([2] * 10 + [0] * 49 + [-2]).p


def test_complete_data_keep_their_p() -> None:
    assert worst_case([PartialTask(2, 0)] * 6, 2).p == Fraction(1, 32)


@pytest.mark.parametrize("tasks", [[], [PartialTask(2, 1)], [PartialTask(0, 3)], [PartialTask(0, -1)]])
def test_tasks_that_do_not_fit_the_plan_are_refused(tasks: list[PartialTask]) -> None:
    with pytest.raises(BadInput):
        worst_case(tasks, 2)
