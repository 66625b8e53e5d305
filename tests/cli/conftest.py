"""The embedded study, run for real once a session: processes, sockets, git, sandboxed tests."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
REPAIRLAB = [sys.executable, "-m", "repairlab.cli"]
Done = subprocess.CompletedProcess[str]


def copy_study(target: Path) -> Path:
    """The repository's own study without its results."""
    for name in ("contracts", "experiments", "preregistration"):
        shutil.copytree(
            ROOT / name, target / name, ignore=shutil.ignore_patterns("*.freeze.json", "*.manifest.json")
        )
    return target


@dataclass(frozen=True)
class Place:
    """A study and a cache, and a way to run commands on them."""

    study: Path
    cache: Path

    def command(self, *arguments: str) -> list[str]:
        return [*REPAIRLAB, arguments[0], *arguments[1:], "--study", str(self.study)]

    def environment(self) -> dict[str, str]:
        return {**os.environ, "REPAIRLAB_CACHE": str(self.cache)}

    def run(self, *arguments: str, expect: int = 0) -> Done:
        done = subprocess.run(
            self.command(*arguments), capture_output=True, text=True, env=self.environment(), check=False
        )
        assert done.returncode == expect, done.stdout + done.stderr
        return done

    def cells(self, experiment: str = "embedded") -> list[Path]:
        return sorted((self.study / "raw" / experiment).iterdir())


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="session")
def embedded(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Place:
    """The embedded study after one `repairlab demo`; tests only read it."""
    place = Place(copy_study(tmp_path_factory.mktemp("study")), cache)
    place.run("demo", "--plain")
    return place


FEW = ("almanak-rows-without-a-date", "ledgerline-text-round-trip")


@pytest.fixture
def fresh(tmp_path: Path, embedded: Place) -> Place:
    """A frozen study of its own over the same cache, with two of the tasks and nothing sealed.

    The identity of a cell does not depend on which other tasks there are, so its cells have the same names.
    """
    place = Place(copy_study(tmp_path / "study"), embedded.cache)
    path = place.study / "experiments" / "embedded.toml"
    path.write_text(re.sub(r"tasks = \[.*?\]", f"tasks = {list(FEW)}", path.read_text(), flags=re.DOTALL))
    place.run("freeze", "embedded")
    return place


@pytest.fixture
def pairs(embedded: Place) -> Callable[[Place], list[tuple[Path, Path]]]:
    """Each cell of another place beside the cell of the same name in the embedded study."""
    return lambda place: [(embedded.study / "raw" / "embedded" / c.name, c) for c in place.cells()]


@pytest.fixture
def make_place() -> Callable[[Path, Path], Place]:
    return Place


@pytest.fixture(scope="session")
def place_of() -> Callable[[Path, Path], Place]:
    """As `make_place`, for fixtures that outlive a test."""
    return Place


@pytest.fixture
def study_copy() -> Callable[[Path], Path]:
    """Copies the repository's own study without its results to a folder."""
    return copy_study
