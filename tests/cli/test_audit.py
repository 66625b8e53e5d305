"""The audit: replays are equal, and whatever was altered is found, consistent checksums or not."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from repairlab.store.attempt import checksum_list
from repairlab.store.layout import ARTIFACTS, OUTCOME_SUMS, SUMS, TIMING


@pytest.fixture
def copied(embedded: Any, tmp_path: Path, make_place: Any) -> Any:
    """The embedded study with its sealed cells, writable, to be tampered with."""
    study = tmp_path / "study"
    shutil.copytree(embedded.study, study)
    for path in (study / "raw").rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return make_place(study, embedded.cache)


def one_cell(place: Any) -> Path:
    (cell,) = (c for c in place.cells() if c.name.startswith("ledgerline-text-round-trip.H000.NAVIGATOR"))
    return cell


def reseal(cell: Path) -> None:
    """What a forger would do: make the checksums fit again."""
    (cell / OUTCOME_SUMS).write_bytes(checksum_list(cell, sorted(ARTIFACTS)))
    (cell / SUMS).write_bytes(checksum_list(cell, sorted([*ARTIFACTS, TIMING, OUTCOME_SUMS])))


def test_every_replay_is_equal_and_told_in_the_frozen_order(embedded: Any) -> None:
    done = embedded.run("audit", "embedded", "--all", "--plain", "--jobs", "2")
    manifest = json.loads((embedded.study / "preregistration" / "embedded.manifest.json").read_text())
    names = [f"{c['task']}.{c['treatment']}.{c['model']}.s0.r0" for c in manifest["cells"]]
    assert f"{len(names)} cells replayed, 0 differ (tests run again)" in done.stdout
    told = re.findall(r"^\[\d+/\d+\] (\S+)\.[0-9a-f]{12}: equal$", done.stdout, re.MULTILINE)
    assert told == names


def test_of_several_differences_the_first_in_the_frozen_order_is_shown(copied: Any) -> None:
    """Damaged are a cell that is replayed late and one that is replayed early, by two processes at once."""
    manifest = json.loads((copied.study / "preregistration" / "embedded.manifest.json").read_text())
    names = [cell.name for cell in copied.cells()]
    by_label = {name.rpartition(".")[0]: name for name in names}
    order = [by_label[f"{c['task']}.{c['treatment']}.{c['model']}.s0.r0"] for c in manifest["cells"]]
    for name in (order[-1], order[1]):
        (copied.study / "raw" / "embedded" / name / "patch.diff").write_bytes(b"forged")
    done = copied.run("audit", "embedded", "--all", "--no-tests", "--plain", "--jobs", "2", expect=1)
    assert f"{len(order)} cells replayed, 2 differ" in done.stdout
    assert f"the first:\n  {order[1]}: " in done.stderr
    assert done.stdout.count(": equal") == len(order) - 2


def test_an_interrupted_audit_ends_and_leaves_nothing_behind(embedded: Any) -> None:
    command = embedded.command("audit", "embedded", "--all", "--plain", "--jobs", "2")
    process = subprocess.Popen(
        command, env=embedded.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert ": equal" in process.stdout.readline()
    os.killpg(process.pid, signal.SIGINT)  # what a terminal does: every process of the group gets it
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert said == "repairlab: interrupted; run the command again to go on\n"
    assert not list((embedded.cache / "scratch").glob("audit-*"))


def test_a_replay_without_tests_needs_no_sandbox_run(embedded: Any) -> None:
    done = embedded.run("audit", "embedded", "ledgerline-text-round-trip.H000", "--no-tests", "--plain")
    assert "2 cells replayed, 0 differ (test runs taken from the record)" in done.stdout


def edit_json(change: Callable[[Any], None]) -> Callable[[Path], None]:
    def edit(path: Path) -> None:
        value = json.loads(path.read_text())
        change(value)
        path.write_text(json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False) + "\n")

    return edit


def edit_record(position: int, change: Callable[[Any], None]) -> Callable[[Path], None]:
    def edit(path: Path) -> None:
        lines = path.read_text().splitlines()
        value = json.loads(lines[position])
        change(value)
        lines[position] = json.dumps(value, sort_keys=True, separators=(",", ":"))
        path.write_text("\n".join(lines) + "\n")

    return edit


@pytest.mark.parametrize(
    ("name", "edit", "where"),
    [
        ("metrics.json", edit_json(lambda m: m.update(tool_calls=m["tool_calls"] - 1)), "metrics.json"),
        ("metrics.json", edit_json(lambda m: m.update(files_shown=[])), "metrics.json"),
        ("tests.json", edit_json(lambda t: t.update(runs=2)), "tests.json"),
        ("patch.diff", lambda p: p.write_bytes(p.read_bytes().replace(b"esc", b"Esc", 1)), "patch.diff"),
        ("transcript.jsonl", edit_record(2, lambda r: r.update(text=r["text"] + " ")), "transcript record 2"),
        ("transcript.jsonl", edit_record(0, lambda r: r["body"].update(seed=1)), "transcript record 0"),
        ("transcript.jsonl", edit_record(2, lambda r: r["shown"][0].update(end_line=1)), "record 2"),
        ("timing.json", edit_json(lambda t: t["agent_intervals"].pop()), "no interval"),
    ],
)  # fmt: skip
def test_a_forged_artifact_with_fitting_checksums_is_found_by_the_replay(
    copied: Any, name: str, edit: Callable[[Path], None], where: str
) -> None:
    cell = one_cell(copied)
    edit(cell / name)
    reseal(cell)
    done = copied.run("audit", "embedded", cell.name, "--plain", expect=1)
    assert where in done.stdout + done.stderr


def test_a_forged_reply_leads_to_another_cell(copied: Any) -> None:
    """With the model's patch withheld, nothing after it can come out as recorded."""
    cell = one_cell(copied)
    lines = (cell / "transcript.jsonl").read_text().splitlines()
    position = next(i for i, line in enumerate(lines) if "apply_patch" in line and '"reply"' in line)

    def withhold(record: Any) -> None:
        (call,) = record["body"]["choices"][0]["message"]["tool_calls"]
        call["function"]["arguments"] = json.dumps({"diff": "nothing"})

    edit_record(position, withhold)(cell / "transcript.jsonl")
    reseal(cell)
    done = copied.run("audit", "embedded", cell.name, "--plain", expect=1)
    assert f"transcript record {position + 1}" in done.stdout


@pytest.mark.parametrize("name", [*ARTIFACTS, TIMING, SUMS, OUTCOME_SUMS])
def test_one_flipped_byte_in_any_file_is_found_by_verify(copied: Any, name: str) -> None:
    path = one_cell(copied) / name
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))
    done = copied.run("verify", "embedded", expect=2)
    assert one_cell(copied).name in done.stderr


def test_an_audit_without_a_cell_says_how_to_ask(embedded: Any) -> None:
    assert "name a cell to audit, or give --all" in embedded.run("audit", "embedded", expect=2).stderr
    assert "begins with 'nothing'" in embedded.run("audit", "embedded", "nothing", expect=2).stderr
