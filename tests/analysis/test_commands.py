"""The commands on simulated studies: what is found, what is stamped, and what nobody gets to see."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

from repairlab.analysis.schema import KEYS, TABLES
from repairlab.cli.main import app
from repairlab.cli.progress import line_of
from repairlab.cli.showing import swap_line
from repairlab.contract.errors import RefuseToStart, RepairlabError
from repairlab.runner.events import CellSealed
from repairlab.store.blinding import log_file, looks

Run = Callable[..., Any]


@pytest.fixture(scope="module")
def run() -> Run:
    """Run a command in this process; gives exit status and everything that was said."""

    def command(*arguments: str, expect: int = 0) -> str:
        result = CliRunner().invoke(app, list(arguments))
        said, error = result.output, result.exception
        status = result.exit_code
        if isinstance(error, RepairlabError):
            status, said = error.exit_status, f"{said}{error}"
        assert status == expect, (said, error)
        return said

    return command


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory, run: Run) -> Path:
    """Sixty tasks, a difference of 30 points in H007, and failed attempts in H003."""
    target = tmp_path_factory.mktemp("planted") / "study"
    run("simulate", str(target), "--effect", "H007=0.3", "--failing", "H003=0.2", "--seed", "12")
    return target


def test_a_planted_effect_of_30_points_is_found_end_to_end(planted: Path, run: Run) -> None:
    value = json.loads(run("report", "simulated", "--study", str(planted), "--json", "--only", "T2"))
    verdicts = {row["contrast"]: row["verdict"] for row in value["tables"]["T2b"]["rows"]}
    assert (verdicts["C2"], verdicts["C3"]) == ("supported", "supported")
    assert verdicts["C1"] in ("inconclusive", "practically equivalent")
    (row,) = [row for row in value["tables"]["T2a"]["rows"] if row["contrast"] == "C2"]
    assert row["interval_95"]["low"] <= 0.3 <= row["interval_95"]["high"]
    assert value["complete"] is True
    assert value["banner"].startswith("SIMULATED")


def test_failed_attempts_are_counted_by_arm_and_change_no_denominator(planted: Path, run: Run) -> None:
    value = json.loads(
        run("report", "simulated", "--study", str(planted), "--json", "--only", "T1", "--only", "T3")
    )
    flow = {row["arm"]: row for row in value["tables"]["T1"]["rows"]}
    attempts = {
        arm: sum(v for name, v in row.items() if name.startswith("attempts_")) for arm, row in flow.items()
    }
    assert 12 <= attempts["H003"] <= 36
    assert attempts["all"] == attempts["H003"]
    assert all(row["resolved"][1] in (20, 60) for row in value["tables"]["T3"]["rows"])


def test_labels_stand_wherever_results_appear(small: Any, run: Run, tmp_path: Path) -> None:
    text = run("report", "simulated", "--study", str(small.study.root), "--out", str(tmp_path / "out"))
    for table in ("T1", "T2a", "T2b", "T3", "T4", "T5", "T6", "T7"):
        assert re.search(rf"^{table} .* - SIMULATED$", text, re.MULTILINE), table
    page = (tmp_path / "out" / "report.md").read_text()
    shown = [line for line in (text + page).splitlines() if "cannot be made" not in line]
    assert sum("A002" in line for line in shown) > 20
    for line in shown:
        for arm in re.findall(r"A00\d", line):
            assert f"{arm} (controlled adaptation)" in line or f"{arm}: controlled adaptation" in line
    assert (
        json.loads((tmp_path / "out" / "report.json").read_text())["labels"]["A002"]
        == "controlled adaptation"
    )


def test_an_export_is_complete_described_and_the_same_bytes_again(
    planted: Path, run: Run, tmp_path: Path
) -> None:
    for name in ("one", "two"):
        run("export", "simulated", "--study", str(planted), "--out", str(tmp_path / name))
    files = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert files == sorted(
        [
            *(f"{table.name}.parquet" for table in TABLES),
            "data-dictionary.json",
            "data-dictionary.md",
            "export.json",
        ]
    )
    for name in files:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes(), name
    facts = json.loads((tmp_path / "one" / "export.json").read_text())
    dictionary = json.loads((tmp_path / "one" / "data-dictionary.json").read_text())
    for table in TABLES:
        path = tmp_path / "one" / f"{table.name}.parquet"
        frame = pl.read_parquet(path)
        assert [column["name"] for column in dictionary[table.name]["columns"]] == frame.columns
        assert frame.columns[: len(KEYS)] == [column.name for column in KEYS]
        assert frame["simulated"].all()
        assert facts["files"][path.name] == hashlib.sha256(path.read_bytes()).hexdigest()
        footer = pl.read_parquet_metadata(path)
        assert footer["repairlab.manifest"] == facts["repairlab.manifest"]
        for column in (*KEYS, *table.columns):
            if column.null == "never":
                assert frame[column.name].null_count() == 0, (table.name, column.name)
    cells = pl.read_parquet(tmp_path / "one" / "cells.parquet")
    assert set(cells.filter(pl.col("treatment") == "A002")["label"]) == {"controlled adaptation"}
    assert cells["sequence"].to_list() == list(range(cells.height))
    tests = pl.read_parquet(tmp_path / "one" / "tests.parquet")
    passed = tests.group_by("sequence").agg((pl.col("outcome") == "passed").all().cast(pl.Int8).alias("all"))
    assert cells.join(passed, on="sequence").filter(pl.col("all") != pl.col("resolved_at_1")).height == 0


def test_missing_cells_close_report_and_export_with_status_3(run: Run, tmp_path: Path) -> None:
    target = str(tmp_path / "study")
    run("simulate", target, "--tasks", "2", "--missing", "3", "--blocked", "2", "--base", "0.4")
    said = run("report", "simulated", "--study", target, expect=3)
    assert said.count("never tried") == 3
    assert said.count("tried, without an outcome") == 2
    run("export", "simulated", "--study", target, "--out", str(tmp_path / "out"), expect=3)
    assert not (tmp_path / "out").exists()
    text = run("report", "simulated", "--study", target, "--incomplete", "--out", str(tmp_path / "report"))
    stamp = re.search(r"INCOMPLETE \d+/\d+", text)
    assert stamp
    heads = [line for line in text.splitlines() if re.match(r"T\d\w* ", line)]
    assert [head.split(" ")[0] for head in heads] == (
        ["T1", "T2a", "T2b", "T3", "T4", "T5", "T6", "T7", "T8", "T9", "T10", "T11"]
    )
    assert all(stamp[0] in line for line in heads)
    assert stamp[0] in (tmp_path / "report" / "report.md").read_text()
    run("export", "simulated", "--study", target, "--incomplete", "--out", str(tmp_path / "out"))
    for table in TABLES:
        footer = pl.read_parquet_metadata(tmp_path / "out" / f"{table.name}.parquet")
        assert footer["repairlab.stamp"] == stamp[0]


WORDS = re.compile(r"resolved|solved|verdict|tests-failed|all-required|passed|interval", re.IGNORECASE)


def test_no_command_shows_an_outcome_of_a_running_experiment(run: Run, tmp_path: Path) -> None:
    """Every command says the same of outcomes that are nearly all failures and nearly all successes."""
    said: list[list[str]] = []
    for base in ("0.02", "0.98"):
        target = tmp_path / base
        run(
            "simulate", str(target), "--tasks", "2", "--base", base, "--rehearsal", "--stop-after", "30",
            "--failing", "H003=0.5",
        )  # fmt: skip
        study = ("--study", str(target))
        cell = min(path.name for path in (target / "raw" / "simulated").iterdir())
        own = [
            run("status", "simulated", *study),
            run("status", "simulated", "--json", *study),
            run("verify", "simulated", *study),
            run("show", "simulated", *study, expect=2),
            run("show", "simulated", cell, *study, expect=2),
            run("report", "simulated", *study, expect=2),
            run("report", "simulated", "--incomplete", *study, expect=2),
            run("report", "simulated", "--incomplete", "--json", *study, expect=2),
            run("export", "simulated", "--incomplete", "--out", str(target / "out"), *study, expect=2),
            run("audit", "simulated", "--all", *study, expect=2),
            run("diff", "simulated", cell, cell, *study, expect=2),
        ]
        assert not (target / "out").exists()
        assert not (target / "preregistration" / "unblinding.jsonl").exists()
        same = [re.sub(r"[0-9a-f]{12,64}", "DIGEST", text.replace(str(target), "STUDY")) for text in own]
        assert not [text for text in same if WORDS.search(text.replace("its outcomes stay", ""))]
        said.append(same)
    assert said[0] == said[1]


def test_what_a_run_says_of_a_sealed_cell_tells_no_outcome(small: Any) -> None:
    cell = small.frozen.manifest.cells[0]
    assert line_of(CellSealed(cell, "resolved", "resolved", 1.0)) == line_of(
        CellSealed(cell, "unresolved", "no-edit", 1.0)
    )


def test_a_look_is_logged_and_the_report_tells_of_it(run: Run, simulate: Callable[..., Any]) -> None:
    store = simulate(rehearsal=True, stop_after=40)
    study = ("--study", str(store.study.root))
    text = run(
        "report", "simulated", "--incomplete", "--unblind", "a fault was suspected", *study, "--only", "T1"
    )
    assert "interim-look at" in text
    assert "a fault was suspected" in text
    (look,) = looks(store.study, "simulated")
    assert (look.command, look.reason, look.sealed) == ("report", "a fault was suspected", 40)
    assert look.user
    run("show", "simulated", *study, expect=2)
    assert len(looks(store.study, "simulated")) == 1


def test_a_complete_experiment_is_unsealed_once_and_then_open(run: Run, simulate: Callable[..., Any]) -> None:
    store = simulate(rehearsal=True)
    study = ("--study", str(store.study.root))
    assert "not unsealed yet" in run("report", "simulated", *study, expect=2)
    assert "unsealing at" in run(
        "report", "simulated", "--unblind", "all cells are sealed", "--only", "T1", *study
    )
    assert "T2b" in run("report", "simulated", "--only", "T2", *study)
    run("show", "simulated", *study)
    assert [look.kind for look in looks(store.study, "simulated")] == ["unsealing"]
    log_file(store.study).write_text("{}\n")
    run("show", "simulated", *study, expect=1)


def test_deviations_of_the_experiment_are_printed(run: Run, simulate: Callable[..., Any]) -> None:
    store = simulate()
    study = ("--study", str(store.study.root))
    assert "no deviation is on record" in run("report", "simulated", "--only", "T1", *study)
    run(
        "deviations", "add", "simulated", "--what", "a task was dropped", "--why", "it broke", "--who", "us",
        "--effect", "none", "--unsealing", "before", *study,
    )  # fmt: skip
    assert "deviation D001" in run("report", "simulated", "--only", "T1", *study)
    assert "there is no table T99" in run("report", "simulated", "--only", "T99", *study, expect=2)


def test_a_control_that_was_changed_after_the_freeze_closes_the_gate(
    run: Run, simulate: Callable[..., Any]
) -> None:
    store = simulate()
    path = store.study.contracts / "shared.toml"
    path.write_text(path.read_text().replace("tool_calls = 12", "tool_calls = 13"))
    said = run("report", "simulated", "--incomplete", "--study", str(store.study.root), expect=3)
    assert "frozen input: contracts/shared.toml: changed since the freeze" in said
    assert "not even an incomplete one" in said


def test_a_simulation_never_lies_where_a_study_is(run: Run, tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "file").write_text("")
    assert "is not empty" in run("simulate", str(tmp_path / "taken"), expect=2)
    assert "is an experiment of" in run("simulate", str(tmp_path / "new"), "--name", "embedded", expect=2)
    assert "must lie between" in run("simulate", str(tmp_path / "new"), "--effect", "H007=0.9", expect=2)
    assert "not in the simulated" in run("simulate", str(tmp_path / "x"), "--effect", "H999=0.1", expect=2)


def test_records_of_another_kind_of_experiment_are_never_simulated(small: Any) -> None:
    from repairlab.analysis.simulation.records import write_records

    inputs = small.inputs
    main = inputs.experiment.model_copy(update={"kind": "main"})
    object.__setattr__(inputs, "experiment", main)
    with pytest.raises(RefuseToStart, match="experiments of kind 'simulation' alone"):
        write_records(inputs, small.frozen, small.layout, (), 1)


def test_a_simulation_is_not_run(run: Run, small: Any) -> None:
    said = run("run", "simulated", "--plain", "--study", str(small.study.root), expect=2)
    assert "nothing that could be run" in said


def test_status_adds_up_usage_and_an_unknown_count_is_not_0(damaged: Any, run: Run) -> None:
    records = [json.loads((folder / "metrics.json").read_text()) for folder in damaged.cells()]
    clocks = [json.loads((folder / "timing.json").read_text()) for folder in damaged.cells()]
    first = damaged.cells()[0] / "metrics.json"
    first.parent.chmod(0o755)
    first.unlink()
    first.write_text(json.dumps({**records[0], "completion_tokens": None}))
    where = ("status", "simulated", "--study", str(damaged.study.root))
    used = json.loads(run(*where, "--json", "--usage"))["usage"]
    assert used == {
        "cells": 84,
        "cells_with_tokens": 83,
        "prompt_tokens": sum(one["prompt_tokens"] for one in records[1:]),
        "completion_tokens": sum(one["completion_tokens"] for one in records[1:]),
        "model_calls": sum(one["model_calls"] for one in records),
        "agent_seconds": pytest.approx(sum(one["agent_seconds"] for one in clocks)),
        "total_seconds": pytest.approx(sum(one["phases_seconds"]["total"] for one in clocks)),
    }
    assert "(1 cells without a count)" in run(*where, "--usage")
    assert "usage" not in json.loads(run(*where, "--json"))


def test_a_change_of_residency_is_shown_with_the_time_to_the_first_token() -> None:
    swap = {"to": "agent", "seconds": 1.5, "transition": {}, "first_token_seconds": 0.25}
    assert swap_line(swap) == (
        "residency changed to agent in 1.500 s; first token of the next reply after 0.250 s"
    )
    assert swap_line({**swap, "first_token_seconds": None}).endswith("first token of the next reply not seen")
    assert swap_line({**swap, "to": "embedder"}) == "residency changed to embedder in 1.500 s"
