"""The registered sensitivity analyses, their referees, and what they say where there is nothing to fit."""

from __future__ import annotations

import math
import warnings
from statistics import NormalDist

import numpy as np
import pytest
from statsmodels.discrete.conditional_models import ConditionalLogit as Referee

from repairlab.analysis.statistics import (
    Comparison,
    ConditionalLogit,
    Effect,
    Interval,
    MarginalModel,
    NotEstimable,
    Outcomes,
    SensitivityRow,
    conditional_logit,
    marginal_model,
    mixed_model,
    outcomes_of,
    sensitivity,
    sign_flip,
)
from repairlab.contract.errors import BadInput

FAMILY = [Comparison("C1", "B", ("A",)), Comparison("C5", "C", ("A", "B"))]


def rng() -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(1))


def pairs(b: int, c: int, ties: int) -> Outcomes:
    rows = [(1, 0)] * b + [(0, 1)] * c + [(1, 1)] * ties
    names = tuple(f"t{i:03d}" for i in range(len(rows)))
    return Outcomes(names, ("r",) * len(rows), ("X", "Y"), ("M",), np.array(rows)[:, :, None])


def test_pinned_conditional_logit_of_two_arms() -> None:
    found = conditional_logit(pairs(12, 4, 30), rng(), 2_000)
    assert isinstance(found, ConditionalLogit)
    effect = found.difference("X", "Y")
    assert isinstance(effect, Effect)
    assert effect.estimate == pytest.approx(math.log(3), abs=1e-6)
    assert found.model_covariance[1, 1] ** 0.5 == pytest.approx((1 / 12 + 1 / 4) ** 0.5, abs=1e-6)
    # With one group a task the two standard errors estimate the same thing.
    assert effect.error == pytest.approx(0.577350, rel=0.25)


def test_conditional_logit_agrees_with_statsmodels(outcomes: Outcomes) -> None:
    found = conditional_logit(outcomes, rng(), 50)
    assert isinstance(found, ConditionalLogit)
    task, arm, model = (grid.ravel() for grid in np.indices(outcomes.resolved.shape))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns of the uninformative groups that it drops
        referee = Referee(outcomes.resolved.ravel(), np.eye(3)[arm][:, 1:], groups=2 * task + model).fit(
            disp=0
        )
    assert found.effects[1:] == pytest.approx(referee.params, abs=2e-3)
    assert np.sqrt(np.diag(found.model_covariance))[1:] == pytest.approx(referee.bse, abs=2e-3)


def test_separation_is_said_and_no_large_number_returned() -> None:
    found = conditional_logit(pairs(8, 0, 10), rng(), 50)
    assert str(found) == "separated: no finite odds between X and Y"
    assert isinstance(conditional_logit(pairs(0, 0, 10), rng(), 50), NotEstimable)
    assert str(conditional_logit(pairs(1, 0, 0), rng(), 50)) == "not estimable (1 task)"
    rare = conditional_logit(pairs(20, 1, 10), rng(), 500)
    assert isinstance(rare, ConditionalLogit)
    assert "separated in" in str(rare.difference("X", "Y"))


def test_models_refuse_cells_without_variation(outcomes: Outcomes) -> None:
    resolved = outcomes.resolved.copy()
    resolved[:, 0, 1] = 0
    flat = Outcomes(outcomes.tasks, outcomes.repositories, outcomes.arms, outcomes.models, resolved)
    for found in (marginal_model(flat), mixed_model(flat)):
        assert str(found) == "separated: A under M2 solves all tasks or none"


def test_the_standardised_difference_is_near_the_raw_one(outcomes: Outcomes) -> None:
    found = marginal_model(outcomes)
    assert isinstance(found, MarginalModel)
    raw = sum(outcomes.totals("C", "A")) / 48
    effect = found.difference("C", "A")
    assert effect.estimate == pytest.approx(raw, abs=0.02)
    # Its error is near that of 24 task means.
    means = np.array(outcomes.totals("C", "A")) / 2
    assert effect.error == pytest.approx(float(means.std(ddof=1)) / 24**0.5, rel=0.15)
    assert found.difference("A", "C").estimate == pytest.approx(-effect.estimate)


