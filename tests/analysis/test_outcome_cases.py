"""Known ways in which a table of outcomes misleads, each as a small table read by the own loader."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from repairlab.analysis.costs_table import Cost, load_costs
from repairlab.analysis.gate import GateClosed, Gated, admit
from repairlab.analysis.hypotheses import load_hypotheses
from repairlab.analysis.outcomes import Design, Outcome, crossed, load_outcomes
from repairlab.analysis.report.assemble import assemble
from repairlab.analysis.statistics import mean_cost
from repairlab.contract.errors import BadInput
from repairlab.contract.study import open_study

Row = tuple[str, str, str, int, int | str, int]
EASY, HARD = ("t01", "t02", "t03", "t04"), ("t05", "t06", "t07", "t08")
DESIGN = crossed({"easy": EASY, "hard": HARD}, ["A", "B"], [""], ["1", "2"])
Load = Callable[..., tuple[Outcome, ...]]


def rows(
    resolved: Callable[[int, str, int], int | str], infra: Callable[[int, str], int] = lambda n, arm: 0
) -> list[Row]:
    """One row for each planned draw; `resolved` and `infra` are given the task's number and the arm."""
    return [
        (task, DESIGN.strata[task], arm, draw, resolved(number, arm, draw), infra(number, arm))
        for number, task in enumerate((*EASY, *HARD), start=1)
        for arm in ("A", "B")
        for draw in (1, 2)
    ]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    def read(lines: Iterable[Iterable[object]], design: Design = DESIGN) -> tuple[Outcome, ...]:
        path = tmp_path / "outcomes.csv"
        text = ["task,stratum,arm,rep,resolved,infra", *(",".join(map(str, line)) for line in lines)]
        path.write_text("\n".join(text) + "\n")
        return load_outcomes(path, design)

    return read


def even(number: int, arm: str, draw: int) -> int:
    return int(number % 2 == 0)


def refused(
    outcomes: tuple[Outcome, ...], *, incomplete: bool = False, design: Design = DESIGN
) -> GateClosed:
    with pytest.raises(GateClosed) as error:
        admit(design, outcomes, "table", incomplete=incomplete)
    assert error.value.exit_status == 3
    return error.value


def partial(outcomes: tuple[Outcome, ...]) -> Gated:
    return admit(DESIGN, outcomes, "table", incomplete=True)


def test_a00_control_passes(load: Load) -> None:
    gated = admit(DESIGN, load(rows(even)), "table")
    assert (len(gated.resolved), gated.stamp) == (32, "")


def test_a01a_an_empty_stratum_is_missing_and_keeps_its_line(load: Load) -> None:
    outcomes = load(row for row in rows(even) if row[1] == "easy")
    assert len(refused(outcomes).findings) == 16
    gated = partial(outcomes)
    assert gated.design.stratum_names == ("easy", "hard")
    assert gated.stamp == "INCOMPLETE 16/32"


def test_a01b_a_stratum_of_infrastructure_rows_has_no_outcome_whatever_its_column_says(load: Load) -> None:
    outcomes = load(rows(even, lambda number, arm: int(number > 4)))
    assert "infrastructure record with an outcome" in str(refused(outcomes))
    gated = partial(outcomes)
    assert len(gated.resolved) == len(gated.infrastructure) == 16
    assert {gated.design.strata[key.task] for key in gated.resolved} == {"easy"}
    assert any("infrastructure record with an outcome" in note for note in gated.notes)


def test_a03a_an_arm_that_misses_tasks_is_never_cut_to_the_intersection(load: Load) -> None:
    outcomes = load(row for row in rows(lambda n, arm, draw: int(n <= 5)) if row[2] == "A" or row[0] < "t06")
    error = refused(outcomes)
    assert [finding.text.split(" ")[0] for finding in error.findings] == [
        f"t0{task}.B.{draw}" for task in (6, 7, 8) for draw in (1, 2)
    ]


def test_a03b_an_absent_arm_is_refused_even_incomplete(load: Load) -> None:
    outcomes = load(row for row in rows(even) if row[2] == "A")
    assert "arm B has no outcome at all" in str(refused(outcomes, incomplete=True))


def test_a03c_a_table_without_rows_is_refused_even_incomplete(load: Load) -> None:
    error = refused(load([]), incomplete=True)
    assert "arm A has no outcome at all" in str(error)


def test_a04a_a_repeated_row_stops(load: Load) -> None:
    table = rows(even)
    outcomes = load([*table, table[0], table[0], table[3]])
    for incomplete in (False, True):
        error = refused(outcomes, incomplete=incomplete)
        assert [f.text for f in error.findings if f.rule == "duplicate"] == [
            "t01.A.1 has 3 records (resolved 0, resolved 0, resolved 0)",
            "t01.B.2 has 2 records (resolved 0, resolved 0)",
        ]


def test_a04b_two_verdicts_on_one_key_stop_and_both_are_shown(load: Load) -> None:
    outcomes = load([*rows(even), ("t01", "easy", "A", 1, 1, 0)])
    for incomplete in (False, True):
        assert "t01.A.1 has 2 records (resolved 0, resolved 1)" in str(
            refused(outcomes, incomplete=incomplete)
        )


