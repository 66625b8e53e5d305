"""Localisation and costs in the report, held against the artifacts by hand."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from repairlab.analysis.gate import admit, admit_frames
from repairlab.analysis.hypotheses import load_hypotheses
from repairlab.analysis.outcomes import Outcome, crossed
from repairlab.analysis.report.assemble import assemble
from repairlab.analysis.report.reliability_tables import agreement_table, draws_table


@pytest.fixture(scope="module")
def tables(small: Any) -> dict[str, Any]:
    gated = admit_frames(small.frames())
    report: Any = assemble(gated, load_hypotheses(small.study), only=("T8", "T9", "T10")).json()
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
