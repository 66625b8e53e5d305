"""The registered analysis on gated outcomes: pairing, the family, its verdicts, and what is missing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repairlab.analysis.confirmatory import confirmatory
from repairlab.analysis.exploratory import exploratory
from repairlab.analysis.gate import Gated, admit
from repairlab.analysis.hypotheses import Hypotheses, load_hypotheses
from repairlab.analysis.outcomes import Design, Key, Outcome, crossed
from repairlab.analysis.pairing import paired
from repairlab.analysis.rates import ALL, rates
from repairlab.analysis.report.assemble import assemble
from repairlab.analysis.report.sensitivity import disagreements
from repairlab.analysis.statistics import Contrast, NotEstimable, SensitivityRow, Verdict, sign_flip
from repairlab.contract.errors import BadInput
from repairlab.contract.study import open_study

ROOT = Path(__file__).resolve().parent.parent.parent
ARMS = ("H000", "H003", "H007", "H011", "H018")
TASKS = tuple(f"t{number:02d}" for number in range(12))
DESIGN = crossed({"one": TASKS[:6], "two": TASKS[6:]}, ARMS, ("M1", "M2"), ("s0.r0",))


@pytest.fixture(scope="module")
def hypotheses() -> Hypotheses:
    return load_hypotheses(open_study(ROOT))


def outcomes(resolved: Callable[[Key], int], design: Design = DESIGN) -> list[Outcome]:
    return [Outcome(key, resolved(key)) for key in design.planned]


def some(key: Key) -> int:
    """H007 and H018 solve most, the others few."""
    place = TASKS.index(key.task)
    return int(
        place < {"H000": 2, "H003": 3, "H007": 11, "H011": 5, "H018": 12}[key.arm] - (key.model == "M2")
    )


def names(found: Any) -> dict[str, Verdict | None]:
    return {one.name: one.verdict for one in found}


def test_the_hypotheses_of_the_study_load_and_name_the_five_contrasts(hypotheses: Hypotheses) -> None:
    assert list(hypotheses.contrasts) == ["C1", "C2", "C3", "C4", "C5"]
    assert hypotheses.contrasts["C5"].against == ("H000", "H003", "H007", "H011")
    graph = hypotheses.registered_graph()
    assert graph.weights == (0, Fraction(1, 2), 0, 0, Fraction(1, 2))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("confidence = 0.95 ", "confidence = 0.9 ", "decision.confidence"),
        ('test = "task-sign-flip-exact"', 'test = "t-test"', "decision.test"),
        ("C2 = 0.5\nC5", "C9 = 0.5\nC5", "graph names what is no hypothesis: C9"),
        ("C2 = 0.5\nC5", "C2 = 0.9\nC5", "graph"),
        ('arm = "H003"', 'arm = "H000"', "names an arm twice"),
        ("alpha = 0.05", "alfa = 0.05", "decision.alfa: unknown key"),
    ],
)
def test_hypotheses_that_this_analysis_does_not_make_are_refused(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    for name in ("contracts", "experiments", "preregistration"):
        (tmp_path / name).mkdir()
    text = (ROOT / "preregistration" / "hypotheses.toml").read_text()
    assert old in text
    (tmp_path / "preregistration" / "hypotheses.toml").write_text(text.replace(old, new, 1))
    with pytest.raises(BadInput, match=said):
        load_hypotheses(open_study(tmp_path))


def test_totals_are_sums_over_models_of_first_minus_second() -> None:
    gated = admit(DESIGN, outcomes(some), "table")
    pair = paired(gated, "H007", "H000")
    by_hand = {
        task: sum(
            some(Key(task, "H007", m, "s0.r0")) - some(Key(task, "H000", m, "s0.r0")) for m in ("M1", "M2")
        )
        for task in TASKS
    }
    assert pair.totals == by_hand
    assert (pair.pairs, pair.first, pair.second, pair.cells) == (2, 21, 3, 24)
    result = pair.result()
    assert isinstance(result, Contrast)
    assert result.estimate == Fraction(18, 24)
    assert result.test.p == sign_flip(list(by_hand.values())).p
    assert pair.by_model["M1"] == (2, 9, 0, 1, 0)


def test_b_beyond_c_is_a_positive_difference() -> None:
    gated = admit(DESIGN, outcomes(lambda key: int(key.arm == "H007")), "table")
    result = paired(gated, "H007", "H000").result()
    assert isinstance(result, Contrast)
    assert result.estimate == 1
    mirrored = paired(gated, "H000", "H007").result()
    assert isinstance(mirrored, Contrast)
    assert (mirrored.estimate, mirrored.test.p) == (-1, result.test.p)


def test_verdicts_follow_the_graph_and_no_contrast_is_left_out(hypotheses: Hypotheses) -> None:
    found = confirmatory(admit(DESIGN, outcomes(some), "table"), hypotheses)
    assert [one.name for one in found] == ["C1", "C2", "C3", "C4", "C5"]
    verdicts = names(found)
    assert verdicts["C2"] is verdicts["C3"] is Verdict.SUPPORTED
    by_name = {one.name: one for one in found}
    assert by_name["C5"].p == max(float(c.result.test.p) for c in by_name["C5"].components)
    assert by_name["C2"].adjusted == pytest.approx(2 * by_name["C2"].p)


def test_an_intersection_with_a_difference_that_is_not_positive_has_p_1(hypotheses: Hypotheses) -> None:
    def equal(key: Key) -> int:
        return some(key._replace(arm="H007")) if key.arm == "H018" else some(key)

    found = {one.name: one for one in confirmatory(admit(DESIGN, outcomes(equal), "table"), hypotheses)}
    assert (found["C5"].p, found["C5"].verdict) == (1.0, Verdict.INCONCLUSIVE)


def test_contrasts_whose_arms_are_absent_are_named_and_keep_their_nodes(hypotheses: Hypotheses) -> None:
    design = crossed({"one": TASKS}, ("H000", "H007"), ("M1", "M2"), ("s0.r0",))
    found = {one.name: one for one in confirmatory(admit(design, outcomes(some, design), "t"), hypotheses)}
    assert found["C1"].impossible == "cannot be made: H003 not in this experiment"
    assert [one.verdict is None for one in found.values()] == [True, False, True, True, True]
    assert found["C2"].adjusted == pytest.approx(2 * found["C2"].p)
    report = assemble(admit(design, outcomes(some, design), "t"), hypotheses, only=("T2",))
    text = report.page()
    for name in ("C1", "C3", "C4", "C5"):
        assert f"{name} cannot be made" in text


@settings(max_examples=5, deadline=None)
@given(st.permutations(outcomes(some)))
def test_no_result_depends_on_the_order_of_rows(hypotheses: Hypotheses, rows: list[Outcome]) -> None:
    one, other = (admit(DESIGN, given, "table") for given in (outcomes(some), rows))
    assert [(c.p, c.adjusted, c.verdict) for c in confirmatory(one, hypotheses)] == [
        (c.p, c.adjusted, c.verdict) for c in confirmatory(other, hypotheses)
    ]
    assert rates(one) == rates(other)


def without(keys: set[Key], *, tried: bool = True) -> list[Outcome]:
    rows = [row for row in outcomes(some) if row.key not in keys]
    return rows + [Outcome(key, None, infrastructure=True) for key in sorted(keys)] if tried else rows


@settings(max_examples=30, deadline=None)
@given(st.sets(st.sampled_from(DESIGN.planned), min_size=1, max_size=6))
def test_an_infrastructure_failure_never_counts_as_a_failure_of_the_system(gone: set[Key]) -> None:
    """A rate never falls below the one that counts those cells as failed, and rises where they had failed."""
    before = {(r.arm, r.model, r.stratum): r for r in rates(admit(DESIGN, outcomes(some), "table"))}
    after = rates(admit(DESIGN, without(gone), "table", incomplete=True))
    for rate in after:
        old = before[rate.arm, rate.model, rate.stratum]
        lost = [
            key
            for key in gone
            if (key.arm, key.model) == (rate.arm, rate.model)
            and rate.stratum in (ALL, DESIGN.strata[key.task])
        ]
        assert (rate.n, rate.missing) == (old.n - len(lost), len(lost))
        assert old.rate is not None
        assert rate.bounds is not None
        assert rate.bounds[0] <= old.rate <= rate.bounds[1]
        if rate.rate is not None:
            assert rate.rate >= (old.resolved - sum(some(key) for key in lost)) / old.n
            if not any(some(key) for key in lost):
                assert rate.rate >= old.rate


def test_an_incomplete_task_enters_no_difference_and_widens_the_bounds(hypotheses: Hypotheses) -> None:
    gone = {Key("t03", "H000", "M1", "s0.r0"), Key("t11", "H007", "M2", "s0.r0")}
    gated = admit(DESIGN, without(gone), "table", incomplete=True)
    pair = paired(gated, "H007", "H000")
    assert set(pair.totals) == set(TASKS) - {"t03", "t11"}
    assert pair.cells == 20
    bounds = pair.bounds()
    assert (bounds.missing, bounds.planned) == (2, 24)
    assert bounds.high - bounds.low == Fraction(4, 24)
    assert paired(gated, "H011", "H003").bounds().missing == 0


def test_a_verdict_that_missing_cells_could_change_is_capped(hypotheses: Hypotheses) -> None:
    gone = {Key(task, "H007", model, "s0.r0") for task in TASKS[4:7] for model in ("M1", "M2")}
    complete = confirmatory(admit(DESIGN, outcomes(some), "table"), hypotheses)
    capped = {c.name: c for c in confirmatory(admit(DESIGN, without(gone), "t", incomplete=True), hypotheses)}
    assert names(complete)["C2"] is Verdict.SUPPORTED
    assert (capped["C2"].verdict, capped["C2"].capped) == (Verdict.INCONCLUSIVE, True)
    assert capped["C2"].adjusted <= 0.05 < capped["C2"].worst
    few = confirmatory(
        admit(DESIGN, without({Key("t11", "H000", "M1", "s0.r0")}), "t", incomplete=True), hypotheses
    )
    assert {c.name: c.verdict for c in few}["C2"] is Verdict.SUPPORTED


def test_incomplete_stamps_every_table_and_the_json(hypotheses: Hypotheses) -> None:
    gated = admit(DESIGN, without({DESIGN.planned[0]}), "table", incomplete=True)
    report = assemble(gated, hypotheses)
    stamp = "INCOMPLETE 119/120"
    assert gated.stamp == report.stamp == stamp
    assert all(stamp in report.titled(table) for table in report.tables)
    assert report.page().count(stamp) >= len(report.tables) + 1
    value: Any = report.json()
    assert (value["stamp"], value["complete"], value["missing"]) == (stamp, False, [str(DESIGN.planned[0])])
    assert all(table["stamp"] == stamp for table in value["tables"].values())


def test_arms_that_are_not_planned_alike_are_never_contrasted() -> None:
    design = crossed({"one": TASKS}, ("H000", "H007"), ("M1",), ("1",))
    planned = tuple(key for key in design.planned if key != Key("t00", "H007", "M1", "1"))
    uneven = Design(planned, design.strata, design.arms, design.models, design.labels)
    gated = admit(design, outcomes(some, design), "table")
    with pytest.raises(BadInput, match="no arm of"):
        paired(gated, "H007", "H099")
    object.__setattr__(gated, "design", uneven)  # what only a reliability design can be
    with pytest.raises(BadInput, match="not planned on the same tasks"):
        paired(gated, "H007", "H000")


@pytest.mark.parametrize(
    "analysis",
    [
        lambda x: rates(x),
        lambda x: paired(x, "H007", "H000"),
        lambda x: confirmatory(x, load_hypotheses(open_study(ROOT))),
    ],
)
def test_only_gated_outcomes_are_analysed(analysis: Callable[[Any], Any]) -> None:
    with pytest.raises(TypeError):
        analysis(outcomes(some))


def test_exploratory_lines_have_q_over_their_own_list(hypotheses: Hypotheses) -> None:
    lines = exploratory(admit(DESIGN, outcomes(some), "table"), hypotheses)
    known = [line for line in lines if line.p is not None]
    assert all(line.q is not None and line.q >= line.p for line in known if line.p is not None)
    assert {line.part for line in lines} >= {"M1", "M2", "one", "two", "interaction M1 - M2"}
    absent = [line for line in lines if line.arm == "A001"]
    assert len(absent) == 3
    assert all("A001 not in this experiment" in line.impossible for line in absent)


def test_a02_all_ties_give_difference_0_and_an_interval_that_is_valid_at_the_edge() -> None:
    for resolved in (lambda key: int(key.task < "t06"), lambda key: 1, lambda key: 0):
        result = paired(admit(DESIGN, outcomes(resolved), "table"), "H007", "H000").result()
        assert isinstance(result, Contrast)
        assert (result.estimate, result.test.p, result.note) == (0, 1, "no discordant task, n = 12")
        assert not isinstance(result.interval95, NotEstimable)
        assert result.interval95.low < 0 < result.interval95.high


def test_a09_one_task_gives_an_estimate_and_no_interval(hypotheses: Hypotheses) -> None:
    design = crossed({"easy": ["t01"]}, ("H000", "H007"), ("",), ("1", "2"))
    gated = admit(design, [Outcome(key, int(key.arm == "H007")) for key in design.planned], "table")
    result = paired(gated, "H007", "H000").result()
    assert isinstance(result, Contrast)
    assert (result.tasks, result.pairs, result.estimate) == (1, 2, 1)
    assert result.interval95 == NotEstimable("not estimable (1 task)")
    assert "not estimable (1 task)" in assemble(gated, hypotheses, only=("T2", "T5")).page()


def test_no_report_prints_nan_or_a_star(hypotheses: Hypotheses) -> None:
    for resolved in (some, lambda key: 0):
        text = assemble(admit(DESIGN, outcomes(resolved), "table"), hypotheses).page().lower()
        assert "nan" not in text.replace("finan", "")
        assert "*" not in text


def test_a01b_a_stratum_without_data_keeps_its_line(hypotheses: Hypotheses) -> None:
    gone = {key for key in DESIGN.planned if key.task >= "t06"}
    gated: Gated = admit(DESIGN, without(gone), "table", incomplete=True)
    lines = [rate for rate in rates(gated) if rate.stratum == "two"]
    assert len(lines) == len(ARMS) * 2
    assert all((rate.n, rate.rate, rate.missing) == (0, None, 6) for rate in lines)
    assert assemble(gated, hypotheses, only=("T3",)).page().count("no data") >= len(lines)


def test_a_task_found_broken_is_left_out_of_a_labelled_table_alone(hypotheses: Hypotheses) -> None:
    gated = admit(DESIGN, outcomes(some), "table")
    plain = assemble(gated, hypotheses, only=("T2",)).tables
    report = assemble(gated, hypotheses, only=("T2",), without=("t10",))
    assert report.tables[:2] == plain
    estimates, verdicts = report.tables[2:]
    assert (estimates.name, verdicts.name) == ("ST2a", "ST2b")
    assert estimates.title.startswith("SENSITIVITY without t10: ")
    assert {row[3] for row in estimates.rows} == {11}
    with pytest.raises(BadInput, match="t99 is no task"):
        assemble(gated, hypotheses, only=("T1",), without=("t99",))


def test_a_direction_that_only_the_complete_tasks_have_holds_nothing(hypotheses: Hypotheses) -> None:
    """Seven complete tasks for H007, and the known halves of more incomplete ones against it."""
    tasks = [f"t{number:02d}" for number in range(60)]
    design = crossed({"one": tasks}, ARMS, ("M1", "M2", "M3"), ("s0.r0",))

    def outcome(key: Key) -> int:
        first = tasks.index(key.task) < 7
        return int(key.arm == "H007") if first else int(key.arm == "H000" and key.model != "M3")

    gone = {Key(task, "H007", "M3", "s0.r0") for task in tasks[7:]}
    rows = [row for row in outcomes(outcome, design) if row.key not in gone]
    found = {one.name: one for one in confirmatory(admit(design, rows, "t", incomplete=True), hypotheses)}
    result = found["C2"].components[0].result
    assert isinstance(result, Contrast)
    assert (result.tasks, result.estimate) == (7, 1)
    assert found["C2"].adjusted <= 0.05
    assert (found["C2"].worst, found["C2"].verdict) == (1.0, Verdict.INCONCLUSIVE)


@pytest.mark.parametrize(
    ("estimate", "factor", "p", "said"),
    [
        (+0.1, 1.9, None, ""),
        (+0.1, 2.1, None, "disagrees in p"),
        (+0.1, 0.4, None, "disagrees in p"),
        (-0.1, 1.0, None, "disagrees in sign"),
        (-0.1, 9.0, None, "disagrees in sign and p"),
        (+0.1, 9.0, 1e-6, ""),
        (+0.1, 9000.0, 1e-6, "disagrees in p"),
    ],
)
def test_a_disagreement_is_a_sign_or_a_factor_of_two_that_matters(
    hypotheses: Hypotheses, estimate: float, factor: float, p: float | None, said: str
) -> None:
    gated = admit(DESIGN, outcomes(some), "made")
    (c2,) = (one for one in confirmatory(gated, hypotheses) if one.name == "C2")
    if p is not None:
        c2 = replace(c2, p=p)
    row = SensitivityRow("mid-p", "", "C2", "difference of proportions", estimate, factor * c2.p, None, "")
    found = disagreements([c2], [row])
    assert bool(found) == bool(said)
    assert all(said in note for note in found)
