"""Freezing, and every way in which a frozen study can differ afterwards."""

from __future__ import annotations

import json

import pytest

from repairlab.contract.errors import BadInput, RefuseToStart
from repairlab.contract.study import Study, load_inputs
from repairlab.manifest.freeze import (
    Frozen,
    SourceState,
    differences,
    encode,
    manifest_file,
    read_frozen,
    record_file,
)
from repairlab.manifest.making import Moment, make_freeze
from repairlab.manifest.revision import Code

CODE = Code("c" * 64, {"src/agents/loop.py": "1" * 64, "src/search/exact.py": "2" * 64})
OTHER = Code("d" * 64, {"src/agents/loop.py": "1" * 64, "src/search/exact.py": "3" * 64})
MOMENT = Moment(SourceState("a" * 40, dirty=False), "2026-01-01T00:00:00Z")
KEYS = dict.fromkeys(("one-a", "one-b", "two-a"), "e" * 64)


def freeze(study: Study) -> Frozen:
    frozen = make_freeze(study, load_inputs(study, "small"), CODE, MOMENT)
    manifest_file(study, "small").write_bytes(encode(frozen.manifest))
    record_file(study, "small").write_bytes(encode(frozen.record))
    return frozen


def test_a_freeze_reads_back_equal(study: Study) -> None:
    frozen = freeze(study)
    assert read_frozen(study, "small") == frozen


def test_nothing_differs_right_after_a_freeze(study: Study) -> None:
    assert differences(study, load_inputs(study, "small"), freeze(study), CODE) == ()


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("contracts/shared.toml", "tool_calls = 12", "tool_calls = 13"),
        ("contracts/shared.toml", "# Shared controls", "# Controls"),
        ("preregistration/tasks/two-a.toml", "evaluation_seconds = 120", "evaluation_seconds = 121"),
        ("experiments/small.toml", "[0, 1]", "[0, 0]"),
    ],
)
def test_a_changed_input_is_named(study: Study, file: str, old: str, new: str) -> None:
    frozen = freeze(study)
    path = study.root / file
    path.write_text(path.read_text().replace(old, new, 1))
    assert f"{file}: changed since the freeze" in differences(
        study, load_inputs(study, "small"), frozen, CODE
    )


def test_a_new_contract_file_is_named(study: Study) -> None:
    frozen = freeze(study)
    (study.contracts / "more.toml").write_text("x = 1")
    found = differences(study, load_inputs(study, "small"), frozen, CODE)
    assert found == ("contracts/more.toml: not among the frozen files",)


def test_changed_code_is_named(study: Study) -> None:
    frozen = freeze(study)
    (message,) = differences(study, load_inputs(study, "small"), frozen, OTHER)
    assert message == (
        "research code: revision dddddddddddd is not the frozen cccccccccccc (src/search/exact.py)"
    )


def test_r05a_other_bytes_of_the_same_meaning_are_accepted(study: Study) -> None:
    frozen = freeze(study)
    path = manifest_file(study, "small")
    path.write_text(json.dumps(json.loads(path.read_text()), sort_keys=True))
    assert read_frozen(study, "small") == frozen


def test_r05b_one_number_changed_in_the_manifest_is_refused(study: Study) -> None:
    freeze(study)
    path = manifest_file(study, "small")
    path.write_text(path.read_text().replace('"seed": 0', '"seed": 1', 1))
    with pytest.raises(RefuseToStart, match=r"small\.manifest\.json: digest .* is not the frozen"):
        read_frozen(study, "small")


def test_r05d_a_duplicate_key_in_the_manifest_is_refused(study: Study) -> None:
    freeze(study)
    path = manifest_file(study, "small")
    path.write_text(
        path.read_text().replace('"schema_version": 1', '"schema_version": 1,\n"schema_version": 1', 1)
    )
    with pytest.raises(BadInput, match="occurs twice"):
        read_frozen(study, "small")


