"""The command that simulates power reads hypotheses and no outcome."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from repairlab.cli.powering import Asked, power_command
from repairlab.contract.errors import BadInput

ROOT = Path(__file__).resolve().parents[2]


def asked(seed: int = 3, *, json_output: bool = True, study: Path = ROOT) -> Asked:
    return Asked(study, tasks=60, datasets=100, seed=seed, json_output=json_output)


def test_it_simulates_the_registered_family_and_repeats(capsys: pytest.CaptureFixture[str]) -> None:
    power_command(asked())
    first = capsys.readouterr().out
    power_command(asked())
    assert capsys.readouterr().out == first
    power_command(asked(seed=4))
    other = capsys.readouterr().out
    document = json.loads(first)
    assert (document["seed"], document["tasks"], document["datasets"]) == (3, 60, 100)
    assert (document["one_contrast"][1]["pairing"], document["one_contrast"][1]["base"]) == ("low", 0.2)
    assert len(document["one_contrast"]) == 12
    assert len(document["family"]) == 12
    assert set(document["family"][0]["graph"]) == {"C1", "C2", "C3", "C4", "C5"}
    assert json.loads(other)["one_contrast"] != document["one_contrast"]


def test_its_tables_say_how_exact_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    power_command(asked(json_output=False))
    shown = capsys.readouterr().out
    assert "seed 3, 60 tasks, 100 simulated studies a row" in shown
    assert "at most 5.00 points" in shown
    assert shown.count("\n  low   ") == 4
    assert "retrieval without effect" in shown


def test_a_study_without_hypotheses_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput):
        power_command(asked(study=tmp_path))
