"""Strict loading: each fault is named with file, line and field."""

from __future__ import annotations

from pathlib import Path

import pytest

from repairlab.contract.controls import SharedControls
from repairlab.contract.errors import BadInput
from repairlab.contract.strict import StrictModel, load, parse_json
from repairlab.contract.study import Study, load_inputs


def faults(study: Study, file: str, old: str, new: str) -> str:
    path = study.root / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(BadInput) as caught:
        load_inputs(study, "small")
    return str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "field", "words"),
    [
        (
            "agent_clock_seconds = 1800",
            "agent_clock_seconds = 1800\ncolour = 1",
            "budgets.colour",
            "unknown key",
        ),
        ("tool_calls = 12", 'tool_calls = "12"', "budgets.tool_calls", "valid integer"),
        ("tool_calls = 12", "tool_calls = true", "budgets.tool_calls", "valid integer"),
        ("tool_calls = 12", "tool_calls = 12.0", "budgets.tool_calls", "valid integer"),
        ("tool_calls = 12", "tool_calls = 0", "budgets.tool_calls", "greater than or equal to 1"),
        ("snippet_lines = 24", "snippet_lines = nan", "search.snippet_lines", "valid integer"),
    ],
)
def test_a_fault_is_named_with_file_line_and_field(
    study: Study, old: str, new: str, field: str, words: str
) -> None:
    message = faults(study, "contracts/shared.toml", old, new)
    line = (study.contracts / "shared.toml").read_text().split("\n").index(new.split("\n")[-1]) + 1
    assert message.startswith(f"{study.contracts / 'shared.toml'}:{line}: {field}: ")
    assert words in message


def test_a_wrong_unit_points_at_the_field_with_the_right_one(study: Study) -> None:
    message = faults(study, "contracts/shared.toml", "agent_clock_seconds = 1800", "agent_clock_minutes = 30")
    assert (
        "budgets.agent_clock_minutes: unknown key (the unit is part of the name: agent_clock_seconds)"
        in message
    )
    assert "budgets.agent_clock_seconds: missing field" in message


def test_a_misspelt_key_is_answered_with_the_nearest(study: Study) -> None:
    message = faults(study, "experiments/small.toml", "allow_unsandboxed", "allow_unsandboxd")
    assert "did you mean allow_unsandboxed?" in message


def test_a_missing_table_points_at_the_file(study: Study) -> None:
    message = faults(study, "contracts/shared.toml", "[paths]\nlisted_files = 100", "")
    assert ":1: paths: missing field" in message


def test_broken_toml_names_the_line(study: Study) -> None:
    message = faults(study, "contracts/shared.toml", "tool_calls = 12", "tool_calls = = 12")
    assert "not valid TOML" in message
    assert "line" in message


def test_a_date_is_no_text(study: Study) -> None:
    message = faults(study, "experiments/small.toml", 'title = "A small experiment"', "title = 2026-01-01")
    assert "a date stands where text or a number belongs" in message


def test_a_file_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_bytes(b'a = "\xff"')
    with pytest.raises(BadInput, match=r"x\.toml: not UTF-8 \(byte 5\)"):
        load(SharedControls, path)


def test_an_entry_of_an_array_of_tables_is_found_by_its_line(tmp_path: Path) -> None:
    class Row(StrictModel):
        size: int

    class Rows(StrictModel):
        row: tuple[Row, ...]

    path = tmp_path / "rows.toml"
    path.write_text("[[row]]\nsize = 1\n\n[[row]]\n# note\nsize = 'x'\n")
    with pytest.raises(BadInput, match=r"rows\.toml:6: row\.1\.size: "):
        load(Rows, path)


def test_r05d_a_duplicate_key_in_json_is_refused() -> None:
    class One(StrictModel):
        a: int

    with pytest.raises(BadInput, match="occurs twice"):
        parse_json(One, b'{"a": 1, "a": 2}', "x.json")


@pytest.mark.parametrize(
    ("file", "old", "new", "words"),
    [
        ("experiments/small.toml", '"H000", "H018"', '"H000", "H999"', "treatments: unknown 'H999'"),
        ("experiments/small.toml", '"FLOOR", "NAVIGATOR"', '"FLOOR", "M002"', "M002 does not fit"),
        ("experiments/small.toml", '"FLOOR", "NAVIGATOR"', '"FLOOR", "EMB002"', "EMB002 is no agent"),
        ("experiments/small.toml", '"one-a", "one-b"', '"one-a", "gone"', "does not exist"),
        ("experiments/small.toml", '"one-a", "one-b"', '"one-a", "one-a"', "tasks lists an entry twice"),
        ("experiments/small.toml", "seeds = [0]", "seeds = [2147483648]", "seeds lie between"),
        ("experiments/small.toml", "[0, 1]", "[0]", "one offset for each model"),
        ("experiments/small.toml", 'kind = "calibration"', 'kind = "main"', "runs on host = 'lmstudio'"),
        ("experiments/small.toml", 'name = "small"', 'name = "other"', "the file is called small.toml"),
        ("preregistration/tasks/one-a.toml", 'id = "one-a"', 'id = "one-x"', "the file is called one-a.toml"),
        ("preregistration/tasks/one-a.toml", '["pkg/a.py"]', '["/pkg/a.py"]', "not a plain relative path"),
        ("preregistration/tasks/one-a.toml", '["pkg/a.py"]', '["pkg/../a.py"]', "not a plain relative path"),
        ("preregistration/tasks/one-a.toml", "test_old", "test_new", "both fail-to-pass and pass-to-pass"),
        ("preregistration/tasks/one-a.toml", '"embedded:one"', '"https://example.org/x"', "hostile code"),
        (
            "contracts/treatments.toml",
            '"run_tests", "finish"]',
            '"run_test", "finish"]',
            "no file in prompts/tools",
        ),
        ("contracts/models.toml", "temperature = 0.0\n", "", "an agent needs temperature and top_p"),
    ],
)
def test_inputs_that_contradict_each_other_are_refused(
    study: Study, file: str, old: str, new: str, words: str
) -> None:
    assert words in faults(study, file, old, new)


def test_an_unknown_experiment_lists_the_known_ones(study: Study) -> None:
    with pytest.raises(BadInput, match="experiments here: small"):
        load_inputs(study, "smal")
