"""Localisation and costs in the report, held against the artifacts by hand."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import polars as pl
import pytest

from repairlab.analysis.gate import admit, admit_frames
from repairlab.analysis.hypotheses import load_hypotheses
from repairlab.analysis.outcomes import Outcome, crossed
from repairlab.analysis.report.assemble import assemble
from repairlab.analysis.report.reliability_tables import agreement_table, draws_table
from repairlab.analysis.report.scoring import Passed, counted_tests


@pytest.fixture(scope="module")
def tables(small: Any) -> dict[str, Any]:
    gated = admit_frames(small.frames())
    report: Any = assemble(gated, load_hypotheses(small.study), only=("T8", "T9", "T10", "T11")).json()
    return {name: table["rows"] for name, table in report["tables"].items()}


def metrics(small: Any, arm: str) -> list[tuple[str, Any]]:
    found = []
    for folder in small.cells():
        task, treatment = folder.name.split(".")[:2]
        if treatment == arm:
            found.append((task, json.loads((folder / "metrics.json").read_text())))
    return found


def shown(arm: str) -> str:
    return f"{arm} (controlled adaptation)" if arm.startswith("A") else arm


def test_recall_of_edited_files_is_the_mean_over_tasks_of_their_cells(
    small: Any, tables: dict[str, Any]
) -> None:
    for arm in ("H000", "H018", "A002"):
        hits: dict[str, list[bool]] = {}
        for task, one in metrics(small, arm):
            hits.setdefault(task, []).append(Path(one["files_edited"][0]).stem == "gold")
        expected = sum(sum(own) / len(own) for own in hits.values()) / len(hits)
        (row,) = [r for r in tables["T8"] if (r["arm"], r["stage"]) == (shown(arm), "edited")]
        assert row["recall_1"] == row["recall_10"] == row["all_10"] == pytest.approx(expected)
        assert row["precision"] == pytest.approx(
            sum(sum(own) for own in hits.values()) / sum(len(own) for own in hits.values())
        )


def test_what_a_search_returned_is_kept_apart_from_what_was_opened(tables: dict[str, Any]) -> None:
    stages = {arm: {row["stage"] for row in tables["T8"] if row["arm"] == arm} for arm in ("H000", "H018")}
    assert stages == {"H000": {"returned", "opened", "edited"}, "H018": {"opened", "edited"}}


def test_costs_are_over_solved_and_unsolved_cells(small: Any, tables: dict[str, Any]) -> None:
    for arm in ("H000", "A002"):
        own = [one for _, one in metrics(small, arm)]
        tokens = [one["prompt_tokens"] + one["completion_tokens"] for one in own]
        resolved = sum(one["resolved_at_1"] for one in own)
        (row,) = [r for r in tables["T9"] if r["arm"] == shown(arm)]
        assert row["tokens_median"] == median(tokens)
        assert row["tokens_known"] == [len(own), len(own)]
        assert row["tokens_per_resolved"] == pytest.approx(sum(tokens) / resolved)
        assert row["censored"] == [0, len(own)]


def test_cost_ratios_have_a_line_for_each_difference(tables: dict[str, Any]) -> None:
    assert len(tables["T10"]) == 2 * 8
    assert all(row["ratio"] > 0 and row["tasks"] == 6 for row in tables["T10"])


def test_scores_are_counted_from_the_records_of_tests(small: Any, tables: dict[str, Any]) -> None:
    """By hand: the mean over tasks of the mean over their cells of the share that passes."""
    assert [row["model"] for row in tables["T11"] if row["arm"] == "H007"] == ["all", "M002", "M003"]
    for row in tables["T11"]:
        rates: dict[str, list[float]] = {}
        for folder in small.cells():
            task, treatment, model = folder.name.split(".")[:3]
            if shown(treatment) == row["arm"] and row["model"] in ("all", model):
                required = json.loads((folder / "tests.json").read_text())["required"]
                passing = sum(outcome == "passed" for outcome in required.values())
                rates.setdefault(task, []).append(passing / len(required))
        assert row["tasks"] == len(rates) == 6
        assert row["cells"] == sum(map(len, rates.values()))
        assert row["test_pass_rate"] == pytest.approx(sum(sum(r) / len(r) for r in rates.values()) / 6)
        assert row["empty_patch_test_pass_rate"] == pytest.approx(2 / 3)
        assert row["no_regression"] == 1
        assert row["no_regression_tasks"] == [6, 6]


def test_a_broken_test_lowers_no_regression_and_a_task_without_any_has_none() -> None:
    broken = Passed(after=2, required=4, before_and_after=1, before=2)
    assert (broken.test_pass_rate, broken.unpatched, broken.no_regression) == (0.5, 0.5, 0.5)
    assert Passed(after=0, required=2, before_and_after=0, before=0).no_regression is None


def test_tests_that_passed_before_are_told_from_those_of_the_fix(small: Any) -> None:
    frames = small.frames()
    old = (pl.col("sequence") == 0) & pl.col("test").str.ends_with("::old")
    failing = pl.when(old).then(pl.lit("failed")).otherwise("outcome").alias("outcome")
    broken = replace(frames, tables={**frames.tables, "tests": frames.tables["tests"].with_columns(failing)})
    intact, counted = list(counted_tests(frames).values()), list(counted_tests(broken).values())
    after = intact[0].after - 1
    assert counted == [Passed(after, required=3, before_and_after=1, before=2), *intact[1:]]


def test_scores_of_incomplete_records_leave_missing_cells_out(simulate: Any) -> None:
    store = simulate(tasks=1, missing=5)
    gated = admit_frames(store.frames(), incomplete=True)
    report = assemble(gated, load_hypotheses(store.study), only=["T11"])
    (table,) = report.tables
    assert sum(row[2] for row in table.rows if row[1] == "all") == 42 - 5
    assert "INCOMPLETE 37/42" in report.titled(table)
    assert table.notes[-1] == "a missing cell is in no mean"


def test_a_reliability_design_shows_every_draw_and_what_its_draws_agree_on(small: Any) -> None:
    """Nine cells 3 of 3, three 2 of 3, two 1 of 3, ten 0 of 3: figures worked out by two other routes."""
    successes = [3] * 9 + [2] * 3 + [1] * 2 + [0] * 10
    draws = ("s0.r0", "s1.r0", "s2.r0")
    design = crossed({"s": [f"t{n:02d}" for n in range(24)]}, ["H000"], ["M1"], draws)
    rows = [Outcome(key, int(draws.index(key.draw) < successes[int(key.task[1:])])) for key in design.planned]
    gated = admit(design, rows, "reliability")
    tiles = draws_table(gated)
    assert [row[3] for row in tiles.rows][8:13] == ["1 1 1", "1 1 0", "1 1 0", "1 1 0", "1 0 0"]
    summary = agreement_table(gated, load_hypotheses(small.study))
    figures = {row[0]: row[1] for row in summary.rows}
    expected = {
        "pass@1": 0.486111, "pass@2": 0.555556, "pass@3": 0.583333, "pass^2": 0.416667, "pass^3": 0.375,
        "ICC(1,1)": 0.731518, "Fleiss' kappa": 0.722008, "Gwet's AC1": 0.722436,
        "cells whose draws all agree": 19 / 24,
    }  # fmt: skip
    for name, value in expected.items():
        assert figures[name] == pytest.approx(value, abs=1e-6), name
    gone = admit(design, rows[1:], "reliability", incomplete=True)
    assert draws_table(gone).rows[0][3] == "? 1 1"
    assert "23 cells of 3 draws" in agreement_table(gone, load_hypotheses(small.study)).notes[0]
