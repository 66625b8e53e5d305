"""Attempts, seals, integrity and locks."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from repairlab.contract.errors import IntegrityViolation, RefuseToStart
from repairlab.manifest.cell import Cell
from repairlab.store.attempt import Attempt
from repairlab.store.layout import Layout, prepare_layout
from repairlab.store.lock import writer_lock
from repairlab.store.sealed import check_seal, faults, read_cell, sealed_names

Fill = Callable[[Attempt, Cell], None]
Seal = Callable[[Cell], Path]


def test_a_sealed_cell_holds_its_artifacts_and_nothing_stays_behind(
    layout: Layout, cells: tuple[Cell, ...], seal: Seal
) -> None:
    folder = seal(cells[0])
    assert folder == layout.raw / cells[0].name
    assert {p.name for p in folder.iterdir()} == {
        "cell.json", "metrics.json", "tests.json", "transcript.jsonl", "patch.diff", "timing.json",
        "SHA256SUMS", "SHA256SUMS.outcome",
    }  # fmt: skip
    assert not (layout.incomplete / cells[0].name).exists()
    assert sealed_names(layout) == (cells[0].name,)
    assert read_cell(folder).cell == cells[0]


def test_a_sealed_cell_is_read_only(cells: tuple[Cell, ...], seal: Seal) -> None:
    folder = seal(cells[0])
    assert folder.stat().st_mode & 0o222 == 0
    assert all(path.stat().st_mode & 0o222 == 0 for path in folder.iterdir())


def test_the_checksum_list_is_read_by_sha256sum(cells: tuple[Cell, ...], seal: Seal) -> None:
    folder = seal(cells[0])
    for name in ("SHA256SUMS", "SHA256SUMS.outcome"):
        subprocess.run(["sha256sum", "--check", "--strict", "--quiet", name], cwd=folder, check=True)


def test_clocks_move_the_whole_seal_and_not_the_outcome(
    layout: Layout, cells: tuple[Cell, ...], fill: Fill
) -> None:
    seals = []
    for seconds in (1, 2):
        with Attempt(layout, cells[seconds].name) as attempt:
            fill(attempt, cells[0])
            attempt.write_json("timing.json", {"seconds": seconds})
            seals.append(check_seal(attempt.seal()))
    assert seals[0].outcome == seals[1].outcome
    assert seals[0].whole != seals[1].whole


@pytest.mark.parametrize(
    "name",
    [
        "cell.json",
        "metrics.json",
        "tests.json",
        "transcript.jsonl",
        "patch.diff",
        "timing.json",
        "SHA256SUMS",
    ],
)
def test_one_changed_byte_is_found(cells: tuple[Cell, ...], seal: Seal, name: str) -> None:
    folder = seal(cells[0])
    path = folder / name
    folder.chmod(0o755)
    path.chmod(0o644)
    path.write_bytes(path.read_bytes() + b" ")
    with pytest.raises(IntegrityViolation, match="SHA256SUMS"):
        check_seal(folder)


@pytest.mark.parametrize("name", ["metrics.json", "SHA256SUMS", "SHA256SUMS.outcome"])
def test_a_missing_artifact_is_named(cells: tuple[Cell, ...], seal: Seal, name: str) -> None:
    folder = seal(cells[0])
    folder.chmod(0o755)
    (folder / name).unlink()
    with pytest.raises(IntegrityViolation, match=f"{name} is missing"):
        check_seal(folder)


def test_a_foreign_file_is_named(cells: tuple[Cell, ...], seal: Seal) -> None:
    folder = seal(cells[0])
    folder.chmod(0o755)
    (folder / "more").write_text("")
    with pytest.raises(IntegrityViolation, match="more is foreign"):
        check_seal(folder)


def test_a_cell_under_another_name_is_found(layout: Layout, cells: tuple[Cell, ...], seal: Seal) -> None:
    folder = seal(cells[0])
    folder.chmod(0o755)
    folder.rename(layout.raw / cells[1].name)
    (message,) = faults(layout, {cell.name: cell for cell in cells})
    assert f"holds the cell {cells[0].name}" in message


def test_a_cell_that_differs_from_the_plan_is_found(
    layout: Layout, cells: tuple[Cell, ...], seal: Seal
) -> None:
    seal(cells[0])
    planned = {cells[0].name: cells[0].model_copy(update={"sequence": 99})}
    (message,) = faults(layout, planned)
    assert "differs from the frozen manifest" in message


def test_sound_cells_have_no_faults(layout: Layout, cells: tuple[Cell, ...], seal: Seal) -> None:
    seal(cells[0])
    assert list(faults(layout, {cell.name: cell for cell in cells})) == []


@pytest.mark.parametrize(
    ("name", "old", "new", "words"),
    [
        ("metrics.json", '"tool_calls": 0', '"tool_calls": -1', "tool_calls"),
        ("metrics.json", '"label": ""', '"label": "official"', "label"),
        ("metrics.json", '"resolved_at_1": 0', '"resolved_at_1": 1', "contradict"),
        ("metrics.json", '"patch_bytes": 0', '"patch_bytes": 0, "score": 1', "score"),
        ("tests.json", '"passed"', '"fine"', "required"),
        ("timing.json", '"seconds": 0.1', '"seconds": -0.1', "seconds"),
        ("transcript.jsonl", '"n":0', '"n":1', "stands where 0 belongs"),
        ("transcript.jsonl", '"finished"', '"done"', "reason"),
        ("cell.json", '"freeze": "f', '"freeze": "x', "freeze"),
    ],
)
def test_a_sealed_artifact_of_another_form_is_found(
    layout: Layout, cells: tuple[Cell, ...], fill: Fill, name: str, old: str, new: str, words: str
) -> None:
    with Attempt(layout, cells[0].name) as attempt:
        fill(attempt, cells[0])
        path = attempt.folder / name
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new, 1))
        attempt.seal()
    (message,) = faults(layout, {cell.name: cell for cell in cells})
    assert name in message
    assert words in message


def test_an_attempt_without_an_artifact_cannot_be_sealed(
    layout: Layout, cells: tuple[Cell, ...], fill: Fill
) -> None:
    with Attempt(layout, cells[0].name) as attempt:
        fill(attempt, cells[0])
        (attempt.folder / "patch.diff").unlink()
        with pytest.raises(IntegrityViolation, match="a cell needs"):
            attempt.seal()
    assert sealed_names(layout) == ()


def test_a_cell_is_never_sealed_twice(
    layout: Layout, cells: tuple[Cell, ...], fill: Fill, seal: Seal
) -> None:
    first = check_seal(seal(cells[0]))
    with Attempt(layout, cells[0].name) as attempt:
        fill(attempt, cells[0])
        with pytest.raises(IntegrityViolation, match="sealed already"):
            attempt.seal()
    assert check_seal(layout.sealed(cells[0].name)) == first


def test_attempts_are_numbered_and_failures_counted(layout: Layout, cells: tuple[Cell, ...]) -> None:
    name = cells[0].name
    with Attempt(layout, name) as first:
        first.fail("host-unreachable", "refused")
    with Attempt(layout, name):
        pass  # killed: no failure on record
    with Attempt(layout, name) as third:
        assert third.number == 3
    assert [path.name for path in layout.attempts(name)] == ["attempt-01", "attempt-02", "attempt-03"]
    assert layout.failures(name) == 1
    assert json.loads((layout.attempts(name)[0] / "failure.json").read_text())["kind"] == "host-unreachable"


def test_earlier_attempts_stay_when_a_later_one_is_sealed(
    layout: Layout, cells: tuple[Cell, ...], seal: Seal
) -> None:
    with Attempt(layout, cells[0].name) as attempt:
        attempt.record({"type": "request"})
    seal(cells[0])
    (kept,) = layout.attempts(cells[0].name)
    assert (kept / "transcript.jsonl").read_bytes() == b'{"n":0,"type":"request"}\n'


def test_half_a_surrogate_pair_in_a_reply_can_be_recorded(layout: Layout, cells: tuple[Cell, ...]) -> None:
    with Attempt(layout, cells[0].name) as attempt:
        attempt.record({"type": "reply", "content": "\ud800"})
        line = (attempt.folder / "transcript.jsonl").read_text()
    assert json.loads(line)["content"] == "\ud800"


def test_r03_a_second_runner_is_refused_and_told_who_holds_the_store(layout: Layout) -> None:
    script = (
        "import sys; from pathlib import Path\n"
        "from repairlab.store.layout import Layout; from repairlab.store.lock import writer_lock\n"
        "with writer_lock(Layout(Path(sys.argv[1]), Path(sys.argv[2])), 'now'):\n"
        "    print('held', flush=True); sys.stdin.read()\n"
    )
    command = [sys.executable, "-c", script, str(layout.raw), str(layout.incomplete)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(RefuseToStart, match=f'"pid": {holder.pid}'), writer_lock(layout, "later"):
            pass
        holder.kill()
    with writer_lock(layout, "after the kill"):
        pass


AS_ORDINARY_USER = """
import sys
from pathlib import Path
from repairlab.store.attempt import Attempt
from repairlab.store.layout import Layout, prepare_layout
from repairlab.store.sealed import check_seal
layout = Layout(Path(sys.argv[1]) / "raw", Path(sys.argv[1]) / "incomplete")
prepare_layout(layout)
with Attempt(layout, "cell") as attempt:
    for name in ("cell.json", "metrics.json", "tests.json", "timing.json"):
        attempt.write_json(name, {})
    attempt.write("patch.diff", b"")
    folder = attempt.seal()