def test_r05e_a_homoglyph_in_a_label_is_refused(study: Study) -> None:
    freeze(study)
    path = manifest_file(study, "small")
    path.write_text(path.read_text().replace('"treatment": "H', '"treatment": "\u041d', 1))
    with pytest.raises(BadInput, match="treatment"):
        read_frozen(study, "small")


def test_an_experiment_that_is_not_frozen_says_how_to_freeze_it(study: Study) -> None:
    with pytest.raises(RefuseToStart, match="run: repairlab freeze small"):
        read_frozen(study, "small")


def preregistered(study: Study) -> None:
    path = study.experiments / "small.toml"
    text = path.read_text().replace('"calibration"', '"main"').replace('"emulator"', '"lmstudio"')
    text = text.replace('["FLOOR", "NAVIGATOR"]', '["M002", "M003"]').replace("allow_unsandboxed = true", "")
    path.write_text(text)


def test_a_main_freeze_refuses_unpinned_model_facts(study: Study) -> None:
    preregistered(study)
    with pytest.raises(RefuseToStart, match="M002: key, format"):
        make_freeze(study, load_inputs(study, "small"), CODE, MOMENT)


def test_a_main_freeze_refuses_a_dirty_source_tree(study: Study) -> None:
    preregistered(study)
    path = study.contracts / "models.toml"
    path.write_text(path.read_text().replace('"unpinned"', '"verified"'))
    inputs = load_inputs(study, "small")
    with pytest.raises(RefuseToStart, match="uncommitted changes"):
        make_freeze(study, inputs, CODE, Moment(SourceState("a" * 40, dirty=True), ""), KEYS)
    assert make_freeze(study, inputs, CODE, MOMENT, KEYS).record.cells == 12


def test_a_main_experiment_refuses_calibration_models(study: Study) -> None:
    preregistered(study)
    path = study.experiments / "small.toml"
    path.write_text(path.read_text().replace('"M002", "M003"', '"M002", "FLOOR"'))
    with pytest.raises(BadInput, match="FLOOR is a calibration model; a main run refuses it"):
        load_inputs(study, "small")


def test_a_main_freeze_names_every_test_environment(study: Study) -> None:
    preregistered(study)
    path = study.contracts / "models.toml"
    path.write_text(path.read_text().replace('"unpinned"', '"verified"'))
    with pytest.raises(RefuseToStart, match="environment of two-a is not known"):
        make_freeze(study, load_inputs(study, "small"), CODE, MOMENT, {"one-a": "e" * 64, "one-b": "e" * 64})


def test_a_main_freeze_holds_the_plan_and_not_the_log(study: Study) -> None:
    preregistered(study)
    path = study.contracts / "models.toml"
    path.write_text(path.read_text().replace('"unpinned"', '"verified"'))
    for name in ("PLAN.md", "hypotheses.toml", "DEVIATIONS.md", "unblinding.jsonl"):
        (study.preregistration / name).write_text("x")
    inputs = load_inputs(study, "small")
    frozen = make_freeze(study, inputs, CODE, MOMENT, KEYS)
    own = {
        path for path in frozen.record.inputs if path.count("/") == 1 and path.startswith("preregistration/")
    }
    assert own == {f"preregistration/{name}" for name in ("PLAN.md", "excluded.toml", "hypotheses.toml")}
    (study.preregistration / "hypotheses.toml").write_text("y")
    assert differences(study, inputs, frozen, CODE) == (
        "preregistration/hypotheses.toml: changed since the freeze",
    )


def test_the_required_level_of_the_host_is_frozen(study: Study) -> None:
    frozen = freeze(study)
    assert frozen.record.host_level == "rest"
    path = study.experiments / "small.toml"
    path.write_text(
        path.read_text().replace("allow_unsandboxed", 'host_level = "rest+lms"\nallow_unsandboxed')
    )
    found = differences(study, load_inputs(study, "small"), frozen, CODE)
    assert "host level: rest+lms, not the frozen rest" in found
