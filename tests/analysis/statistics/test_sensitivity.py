"""The registered sensitivity analyses, their referees, and what they say where there is nothing to fit."""

from __future__ import annotations

import math
import warnings

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


def test_a_missing_a_doubled_and_an_impossible_cell_are_refused() -> None:
    with pytest.raises(BadInput, match="1 cells are missing"):
        outcomes_of(CELLS[1:])
    with pytest.raises(BadInput, match="twice"):
        outcomes_of([*CELLS, CELLS[0]])
    with pytest.raises(BadInput, match="0 or 1"):
        outcomes_of([(*CELLS[0][:4], 2), *CELLS[1:]])
    with pytest.raises(BadInput, match="two repositories"):
        outcomes_of([*CELLS, ("s", "t1", "A", "M3", 0)])
    with pytest.raises(BadInput, match="no outcomes of arm"):
        outcomes_of(CELLS).totals("B", "Z")
