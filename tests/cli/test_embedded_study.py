"""The main job end to end: what the demo promises, by sealed results."""

from __future__ import annotations

import json
import os
import signal
import subprocess
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
            text = (cell / name).read_text()
            assert "seconds" not in text
            assert timing["started_utc"] not in text
        assert timing["attempt"] == 1


def test_two_runs_give_the_same_bytes_but_for_clocks(embedded: Any, fresh: Any) -> None:
    fresh.run("run", "embedded", "--plain")
    first = {cell.name: check_seal(cell).outcome for cell in embedded.cells()}
    second = {cell.name: check_seal(cell).outcome for cell in fresh.cells()}
    different = [name for name in first if first[name] != second.get(name)]
    # The freeze record holds its own date, so cell.json names another freeze; all else must be equal.
    for name in different:
        for artifact in ("metrics.json", "tests.json", "transcript.jsonl", "patch.diff"):
            ours, theirs = embedded.study / "raw/embedded" / name, fresh.study / "raw/embedded" / name
            assert (ours / artifact).read_bytes() == (theirs / artifact).read_bytes(), (name, artifact)
    assert sorted(first) == sorted(second)


def test_the_copy_sandbox_gives_the_same_patches_and_verdicts(embedded: Any, fresh: Any) -> None:
    fresh.run("run", "embedded", "--plain", "--sandbox", "copy")
    for ours, theirs in zip(embedded.cells(), fresh.cells(), strict=True):
        assert load(theirs, "cell.json")["facts"]["sandbox"]["materialisation"] == "copy"
        for artifact in ("metrics.json", "tests.json", "patch.diff"):
            assert (ours / artifact).read_bytes() == (theirs / artifact).read_bytes(), (ours.name, artifact)


def test_unsandboxed_cells_say_so_and_have_the_same_verdicts(embedded: Any, fresh: Any) -> None:
    done = fresh.run("run", "embedded", "--plain", "--sandbox", "none")
    assert "unsandboxed" in done.stdout
    for ours, theirs in zip(embedded.cells(), fresh.cells(), strict=True):
        assert load(theirs, "cell.json")["facts"]["sandbox"]["name"] == "unsandboxed"
        for artifact in ("metrics.json", "patch.diff"):
            assert (ours / artifact).read_bytes() == (theirs / artifact).read_bytes(), (ours.name, artifact)


@pytest.mark.parametrize("moment", [1, 4, 8])
def test_kill_9_of_the_runner_loses_nothing_and_is_resumed(embedded: Any, fresh: Any, moment: int) -> None:
    """SIGKILL once `moment` records stand in the transcript of a cell under way."""
    runner = subprocess.Popen(
        fresh.command("run", "embedded", "--plain"),
        env=fresh.environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    incomplete = fresh.study / "incomplete" / "embedded"
    limit = time.monotonic() + 60
    while time.monotonic() < limit:
        under_way = list(incomplete.glob("*/attempt-01/transcript.jsonl"))
        if under_way and len(under_way[0].read_bytes().splitlines()) >= moment:
            break
        assert runner.poll() is None, "the run ended before it could be killed"
    runner.send_signal(signal.SIGKILL)
    runner.wait()
    kept = list(incomplete.glob("*/attempt-01"))
    sealed = {cell.name for cell in fresh.cells()}
    for cell in fresh.cells():
        check_seal(cell)
    fresh.run("run", "embedded", "--plain")
    assert {path.parent.name for path in kept} <= {
        path.parent.name for path in incomplete.glob("*/attempt-01")
    }
    assert sealed <= {cell.name for cell in fresh.cells()}
    assert len(fresh.cells()) == len(embedded.cells())
    status = json.loads(fresh.run("status", "embedded", "--json").stdout)
    assert (status["sealed"], status["pending"], status["incomplete_attempts"]) == (
        len(embedded.cells()),
        0,
        len(kept),
    )
    assert len(kept) == 1
    assert load(fresh.study / "raw/embedded" / kept[0].parent.name, "timing.json")["attempt"] == 2
    for ours, theirs in zip(embedded.cells(), fresh.cells(), strict=True):
        for artifact in ("metrics.json", "tests.json", "transcript.jsonl", "patch.diff"):
            assert (ours / artifact).read_bytes() == (theirs / artifact).read_bytes(), (ours.name, artifact)


def test_an_ordinary_user_can_run_the_study(
    tmp_path_factory: pytest.TempPathFactory, make_place: Any, embedded: Any
) -> None:
    """As root, drop to a user without rights; as an ordinary user this is what every other test shows too."""
    import shutil
    import tempfile

    home = Path(tempfile.mkdtemp(prefix="repairlab-user-", dir="/tmp"))
    try:
        study = home / "study"
        for name in ("contracts", "experiments", "preregistration"):
            shutil.copytree(embedded.study / name, study / name)
        if os.geteuid() == 0:
            for path in [home, *home.rglob("*")]:
                os.chown(path, 65534, 65534)
        place = make_place(study, home / "cache")
        prefix = (
            ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"] if os.geteuid() == 0 else []
        )
        environment = {**place.environment(), "HOME": str(home), "XDG_CACHE_HOME": str(home / ".cache")}
        environment.pop("UV_CACHE_DIR", None)
        done = subprocess.run(
            [*prefix, *place.command("run", "embedded", "--plain", "--limit", "4")],
            capture_output=True, text=True, env=environment, check=False, cwd=home,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        cells = place.cells()
        assert len(cells) == 4
        for cell in cells:
            check_seal(cell)
            assert cell.stat().st_uid == (65534 if os.geteuid() == 0 else os.geteuid())
            assert load(cell, "metrics.json") == load(
                embedded.study / "raw/embedded" / cell.name, "metrics.json"
            )
    finally:
        subprocess.run(["chmod", "-R", "u+w", str(home)], check=False)
        shutil.rmtree(home)
