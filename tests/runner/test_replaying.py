"""Replays in processes of their own: what is handed out, in which order results come back, who may die."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repairlab.contract.errors import InfrastructureFailure, RefuseToStart
from repairlab.contract.study import Study, load_inputs
from repairlab.manifest.expand import expand
from repairlab.runner.audited import Audited
from repairlab.runner.replaying import Opener, Replay, _units, replay_all

OPENERS = """
import os, pathlib, sys, time
from repairlab.contract.errors import RefuseToStart
from repairlab.runner.audited import Audited

class Auditor:
    def __init__(self, log, task): self.log, self.task = log, task
    def audit(self, folder, cell):
        with open(self.log, "a") as log: log.write(f"{os.getpid()} {self.task} {folder.name}\\n")
        if cell.sequence == 0: time.sleep(0.5)  # the first one is done last
        if (folder / "die").exists(): os._exit(7)
        return Audited(folder.name, "odd" if cell.sequence % 2 else "", True)

class Open:
    def __init__(self, log): self.log = log
    def __call__(self):
        def open_task(task):
            if os.environ.get("REFUSE") == task: raise RefuseToStart("no two", repair="get two")
            with open(self.log, "a") as log: log.write(f"{os.getpid()} open {task}\\n")
            return Auditor(self.log, task)
        return open_task
"""


@pytest.fixture
def opener(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Opener:
    """Auditors that write down what they do; a fresh process finds them by name."""
    (tmp_path / "plain_openers.py").write_text(OPENERS)
    monkeypatch.syspath_prepend(str(tmp_path))
    import importlib

    module: Any = importlib.import_module("plain_openers")
    module.__file__ = str(tmp_path / "plain_openers.py")
    made: Opener = module.Open(str(tmp_path / "log"))
    return made


@pytest.fixture
def replays(study: Study, tmp_path: Path) -> tuple[Replay, ...]:
    cells = expand(load_inputs(study, "small"), "c" * 64).cells
    folders = [tmp_path / f"cell-{cell.sequence}" for cell in cells]
    for folder in folders:
        folder.mkdir()
    return tuple(Replay(cell.sequence, folder, cell) for cell, folder in zip(cells, folders, strict=True))


def nothing(_replay: Replay, _audited: Audited) -> None:
    pass


def test_results_come_in_the_order_asked_for_whatever_is_done_first(
    opener: Opener, replays: tuple[Replay, ...], tmp_path: Path
) -> None:
    seen: list[int] = []
    results = replay_all(replays, 2, opener, lambda replay, _audited: seen.append(replay.place))
    assert [one.cell for one in results] == [replay.folder.name for replay in replays]
    assert [bool(one.difference) for one in results] == [replay.place % 2 == 1 for replay in replays]
    assert sorted(seen) == [replay.place for replay in replays]
    assert seen[0] != 0  # completion order is another one: the first cell takes longest
    lines = [line.split() for line in (tmp_path / "log").read_text().splitlines()]
    assert len({pid for pid, *_ in lines}) == 2


def test_a_process_that_dies_costs_the_cell_that_it_was_at(
    opener: Opener, replays: tuple[Replay, ...]
) -> None:
    (replays[5].folder / "die").touch()
    results = replay_all(replays, 2, opener, nothing)
    assert [one.cell for one in results if one.trouble] == ["cell-5"]
    assert "exit status 7" in results[5].trouble
    assert not results[5].difference


def test_processes_that_die_one_after_the_other_end_the_command(
    opener: Opener, replays: tuple[Replay, ...]
) -> None:
    for replay in replays:
        (replay.folder / "die").touch()
    with pytest.raises(InfrastructureFailure, match="exit status 7"):
        replay_all(replays, 2, opener, nothing)


def test_what_cannot_be_opened_is_refused_with_its_repair(
    opener: Opener, replays: tuple[Replay, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REFUSE", "two-a")
    with pytest.raises(RefuseToStart, match="get two"):
        replay_all(replays, 2, opener, nothing)


@given(counts=st.lists(st.integers(1, 15), max_size=12), jobs=st.integers(1, 9))
def test_units_are_the_cells_in_order_and_never_mix_tasks(counts: list[int], jobs: int) -> None:
    class Named:
        def __init__(self, task: str) -> None:
            self.task = task

    tasks = [f"t{number}" for number, count in enumerate(counts) for _ in range(count)]
    asked: Any = [Replay(place, Path(), Named(task)) for place, task in enumerate(tasks)]
    units = list(_units(asked, jobs))
    assert [replay for unit in units for replay in unit] == asked
    assert all(len({replay.cell.task for replay in unit}) == 1 for unit in units)
    if len(asked) >= 2 * jobs:
        assert len(units) >= jobs
