"""Who may see outcomes when, and that every look stays on record."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from repairlab.contract.errors import IntegrityViolation
from repairlab.contract.experiment import Experiment
from repairlab.contract.strict import validate
from repairlab.contract.study import Study
from repairlab.store.blinding import Asked, Blinded, log_file, looks, may_show, open_outcomes, veiled

AT = "2026-12-01T00:00:00Z"


def experiment(kind: str, host: str = "lmstudio", **more: object) -> Experiment:
    data = {
        "schema_version": 1, "name": "e08", "kind": kind, "title": "t", "tasks": ["one-a"],
        "treatments": ["H000"], "models": ["M002"], "seeds": [0], "host": host,
        "order": {"seed": "s", "model_offsets": [0]}, **more,
    }  # fmt: skip
    return validate(Experiment, data, Path("e08.toml"))


RELIABILITY = {
    "design": "reliability", "treatments": [f"H00{n}" for n in range(6)], "models": ["M002", "M003"],
    "order": {"seed": "s", "model_offsets": []},
}  # fmt: skip


def ask(reason: str = "") -> Asked:
    return Asked("show", "somebody", AT, reason)


@pytest.fixture
def study(tmp_path: Path) -> Study:
    (tmp_path / "preregistration").mkdir()
    return Study(tmp_path)


@pytest.mark.parametrize("kind", ["calibration", "trial", "simulation"])
def test_other_experiments_are_not_blinded_and_nothing_is_logged(study: Study, kind: str) -> None:
    assert open_outcomes(study, experiment(kind), 1, 9, ask()) == ()
    assert may_show(study, experiment(kind), 1, 9)
    assert not log_file(study).exists()


@pytest.mark.parametrize(
    "blinded",
    [experiment("main"), experiment("reliability", **RELIABILITY), experiment("simulation", rehearsal=True)],
)
def test_outcomes_of_a_running_experiment_are_closed(study: Study, blinded: Experiment) -> None:
    with pytest.raises(Blinded, match=r"under way \(3 of 9 cells") as error:
        open_outcomes(study, blinded, 3, 9, ask())
    assert error.value.exit_status == 2
    assert not may_show(study, blinded, 3, 9)
    assert not log_file(study).exists()


def test_an_interim_look_needs_a_reason_and_opens_nothing_for_later(study: Study) -> None:
    main = experiment("main")
    with pytest.raises(Blinded):
        open_outcomes(study, main, 3, 9, ask("   "))
    (look,) = open_outcomes(study, main, 3, 9, ask("a fault of the evaluator"))
    assert (look.kind, look.user, look.command, look.sealed, look.planned) == (
        "interim-look", "somebody", "show", 3, 9,
    )  # fmt: skip
    with pytest.raises(Blinded):
        open_outcomes(study, main, 4, 9, ask())
    with pytest.raises(Blinded, match="not unsealed yet"):
        open_outcomes(study, main, 9, 9, ask())


def test_a_complete_experiment_is_unsealed_once(study: Study) -> None:
    main = experiment("main")
    assert not may_show(study, main, 9, 9)
    (look,) = open_outcomes(study, main, 9, 9, ask("complete"))
    assert look.kind == "unsealing"
    assert open_outcomes(study, main, 9, 9, ask()) == (look,)
    assert open_outcomes(study, main, 9, 9, ask("again")) == (look,)
    assert may_show(study, main, 9, 9)
    with pytest.raises(Blinded):
        open_outcomes(study, main, 8, 9, ask())


def test_the_log_is_appended_to_and_no_edit_passes_unseen(study: Study) -> None:
    main = experiment("main")
    for reason in ("first", "second", "third"):
        open_outcomes(study, main, 1, 9, ask(reason))
    path, text = log_file(study), log_file(study).read_text()
    assert [look.reason for look in looks(study, "e08")] == ["first", "second", "third"]
    assert looks(study, "another") == ()
    lines = text.splitlines(keepends=True)
    for edited in (text.replace("first", "worst"), "".join(lines[1:]), lines[0] + lines[2], text + "{}\n"):
        path.write_text(edited)
        with pytest.raises(IntegrityViolation):
            looks(study, "e08")
    path.write_text(text)
    assert len(looks(study, "e08")) == 3
    assert json.loads(lines[0])["at_utc"] == AT


def test_a_rehearsal_is_a_simulation_alone() -> None:
    from repairlab.contract.errors import BadInput

    with pytest.raises(BadInput, match="only a simulation is a rehearsal"):
        experiment("trial", rehearsal=True)


def test_a_difference_of_a_replay_is_named_by_its_place_alone() -> None:
    said = veiled("metrics.json.resolved_at_1: recorded 1, replayed 0")
    assert said == "metrics.json.resolved_at_1: what differs is blinded"
    assert veiled("a form that nobody foresaw: 1") == "somewhere: what differs is blinded"