def test_a05_infrastructure_failures_of_one_arm_are_missing_and_counted_by_arm(load: Load) -> None:
    table = rows(
        lambda n, arm, draw: "" if arm == "B" and n % 2 else int(n % 2 == 0),
        lambda n, arm: int(arm == "B" and n % 2),
    )
    outcomes = load(table)
    assert {finding.rule for finding in refused(outcomes).findings} == {"missing"}
    gated = partial(outcomes)
    assert [sum(key.arm == arm for key in gated.infrastructure) for arm in ("A", "B")] == [0, 8]


DIRTY = [
    ("t01", "easy", "A", 1, "true", 0),
    ("t01", "easy", "B", 1, 1, 0),
    ("t02", "easy", "A", 1, "True", 0),
    ("t02", "easy", "B", 1, "0.0", 0),
    ("t03", "easy", "A", 1, "", 0),
    ("t03", "easy", "B", 1, "NaN", 0),
    ("t04", "easy", "A", 1, "null", 0),
    ("t04", "easy", "B", 1, "yes", 0),
    ("0005", "easy", "A", 1, 1, 0),
    ("5", "easy", "B", 1, 1, 0),
    (" t06", "easy", "A", 1, 1, 0),
    ("t06 ", "easy", "B", 1, 1, 0),
    ("t07", "", "A", 1, 1, 0),
    ("t07", "", "B", 1, 0, 0),
]


def test_a07_dirty_types_are_named_row_by_row_and_nothing_is_loaded(load: Load) -> None:
    with pytest.raises(BadInput) as error:
        load(DIRTY)
    named = [int(line.split(":")[1]) for line in str(error.value).splitlines()[1:]]
    assert named == [2, 4, 5, 6, 7, 8, 9, 12, 13, 14, 15]
    assert error.value.exit_status == 2


def test_a07_identifiers_are_text(load: Load) -> None:
    read = load([("0005", "easy", "A", 1, 1, 0), ("5", "easy", "B", 1, 1, 0)])
    assert [outcome.key.task for outcome in read] == ["0005", "5"]


def test_a08_rows_that_nobody_planned_are_listed_and_left_out(load: Load) -> None:
    extra = [("t99", "easy", "A", 1, 1, 0), ("t01", "easy", "C", 1, 1, 0), ("t01", "easy", "a", 1, 1, 0)]
    outcomes = load([*rows(even), *extra])
    error = refused(outcomes)
    assert [finding.text for finding in error.findings] == ["t01.C.1", "t01.a.1", "t99.A.1"]
    gated = partial(outcomes)
    assert set(gated.resolved) == set(DESIGN.planned)
    assert gated.notes == ("unplanned: t01.C.1", "unplanned: t01.a.1", "unplanned: t99.A.1")


def test_a_stratum_other_than_the_planned_one_is_a_fault(load: Load) -> None:
    with pytest.raises(BadInput, match="was planned in 'easy'"):
        load([("t01", "hard", "A", 1, 1, 0)])


def costs(tmp_path: Path, *lines: str) -> tuple[Cost, ...]:
    path = tmp_path / "costs.csv"
    path.write_text("\n".join(["task,arm,tokens,resolved", *lines]) + "\n")
    return load_costs(path)


def test_a10_costs_that_cannot_be_true_are_named_and_nothing_is_loaded(tmp_path: Path) -> None:
    with pytest.raises(BadInput) as error:
        costs(tmp_path, "t01,A,1200,0", "t01,B,0,0", "t02,A,900,1", "t02,B,,1", "t03,A,-5,1", "t03,B,1e400,1")
    assert [int(line.split(":")[1]) for line in str(error.value).splitlines()[1:]] == [3, 6, 7]


def test_a10_an_unknown_cost_is_null_and_the_mean_says_how_many_it_knows(tmp_path: Path) -> None:
    loaded = costs(tmp_path, "t01,A,1200,0", "t02,A,900,1", "t03,A,,1")
    assert [cost.tokens for cost in loaded] == [1200, 900, None]
    mean = mean_cost([cost.tokens for cost in loaded])
    assert (mean.mean, mean.known) == (1050.0, 2)


def test_a05_the_imbalance_stands_in_the_headline_table(load: Load) -> None:
    design = crossed({"easy": EASY, "hard": HARD}, ["H007", "H000"], [""], ["1", "2"])
    names = {"A": "H007", "B": "H000"}
    table = rows(
        lambda n, arm, draw: "" if arm == "B" and n % 2 else int(n % 2 == 0),
        lambda n, arm: int(arm == "B" and n % 2),
    )
    outcomes = load([(*row[:2], names[row[2]], *row[3:]) for row in table], design)
    gated = admit(design, outcomes, "table", incomplete=True)
    hypotheses = load_hypotheses(open_study(Path(__file__).resolve().parents[2]))
    flow, estimates, verdicts = assemble(gated, hypotheses, only=("T1", "T2")).tables
    assert [row[4] for row in flow.rows] == [0, 8, 8]
    (line,) = [dict(zip(estimates.header, row, strict=True)) for row in estimates.texts()]
    assert (line["without outcome"], line["first solved"], line["second solved"]) == ("0 / 8", "8/8", "8/8")
    assert (line["difference"], line["bounds"], line["missing pairs"]) == ("+0.0", "-50.0 to +50.0", "8")
    assert "inconclusive" in str(verdicts.texts())