def test_every_registered_analysis_has_a_row_for_every_contrast(outcomes: Outcomes) -> None:
    rows = sensitivity(outcomes, FAMILY, 1, 1_000)
    registered = (
        "mid-p",
        "mcnemar-per-model",
        "pooled-mcnemar-and-cmh",
        "conditional-logit",
        "gee-bias-reduced",
        "task-bootstrap",
        "glmm",
        "leave-one-out",
        "tarone-holm",
    )
    assert tuple(dict.fromkeys(row.analysis for row in rows)) == registered
    for analysis in registered:
        assert {row.contrast[:2] for row in rows if row.analysis == analysis} == {"C1", "C5"}
    for row in rows:
        for value in (row.estimate, row.p):
            assert value is None or isinstance(value, float), row
            assert value is None or math.isfinite(value)
    delta = sum(outcomes.totals("B", "A")) / 48
    signs = {
        row.analysis: row.estimate for row in rows if row.contrast == "C1" and row.analysis != "leave-one-out"
    }
    assert all(isinstance(value, float) and value > 0 for value in signs.values())
    assert signs["mid-p"] == pytest.approx(delta)
    (bootstrap,) = (row for row in rows if (row.analysis, row.contrast) == ("task-bootstrap", "C1"))
    assert isinstance(bootstrap.interval, Interval)
    assert bootstrap.interval.low < delta < bootstrap.interval.high
    mid = next(row for row in rows if (row.analysis, row.contrast) == ("mid-p", "C5"))
    assert mid.p == max(float(sign_flip(outcomes.totals("C", other)).mid_p) for other in ("A", "B"))


# Solved by A, B, C under M1 and then under M2; repository of the first four tasks "go", of the others "py".
BY_HAND = [
    ((0, 1, 1), (0, 1, 1)),
    ((0, 0, 1), (0, 1, 1)),
    ((1, 0, 1), (0, 0, 0)),
    ((0, 0, 0), (0, 1, 1)),
    ((0, 1, 1), (1, 1, 1)),
    ((1, 1, 0), (0, 1, 1)),
    ((0, 0, 1), (0, 0, 1)),
    ((1, 1, 1), (1, 0, 0)),
]
# B - A: 2 1 -1 1 1 1 0 -1; C - A: 2 2 0 1 1 0 2 -1; C - B: 0 1 1 0 0 -1 2 0, summed over the models.


@pytest.fixture(scope="module")
def by_hand() -> list[SensitivityRow]:
    resolved = np.array(BY_HAND).transpose(0, 2, 1)
    tasks = tuple(f"t{place}" for place in range(8))
    matrix = Outcomes(tasks, ("go",) * 4 + ("py",) * 4, ("A", "B", "C"), ("M1", "M2"), resolved)
    return sensitivity(matrix, FAMILY, 1, 200)


def row_of(rows: list[SensitivityRow], analysis: str, scope: str, contrast: str) -> SensitivityRow:
    (found,) = (r for r in rows if (r.analysis, r.scope, r.contrast) == (analysis, scope, contrast))
    return found


def test_counts_and_exact_rows_by_hand(by_hand: list[SensitivityRow]) -> None:
    one = row_of(by_hand, "mcnemar-per-model", "M1", "C1")
    assert (one.note, one.estimate, one.p) == ("2 vs 1", pytest.approx(1 / 8), 1.0)
    two = row_of(by_hand, "mcnemar-per-model", "M2", "C1")
    assert (two.note, two.estimate, two.p) == ("4 vs 1", pytest.approx(3 / 8), pytest.approx(0.375))
    pooled = row_of(by_hand, "pooled-mcnemar-and-cmh", "exact", "C1")
    assert (pooled.note, pooled.estimate) == ("6 vs 2", pytest.approx(4 / 16))
    assert pooled.p == pytest.approx(2 * (1 + 8 + 28) / 256)
    assert row_of(by_hand, "pooled-mcnemar-and-cmh", "cmh", "C1").note == "chi-square 2.000"


def test_an_intersection_shows_its_smallest_estimate_and_largest_p(by_hand: list[SensitivityRow]) -> None:
    row = row_of(by_hand, "mid-p", "", "C5")
    # C - A sums to 7 and C - B to 3, over 16 pairs.
    assert row.estimate == pytest.approx(3 / 16)
    assert row.p == float(sign_flip([0, 1, 1, 0, 0, -1, 2, 0]).mid_p)