check_seal(folder)
try:
    (folder / "metrics.json").write_bytes(b"x")
except PermissionError:
    print("sealed")
"""


def test_an_ordinary_user_can_seal_and_cannot_write_afterwards(as_ordinary_user: list[str]) -> None:
    folder = Path(tempfile.mkdtemp(prefix="repairlab-store-", dir="/tmp"))
    if as_ordinary_user:
        os.chown(folder, 65534, 65534)
    command = [*as_ordinary_user, sys.executable, "-c", AS_ORDINARY_USER, str(folder)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd="/")
    finally:
        subprocess.run(["chmod", "-R", "u+w", str(folder)], check=False)
        shutil.rmtree(folder)
    assert done.stderr == ""
    assert done.stdout == "sealed\n"


def test_r09_a_store_that_cannot_be_written_refuses_before_any_model_call(tmp_path: Path) -> None:
    (tmp_path / "raw").write_text("a file where a folder belongs")
    with pytest.raises(RefuseToStart, match="the store cannot be written"):
        prepare_layout(Layout(tmp_path / "raw", tmp_path / "incomplete"))


def test_two_file_systems_are_refused(tmp_path: Path) -> None:
    shm = Path("/dev/shm")
    if not shm.is_dir():
        pytest.skip("only Linux has a second file system at a known place")
    other = shm / f"repairlab-{os.getpid()}"
    try:
        with pytest.raises(RefuseToStart, match="two file systems"):
            prepare_layout(Layout(tmp_path / "raw", other))
    finally:
        other.rmdir()


def test_a_full_disk_refuses(tmp_path: Path) -> None:
    with pytest.raises(RefuseToStart, match="are free"):
        prepare_layout(Layout(tmp_path / "raw", tmp_path / "incomplete"), needed_bytes=2**60)
