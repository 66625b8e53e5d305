"""The pilot on real repositories, which `make test-real` runs. See README on where they come from."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from repairlab.store.sealed import check_seal

ROOT = Path(__file__).resolve().parent.parent.parent
REPAIRLAB = [sys.executable, "-m", "repairlab.cli"]

pytestmark = pytest.mark.real


def run(study: Path, *arguments: str) -> str:
    done = subprocess.run(
        [*REPAIRLAB, *arguments, "--study", str(study)],
        capture_output=True, text=True, env=dict(os.environ), check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def sealed(study: Path) -> dict[str, Path]:
    return {cell.name: cell for cell in sorted((study / "raw" / "pilot").iterdir())}


@pytest.fixture(scope="module")
def pilot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    study = tmp_path_factory.mktemp("pilot")
    ignored = shutil.ignore_patterns("*.freeze.json", "*.manifest.json")
    for name in ("contracts", "experiments", "preregistration"):
        shutil.copytree(ROOT / name, study / name, ignore=ignored)
    run(study, "freeze", "pilot")
    run(study, "run", "pilot", "--plain")
    return study


def test_the_navigator_resolves_every_real_bug_and_the_floor_none(pilot: Path) -> None:
    cells = sealed(pilot)
    assert len(cells) == 12
    for name, cell in cells.items():
        check_seal(cell)
        expected = 1 if ".NAVIGATOR." in name else 0
        assert json.loads((cell / "metrics.json").read_text())["resolved_at_1"] == expected, name


def test_every_replay_is_equal(pilot: Path) -> None:
    assert "12 cells replayed, 0 differ" in run(pilot, "audit", "pilot", "--all", "--plain")


def test_a_plain_copy_gives_the_same_verdicts_and_patches(pilot: Path, tmp_path: Path) -> None:
    other = tmp_path / "study"
    for name in ("contracts", "experiments", "preregistration"):
        shutil.copytree(pilot / name, other / name)
    run(other, "run", "pilot", "--plain", "--sandbox", "copy")
    ours, theirs = sealed(pilot), sealed(other)
    assert ours.keys() == theirs.keys()
    for name in ours:
        for artifact in ("metrics.json", "tests.json", "patch.diff"):
            assert (ours[name] / artifact).read_bytes() == (theirs[name] / artifact).read_bytes(), (
                name,
                artifact,
            )