def test_what_is_left_out_by_hand(by_hand: list[SensitivityRow]) -> None:
    without_go = row_of(by_hand, "leave-one-out", "go", "C1")
    assert (without_go.estimate, without_go.note) == (pytest.approx(1 / 8), "4 tasks left")
    assert without_go.p == 1.0
    assert row_of(by_hand, "leave-one-out", "py", "C1").estimate == pytest.approx(3 / 8)
    each = row_of(by_hand, "leave-one-out", "each task", "C1")
    # The whole gives 4/16; without the task of 2 it is 2/14, without one of -1 it is 5/14.
    assert each.estimate == pytest.approx(4 / 16 - 2 / 14)
    assert each.note == f"largest change; range {2 / 14:+.4f} to {5 / 14:+.4f}"
    assert row_of(by_hand, "leave-one-out", "go", "C5 (B)").estimate == pytest.approx(1 / 8)


def test_tarone_takes_the_least_p_of_the_component_with_fewest_tasks(by_hand: list[SensitivityRow]) -> None:
    first, second = (row_of(by_hand, "tarone-holm", "", name) for name in ("C1", "C5"))
    # Seven informative tasks in C1; six in C - A and four in C - B.
    assert (first.note, second.note) == (f"least p {2 / 2**7:.2g}", f"least p {2 / 2**4:.2g}")
    assert isinstance(first.p, float)
    assert first.p >= float(sign_flip([2, 1, -1, 1, 1, 1, 0, -1]).p)


def test_a_wald_p_is_that_of_the_normal_distribution(by_hand: list[SensitivityRow]) -> None:
    row = row_of(by_hand, "gee-bias-reduced", "", "C1")
    assert isinstance(row.estimate, float)
    assert isinstance(row.interval, Interval)
    error = (row.interval.high - row.interval.low) / 2 / NormalDist().inv_cdf(0.975)
    assert row.p == pytest.approx(2 * NormalDist().cdf(-abs(row.estimate) / error))


def test_a02_ties_everywhere_give_reasons_and_no_nan() -> None:
    flat = Outcomes(
        ("t1", "t2"), ("r", "r"), ("A", "B", "C"), ("M1", "M2"), np.ones((2, 3, 2), dtype=np.int64)
    )
    rows = sensitivity(flat, FAMILY, 1, 100)
    by_name = {row.analysis: row for row in rows if row.contrast == "C1"}
    assert by_name["mid-p"].p == 1
    assert isinstance(by_name["gee-bias-reduced"].p, NotEstimable)
    assert isinstance(by_name["conditional-logit"].p, NotEstimable)
    assert all(not isinstance(row.p, float) or 0 <= row.p <= 1 for row in rows)
    assert all(not isinstance(row.estimate, float) or math.isfinite(row.estimate) for row in rows)


CELLS = [
    (repository, task, arm, model, int(arm == "B"))
    for repository, task in (("r", "t1"), ("s", "t2"))
    for arm in ("A", "B")
    for model in ("M1", "M2")
]


def test_cells_become_outcomes_in_any_order() -> None:
    there, back = outcomes_of(CELLS), outcomes_of(CELLS[::-1])
    assert there.totals("B", "A") == back.totals("B", "A") == [2, 2]
    assert there.totals("A", "B", "M1") == [-1, -1]
    assert there.discordant("B", "A") == (4, 0)
    assert there.tasks == ("t1", "t2")
    solved = outcomes_of([(*cell[:4], 1) for cell in CELLS])
    assert solved.discordant("B", "A") == (0, 0)


def test_a_missing_a_doubled_and_an_impossible_cell_are_refused() -> None:
    with pytest.raises(BadInput, match="1 cells are missing"):
        outcomes_of(CELLS[1:])
    with pytest.raises(BadInput, match="twice"):
        outcomes_of([*CELLS, CELLS[0]])
    there = outcomes_of(CELLS)
    with pytest.raises(BadInput, match="not sorted"):
        Outcomes(there.tasks[::-1], there.repositories[::-1], there.arms, there.models, there.resolved)
    with pytest.raises(BadInput, match="0 or 1"):
        outcomes_of([(*CELLS[0][:4], 2), *CELLS[1:]])
    with pytest.raises(BadInput, match="two repositories"):
        outcomes_of([*CELLS, ("s", "t1", "A", "M3", 0)])
    with pytest.raises(BadInput, match="no outcomes of arm"):
        outcomes_of(CELLS).totals("B", "Z")
