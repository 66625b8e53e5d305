"""A fix that was used for something else is no task of a preregistered experiment."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from repairlab.contract.errors import BadInput
from repairlab.contract.study import Study, load_inputs

ROOT = Path(__file__).resolve().parent.parent.parent

EXPERIMENT = """
schema_version = 1
name = "e08-try"
kind = "{kind}"
title = "a study with one task"
tasks = ["{task}"]
treatments = ["H000"]
models = ["M002"]
seeds = [0]
host = "lmstudio"

[order]
seed = "s"
model_offsets = [0]
"""


@pytest.fixture
def study(tmp_path: Path) -> Study:
    for name in ("contracts", "preregistration"):
        shutil.copytree(ROOT / name, tmp_path / name)
    (tmp_path / "experiments").mkdir()
    return Study(tmp_path)


def write(study: Study, kind: str, task: str) -> None:
    study.experiment_file("e08-try").write_text(EXPERIMENT.format(kind=kind, task=task))


@pytest.mark.parametrize("task", ["sympy-block-diagonal-scalars", "sqlglot-stale-hash"])
def test_a_task_of_the_pilot_is_refused(study: Study, task: str) -> None:
    write(study, "main", task)
    with pytest.raises(BadInput, match=f"tasks: {task} is the fix .* excluded: task of the pilot"):
        load_inputs(study, "e08-try")


def test_another_name_and_another_repository_are_no_way_round(study: Study) -> None:
    path = study.task_file("sqlglot-stale-hash")
    text = path.read_text().replace('"sqlglot-stale-hash"', '"renamed"')
    study.task_file("renamed").write_text(text.replace("tobymao/sqlglot", "someone/fork"))
    write(study, "main", "renamed")
    with pytest.raises(BadInput, match="renamed is the fix 08e61b775bd6"):
        load_inputs(study, "e08-try")


def test_other_tasks_pass_and_other_kinds_of_experiments_ask_nothing(study: Study) -> None:
    write(study, "main", "almanak-crooked-tables")
    assert list(load_inputs(study, "e08-try").tasks) == ["almanak-crooked-tables"]
    write(study, "trial", "sqlglot-stale-hash")
    assert list(load_inputs(study, "e08-try").tasks) == ["sqlglot-stale-hash"]


def test_a_study_without_the_list_is_refused(study: Study) -> None:
    study.excluded_file.unlink()
    write(study, "main", "almanak-crooked-tables")
    with pytest.raises(BadInput, match=r"excluded\.toml does not exist"):
        load_inputs(study, "e08-try")
