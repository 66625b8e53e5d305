"""Fixtures of the analysis: simulated stores, written and sealed by the product's own code."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from repairlab.analysis.frames import Frames, read_frames
from repairlab.analysis.plan import plan_of
from repairlab.cli.simulating import Wanted, simulate_command
from repairlab.contract.study import Inputs, Study, load_inputs, open_study
from repairlab.manifest.freeze import Frozen, read_frozen
from repairlab.store.layout import Layout

ROOT = Path(__file__).resolve().parent.parent.parent


class Store(NamedTuple):
    """A simulated study and its one experiment."""

    study: Study
    name: str

    @property
    def layout(self) -> Layout:
        return Layout(self.study.raw / self.name, self.study.incomplete / self.name)

    @property
    def inputs(self) -> Inputs:
        return load_inputs(self.study, self.name)

    @property
    def frozen(self) -> Frozen:
        return read_frozen(self.study, self.name)

    def frames(self, processes: int = 1) -> Frames:
        return read_frames(plan_of(self.inputs, self.frozen), self.layout, processes)

    def cells(self) -> list[Path]:
        return sorted(self.layout.raw.iterdir())


def make(target: Path, **changes: Any) -> Store:
    """Simulate an experiment with two tasks of each repository, changed as said."""
    given: Mapping[str, Any] = {
        "name": "simulated", "tasks": 2, "seed": 1, "base": 0.3, "effects": (), "failing": (), "missing": 0,
        "blocked": 0, "stop_after": None, "rehearsal": False,
    }  # fmt: skip
    wanted = Wanted(study=ROOT, target=target, **{**given, **changes})
    simulate_command(wanted)
    return Store(open_study(target), wanted.name)


@pytest.fixture
def simulate(tmp_path: Path) -> Callable[..., Store]:
    return lambda **changes: make(tmp_path / changes.pop("folder", "simulated"), **changes)


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Complete, two tasks of each repository; tests only read it."""
    return make(tmp_path_factory.mktemp("small") / "study", failing=("H007=0.5",))


@pytest.fixture
def damaged(small: Store, tmp_path: Path) -> Store:
    """A copy of the small store for a test to damage: files are shared until one is replaced."""
    shutil.copytree(small.study.root, tmp_path / "damaged", copy_function=os.link)
    return Store(open_study(tmp_path / "damaged"), small.name)
