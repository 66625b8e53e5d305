"""First requests: the same for every treatment of a task but for declared slots, and free of secrets."""

from __future__ import annotations

from repairlab.agents.prompts import first_messages, tool_schemas
from repairlab.contract.study import Inputs, Study, load_inputs


def texts(inputs: Inputs, treatment: str) -> list[str]:
    messages = first_messages(
        inputs.tasks["one-a"], inputs.treatments[treatment], inputs.wording, inputs.shared.budgets
    )
    return [str(message["content"]) for message in messages if isinstance(message, dict)]


def test_treatments_differ_in_the_oracle_slot_alone(study: Study) -> None:
    inputs = load_inputs(study, "small")
    plain, oracle = texts(inputs, "H000"), texts(inputs, "H018")
    slot = inputs.wording.prompts.oracle.replace("$files", "- pkg/a.py") + "\n"
    assert plain[0] == oracle[0]
    assert oracle[1].count(slot) == 1
    assert oracle[1].replace(slot, "") == plain[1]


def test_only_the_oracle_sees_the_name_of_a_gold_file(study: Study) -> None:
    inputs = load_inputs(study, "small")
    assert "pkg/a.py" not in "".join(texts(inputs, "H000"))
    assert "- pkg/a.py\n" in texts(inputs, "H018")[1]


def test_a_file_that_the_fix_creates_is_listed_as_new(study: Study) -> None:
    path = study.task_file("one-a")
    path.write_text(
        path.read_text().replace('["pkg/a.py"]', '["pkg/a.py", "pkg/b.py"]\ncreated_files = ["pkg/b.py"]')
    )
    assert "- pkg/a.py\n- pkg/b.py (new file)\n" in texts(load_inputs(study, "small"), "H018")[1]


def test_no_test_id_no_hidden_file_and_no_digest_is_in_a_prompt(study: Study) -> None:
    inputs = load_inputs(study, "small")
    task = inputs.tasks["one-a"]
    text = "".join(texts(inputs, "H000") + texts(inputs, "H018"))
    for secret in (*task.required_tests, *task.hidden_test_files, task.fix, task.base, *task.public_tests):
        assert secret not in text


def test_the_statement_stands_between_its_markers_byte_for_byte(study: Study) -> None:
    inputs = load_inputs(study, "small")
    assert f"\n<statement>\n{inputs.tasks['one-a'].statement}\n</statement>\n" in texts(inputs, "H000")[1]


def test_budgets_in_the_prompt_are_the_frozen_ones(study: Study) -> None:
    path = study.contracts / "shared.toml"
    path.write_text(path.read_text().replace("tool_calls = 12", "tool_calls = 7"))
    assert "7 tool calls (finish is free)" in texts(load_inputs(study, "small"), "H000")[1]


def test_a_statement_with_dollar_signs_is_left_alone(study: Study) -> None:
    path = study.task_file("one-a")
    path.write_text(path.read_text().replace("about one-a", "about $statement and $5"))
    assert "about $statement and $5, and names no file." in texts(load_inputs(study, "small"), "H000")[1]


def test_tools_are_offered_in_the_treatment_s_order(study: Study) -> None:
    inputs = load_inputs(study, "small")
    schemas = tool_schemas(inputs.treatments["H000"], inputs.wording)
    names = [s["function"]["name"] for s in schemas]
    assert names == ["search", "read_file", "apply_patch", "run_tests", "finish"]
