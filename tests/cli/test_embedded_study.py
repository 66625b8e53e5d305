"""The main job end to end: what the demo promises, by sealed results."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest

from repairlab.contract.study import load_inputs, open_study
from repairlab.repositories.mirrors import Mirrors
from repairlab.repositories.sources import Sources
from repairlab.store.sealed import check_seal
from repairlab.tasks.material import derive


def load(cell: Path, name: str) -> Any:
    return json.loads((cell / name).read_text())


def transcript(cell: Path) -> list[Any]:
    return [json.loads(line) for line in (cell / "transcript.jsonl").read_text().splitlines()]


def model_of(cell: Path) -> str:
    return cell.name.split(".")[2]


def test_the_navigator_resolves_every_task_and_the_floor_none(embedded: Any) -> None:
    cells = embedded.cells()
    assert len(cells) == len(load_inputs(open_study(embedded.study), "embedded").experiment.tasks) * 4
    for cell in cells:
        expected = 1 if model_of(cell) == "NAVIGATOR" else 0
        assert load(cell, "metrics.json")["resolved_at_1"] == expected, cell.name


def test_every_verdict_rests_on_every_required_test(embedded: Any) -> None:
    inputs = load_inputs(open_study(embedded.study), "embedded")
    for cell in embedded.cells():
        task = inputs.tasks[cell.name.split(".")[0]]
        required = load(cell, "tests.json")["required"]
        assert sorted(required) == sorted(task.required_tests)
        failing = {name for name, outcome in required.items() if outcome != "passed"}
        assert failing == (set() if model_of(cell) == "NAVIGATOR" else set(task.fail_to_pass)), cell.name


def test_the_floor_s_patch_is_empty_and_the_navigator_s_is_the_gold_patch(embedded: Any) -> None:
    inputs = load_inputs(open_study(embedded.study), "embedded")
    mirrors = Mirrors(embedded.cache / "mirrors", Sources())
    for cell in embedded.cells():
        task = inputs.tasks[cell.name.split(".")[0]]
        gold = derive(task, mirrors.ensure(task.repository, [task.base, task.fix])).gold_patch
        assert (cell / "patch.diff").read_bytes() == (gold if model_of(cell) == "NAVIGATOR" else b"")


def test_no_byte_of_gold_or_hidden_tests_reaches_a_request(embedded: Any) -> None:
    """Every added line of the fix is a canary, until the model itself has sent it in a patch."""
    inputs = load_inputs(open_study(embedded.study), "embedded")
    mirrors = Mirrors(embedded.cache / "mirrors", Sources())
    looked_at = 0
    for cell in embedded.cells():
        task = inputs.tasks[cell.name.split(".")[0]]
        mirror = mirrors.ensure(task.repository, [task.base, task.fix])
        base = b"\n".join(
            blob for _, blob in mirror.read_blobs([e.blob_id for e in mirror.entries(task.base)])
        )
        added = [
            line[1:].strip() for line in mirror.diff(task.base, task.fix).split(b"\n") if line[:1] == b"+"
        ]
        canaries = [
            line.decode()
            for line in added
            if len(line) > 12 and line not in base and line not in task.statement.encode()
        ]
        assert len(canaries) > 3
        for entry in transcript(cell):
            if entry["type"] == "call" and entry["tool"] == "apply_patch":
                break
            if entry["type"] == "request":
                text = "\n".join(_texts(entry["body"]))
                assert not [canary for canary in canaries if canary in text], cell.name
                assert task.fix not in text
                looked_at += 1
    assert looked_at >= len(embedded.cells())


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for item in value.values() for text in _texts(item)]
    return [text for item in value for text in _texts(item)] if isinstance(value, list) else []


def test_first_requests_of_a_task_differ_in_declared_slots_alone(embedded: Any) -> None:
    firsts: dict[tuple[str, str], Any] = {}
    for cell in embedded.cells():
        task, treatment, model = cell.name.split(".")[:3]
        firsts[task, treatment + model] = transcript(cell)[0]["body"]
    for task in {task for task, _ in firsts}:
        plain, oracle = (firsts[task, f"{name}NAVIGATOR"] for name in ("H000", "H018"))
        assert plain["messages"][0] == oracle["messages"][0]
        assert [t["function"]["name"] for t in plain["tools"]][1:] == [
            t["function"]["name"] for t in oracle["tools"]
        ]
        assert plain["tools"][1:] == oracle["tools"]
        same = ("temperature", "top_p", "seed", "max_tokens", "stream", "stream_options", "model")
        assert {key: plain[key] for key in same} == {key: oracle[key] for key in same}
        floor = firsts[task, "H018FLOOR"]
        assert floor["messages"] == oracle["messages"]


def test_every_request_states_the_frozen_sampling(embedded: Any) -> None:
    for cell in embedded.cells():
        for entry in transcript(cell):
            if entry["type"] == "request":
                body = entry["body"]
                assert (body["temperature"], body["top_p"], body["seed"], body["max_tokens"]) == (
                    0,
                    1,
                    0,
                    8192,
                )


def test_a_second_demo_runs_no_cell_again(embedded: Any) -> None:
    before = {cell.name: (cell.stat().st_ino, cell.stat().st_mtime_ns) for cell in embedded.cells()}
    done = embedded.run("demo", "--plain")
    assert {cell.name: (cell.stat().st_ino, cell.stat().st_mtime_ns) for cell in embedded.cells()} == before
    assert f"{len(before)} cells planned, {len(before)} sealed already" in done.stderr
    assert "(attempt" not in done.stderr


def test_the_demo_prints_a_table_and_where_the_cells_are(embedded: Any) -> None:
    done = embedded.run("demo", "--plain")
    assert str(embedded.study / "raw" / "embedded") in done.stdout
    rows = [line for line in done.stdout.splitlines() if "NAVIGATOR" in line]
    assert len(rows) == len(embedded.cells()) // 2
    assert all(" yes " in row for row in rows)
    assert "check the plumbing alone" in done.stdout


def test_report_and_export_of_the_embedded_study(embedded: Any, tmp_path: Path) -> None:
    value = json.loads(embedded.run("report", "embedded", "--json", "--only", "T2", "--only", "T3").stdout)
    assert (value["complete"], value["banner"].split(":")[0]) == (True, "calibration")
    rates = {
        (row["arm"], row["model"]): row["resolved"]
        for row in value["tables"]["T3"]["rows"]
        if row["repository"] == "all"
    }
    assert {rates[arm, "NAVIGATOR"][0] for arm in ("H000", "H018")} == {6}
    assert {rates[arm, "FLOOR"][0] for arm in ("H000", "H018")} == {0}
    verdicts = [row["verdict"] for row in value["tables"]["T2b"]["rows"]]
    assert len(verdicts) == 5
    assert all("cannot be made" in verdict for verdict in verdicts)
    embedded.run("export", "embedded", "--out", str(tmp_path / "export"))
    facts = json.loads((tmp_path / "export" / "export.json").read_text())
    assert facts["repairlab.manifest"] == value["manifest"]
    assert len(facts["files"]) == 8


def test_verify_holds_and_status_counts(embedded: Any) -> None:
    assert "every frozen input and every seal holds" in embedded.run("verify", "embedded").stdout
    status = json.loads(embedded.run("status", "embedded", "--json").stdout)
    count = len(embedded.cells())
    assert {key: status[key] for key in ("experiment", "cells", "sealed", "blocked", "pending")} == {
        "experiment": "embedded", "cells": count, "sealed": count, "blocked": 0, "pending": 0,
    }  # fmt: skip


def test_a_cell_holds_what_the_contract_names(embedded: Any) -> None:
    for cell in embedded.cells():
        names = {path.name for path in cell.iterdir()}
        assert {
            "cell.json",
            "metrics.json",
            "transcript.jsonl",
            "patch.diff",
            "timing.json",
            "SHA256SUMS",
        } <= names
        facts = load(cell, "cell.json")["facts"]
        assert facts["residency"]["verified"]["context_tokens"] == 65536
        assert facts["sandbox"]["name"] == "bubblewrap"


def test_clocks_and_processes_stand_in_timing_alone(embedded: Any) -> None:
    for cell in embedded.cells():
        timing = load(cell, "timing.json")
        for name in ("cell.json", "metrics.json", "tests.json"):
            assert timing["started_utc"] not in (cell / name).read_text()
            assert not [key for key in _keys(load(cell, name)) if "seconds" in key or key == "attempt"]
        assert timing["attempt"] == 1


def _keys(value: Any) -> list[str]:
    """Names of fields; names of tests, which are keys too, hold a path."""
    if isinstance(value, dict):
        own = [key for key in value if "::" not in key]
        return own + [key for item in value.values() for key in _keys(item)]
    return [key for item in value for key in _keys(item)] if isinstance(value, list) else []


COMPUTED = ("metrics.json", "tests.json", "transcript.jsonl", "patch.diff")


def equal(pairs: Any, place: Any, names: tuple[str, ...] = COMPUTED) -> None:
    """The sealed cells of `place` are those of the embedded study, byte for byte."""
    both = pairs(place)
    assert len(both) == 8
    for ours, theirs in both:
        for name in names:
            assert (ours / name).read_bytes() == (theirs / name).read_bytes(), (ours.name, name)


def test_two_runs_give_the_same_bytes_but_for_clocks(fresh: Any, pairs: Any) -> None:
    fresh.run("run", "embedded", "--plain")
    equal(pairs, fresh)


def test_the_copy_sandbox_gives_the_same_patches_and_verdicts(fresh: Any, pairs: Any) -> None:
    fresh.run("run", "embedded", "--plain", "--sandbox", "copy")
    equal(pairs, fresh, COMPUTED)
    for cell in fresh.cells():
        assert load(cell, "cell.json")["facts"]["sandbox"]["materialisation"] == "copy"


def test_unsandboxed_cells_say_so_and_have_the_same_verdicts(fresh: Any, pairs: Any) -> None:
    fresh.run("run", "embedded", "--plain", "--sandbox", "none")
    equal(pairs, fresh, ("metrics.json", "patch.diff"))
    for cell in fresh.cells():
        assert load(cell, "cell.json")["facts"]["sandbox"]["name"] == "unsandboxed"
    assert "unsandboxed" in fresh.run("show", "embedded").stdout


@pytest.mark.parametrize(
    ("blow", "moment"), [(signal.SIGKILL, 1), (signal.SIGKILL, 4), (signal.SIGKILL, 8), (signal.SIGINT, 4)]
)
def test_an_ended_runner_loses_nothing_and_is_resumed(
    fresh: Any, pairs: Any, blow: signal.Signals, moment: int
) -> None:
    """`blow` falls once `moment` records stand in the transcript of a cell under way."""
    incomplete = fresh.study / "incomplete" / "embedded"
    command = fresh.command("run", "embedded", "--plain")
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, env=fresh.environment(), **quiet) as runner:
        while not _records_under_way(incomplete) >= moment:
            assert runner.poll() is None, "the run ended before it could be stopped"
            time.sleep(0.002)
        runner.send_signal(blow)
        assert runner.wait() == (130 if blow is signal.SIGINT else -blow)
    kept = {path.parent.name for path in incomplete.glob("*/attempt-01")}
    sealed = {cell.name: check_seal(cell) for cell in fresh.cells()}
    assert len(kept) == 1
    fresh.run("run", "embedded", "--plain")
    assert {path.parent.name for path in incomplete.glob("*/attempt-01")} == kept
    assert sealed.items() <= {cell.name: check_seal(cell) for cell in fresh.cells()}.items()
    status = json.loads(fresh.run("status", "embedded", "--json").stdout)
    assert (status["sealed"], status["pending"], status["incomplete_attempts"]) == (8, 0, 1)
    (again,) = [cell for cell in fresh.cells() if cell.name in kept]
    assert load(again, "timing.json")["attempt"] == 2
    equal(pairs, fresh)


def _records_under_way(incomplete: Path) -> int:
    counts = []
    for path in incomplete.glob("*/attempt-01/transcript.jsonl"):
        try:
            counts.append(path.read_bytes().count(b"\n"))
        except FileNotFoundError:  # sealed between the listing and the look
            continue
    return max(counts, default=0)


def test_an_ordinary_user_can_run_the_study(
    as_ordinary_user: list[str], make_place: Any, embedded: Any, fresh: Any
) -> None:
    home = Path(tempfile.mkdtemp(prefix="repairlab-user-", dir="/tmp"))
    user = 65534 if as_ordinary_user else os.geteuid()
    try:
        study = home / "study"
        for name in ("contracts", "experiments", "preregistration"):
            shutil.copytree(fresh.study / name, study / name)
        for path in [home, *home.rglob("*")]:
            os.chown(path, user, -1)
        place = make_place(study, home / "cache")
        environment = {**place.environment(), "HOME": str(home), "XDG_CACHE_HOME": str(home / ".cache")}
        environment.pop("UV_CACHE_DIR", None)
        command = [*as_ordinary_user, *place.command("run", "embedded", "--plain", "--limit", "4")]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False, cwd=home)
        assert done.returncode == 0, done.stderr
        cells = place.cells()
        assert len(cells) == 4
        for cell in cells:
            check_seal(cell)
            assert cell.stat().st_uid == user
            assert load(cell, "metrics.json") == load(
                embedded.study / "raw/embedded" / cell.name, "metrics.json"
            )
    finally:
        subprocess.run(["chmod", "-R", "u+w", str(home)], check=False)
        shutil.rmtree(home)
