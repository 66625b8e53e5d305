"""The simulations behind the power section, and the registered test's size and power."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repairlab.analysis.power import FAMILY_SCENARIOS, PAIRINGS, FamilyScenario, family_power, two_arm_power
from repairlab.analysis.power.family import FamilyTests, reject_by_graph, reject_by_holm
from repairlab.analysis.power.latent import latents, solved
from repairlab.analysis.power.lookup import SignFlipTable, sign_flip_table
from repairlab.analysis.power.two_arms import power_at
from repairlab.analysis.simulation.drawing import Shares
from repairlab.analysis.statistics import (
    Comparison,
    Interval,
    clustered_score,
    contrast,
    graph_of,
    graph_test,
    holm,
    holm_graph,
    intersection_union,
    sign_flip,
)
from repairlab.analysis.statistics.values import NotEstimable
from repairlab.contract.errors import BadInput

TESTS = FamilyTests(
    (
        Comparison("C2", "H007", ("H000",)),
        Comparison("C4", "H011", ("H007",)),
        Comparison("C5", "H018", ("H000", "H003", "H007", "H011")),
    ),
    graph_of(
        ("C2", "C4", "C5"),
        {"C2": 0.5, "C5": 0.5},
        {"C2": {"C5": 1}, "C5": {"C2": 0.5, "C4": 0.5}, "C4": {"C2": 1}},
    ),
    0.05,
)


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


@pytest.fixture(scope="module")
def table() -> SignFlipTable:
    return sign_flip_table(60)


def test_the_table_is_the_exact_test(table: SignFlipTable) -> None:
    @given(st.lists(st.integers(-2, 2), min_size=60, max_size=60), st.integers(0, 60))
    @settings(max_examples=40)
    def hold(totals: list[int], ties: int) -> None:
        totals[:ties] = [0] * ties
        exact, row = sign_flip(totals), np.array([totals], dtype=np.int8)
        assert table.look_up(row)[0] == pytest.approx(float(exact.p), rel=1e-9)
        assert table.look_up(row, mid=True)[0] == pytest.approx(float(exact.mid_p), rel=1e-9)

    hold()


def test_latent_values_have_the_variance_and_correlations_of_their_shares() -> None:
    shares = PAIRINGS["mid"]
    values = latents(shares, (4_000, 10, 2, 2), rng()).reshape(-1, 4).astype(float)
    # Columns: first arm under both models, then the second arm under both.
    found = np.cov(values.T)
    within_model, within_arm = shares.task + shares.task_by_model, shares.task + shares.task_by_arm
    expected = [
        [1, within_arm, within_model, shares.task],
        [within_arm, 1, shares.task, within_model],
        [within_model, shares.task, 1, within_arm],
        [shares.task, within_model, within_arm, 1],
    ]
    assert found == pytest.approx(np.array(expected), abs=0.03)
    hits = solved(values.reshape(-1, 10, 2, 2).astype(np.float32), ((0.1, 0.2), (0.3, 0.4)))
    assert hits.mean(axis=(0, 1)) == pytest.approx(np.array([[0.1, 0.2], [0.3, 0.4]]), abs=0.01)


def test_shares_and_rates_that_are_none_are_refused() -> None:
    with pytest.raises(BadInput):
        latents(Shares(0.5, 0.5, 0.5, 0.5), (1, 1, 1, 1), rng())
    with pytest.raises(BadInput):
        solved(latents(PAIRINGS["mid"], (1, 1, 1, 1), rng()), ((1.0,),))


@pytest.mark.parametrize("pairing", ["low", "high"])
def test_the_registered_test_holds_its_level(pairing: str, table: SignFlipTable) -> None:
    for base in (0.10, 0.30):
        values = latents(PAIRINGS[pairing], (6_000, 60, 2, 2), rng())
        hits = solved(values, ((base, base), (base, base))).sum(axis=3, dtype=np.int8)
        rejected = float((table.look_up(hits[:, :, 1] - hits[:, :, 0]) <= 0.05).mean())
        # Exact p-values are discrete, hence below 0.05; a test that never rejects would fail too.
        assert 0.01 < rejected <= 0.055


def test_a_planted_effect_of_thirty_points_is_found(table: SignFlipTable) -> None:
    for pairing in PAIRINGS.values():
        power = power_at(pairing, ((0.25, 0.25), (0.55, 0.55)), table, 1_000, rng())
        assert power[0.01] > 0.98
    hits = solved(latents(PAIRINGS["mid"], (1, 60, 2, 2), rng(4)), ((0.25, 0.25), (0.55, 0.55)))
    totals = (hits[0, :, 1].sum(axis=1) - hits[0, :, 0].sum(axis=1, dtype=np.int64)).tolist()
    found = contrast(totals, 2)
    assert not isinstance(found, NotEstimable)
    assert found.test.p < 0.001
    assert found.estimate == pytest.approx(0.30, abs=0.15)


@pytest.mark.parametrize(("base", "effect"), [(0.10, 0.0), (0.30, 0.20)])
def test_the_clustered_score_interval_covers(base: float, effect: float) -> None:
    values = latents(PAIRINGS["mid"], (500, 60, 2, 2), rng(9))
    hits = solved(values, ((base, base), (base + effect,) * 2)).sum(axis=3, dtype=np.int8)
    totals = np.sort(hits[:, :, 1] - hits[:, :, 0], axis=1)
    covered = 0
    for drawn, times in Counter(map(tuple, totals.tolist())).items():
        interval = clustered_score(drawn, 2)
        assert isinstance(interval, Interval)
        covered += times * (interval.low <= effect <= interval.high)
    # Four Monte Carlo errors about the 94.3 % to 98.1 % that larger simulations find.
    assert 0.90 < covered / 500 < 1


def test_a_row_repeats_and_rises_with_effect_and_level(table: SignFlipTable) -> None:
    found = two_arm_power("mid", 0.20, table, 2_000, rng(3))
    assert two_arm_power("mid", 0.20, table, 2_000, rng(3)) == found
    assert two_arm_power("mid", 0.20, table, 2_000, rng(4)) != found
    at_five = [found.power[effect, 0.05] for effect in (0.05, 0.10, 0.15, 0.20)]
    assert at_five == sorted(at_five)
    assert all(found.power[effect, 0.01] < found.power[effect, 0.05] for effect in (0.05, 0.10, 0.15))
    # What 20,000 studies give, with four Monte Carlo errors of 2,000.
    assert found.power[0.10, 0.05] == pytest.approx(0.56, abs=0.045)
    assert found.power[0.10, 0.01] == pytest.approx(0.31, abs=0.042)
    assert found.discordant == pytest.approx(0.174, abs=0.005)
    assert found.half_width == pytest.approx(0.085, abs=0.006)
    assert found.detectable[0.05] == pytest.approx(0.131, abs=0.008)
    assert (
        found.detectable_mid_p
        < found.detectable[0.05]
        < found.detectable[0.01]
        < found.detectable_one_model[0.01]
    )
    assert found.detectable_one_model[0.05] == pytest.approx(0.187, abs=0.010)
    assert found.size < 0.05
    assert found.exaggeration[0.05] is not None
    assert found.exaggeration[0.05] > 1.8 > 1.05 > (found.exaggeration[0.20] or 2)


@given(
    st.lists(
        st.lists(st.sampled_from([0.001, 0.01, 0.02, 0.024, 0.04, 0.3, 1.0]), min_size=3, max_size=3),
        min_size=1,
        max_size=20,
    )
)
@settings(max_examples=40)
def test_many_studies_are_decided_as_one_by_one(rows: list[list[float]]) -> None:
    p_values = np.array(rows)
    for graph in (TESTS.graph, holm_graph(("C2", "C4", "C5"))):
        alone = [graph_test(graph, row, 0.05).rejected for row in rows]
        assert reject_by_graph(graph, p_values, 0.05).tolist() == [list(one) for one in alone]
    by_holm = [[p <= 0.05 for p in holm(row)] for row in rows]
    assert reject_by_holm(p_values, 0.05).tolist() == by_holm


def test_a_family_row_is_made_of_the_registered_tests(table: SignFlipTable) -> None:
    scenario = FAMILY_SCENARIOS[1]
    found = family_power(scenario, "mid", TESTS, table, 60, rng(6))
    arms = sorted(scenario.rates)
    hits = solved(
        latents(PAIRINGS["mid"], (60, 60, 5, 2), rng(6)), [(scenario.rates[arm],) * 2 for arm in arms]
    )
    counts = Counter[str]()
    for study in hits.sum(axis=3, dtype=np.int64):
        solves = dict(zip(arms, study.T, strict=True))
        p_values = []
        for comparison in TESTS.family:
            totals = [(solves[comparison.arm] - solves[other]).tolist() for other in comparison.against]
            p = [float(sign_flip(one).p) for one in totals]
            sums = [float(sum(one)) for one in totals]
            p_values.append(p[0] if len(p) == 1 else intersection_union(sums, p))
        rejected = graph_test(TESTS.graph, p_values, 0.05).rejected
        counts.update(name for name, out in zip(TESTS.graph.names, rejected, strict=True) if out)
        counts.update(["any"] if any(rejected) else [])
    assert found.graph == pytest.approx({name: counts[name] / 60 for name in TESTS.graph.names})
    assert found.graph_any == pytest.approx(counts["any"] / 60)
    assert 0 < found.graph["C5"] < 1


def test_power_asks_for_the_right_sign(table: SignFlipTable) -> None:
    rates = ((0.3, 0.3), (0.3, 0.3))
    hits = solved(latents(PAIRINGS["mid"], (6_000, 60, 2, 2), rng(5)), rates).sum(axis=3, dtype=np.int8)
    either = float((table.look_up(hits[:, :, 1] - hits[:, :, 0]) <= 0.05).mean())
    # Without an effect about half of the rejections have it.
    assert 0.3 * either < power_at(PAIRINGS["mid"], rates, table, 6_000, rng(5))[0.05] < 0.7 * either
    assert power_at(PAIRINGS["mid"], ((0.6, 0.6), (0.2, 0.2)), table, 300, rng(5))[0.05] == 0
    worse = FamilyScenario("worse", {"H000": 0.5, "H003": 0.5, "H007": 0.5, "H011": 0.5, "H018": 0.1})
    assert family_power(worse, "mid", TESTS, table, 300, rng(5)).graph["C5"] == 0


def test_the_familywise_error_is_held_and_a_misfit_is_refused(table: SignFlipTable) -> None:
    null = family_power(FAMILY_SCENARIOS[0], "mid", TESTS, table, 4_000, rng(8))
    assert 0 < null.graph_any <= 0.05
    assert null.holm_any <= 0.05
    with pytest.raises(BadInput):
        family_power(FamilyScenario("short", {"H000": 0.2}), "mid", TESTS, table, 10, rng())
