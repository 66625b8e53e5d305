"""From a task and a treatment to the first messages of an episode."""

from __future__ import annotations

from string import Template

from repairlab.contract.canonical import Json
from repairlab.contract.controls import Budgets
from repairlab.contract.errors import BadInput
from repairlab.contract.task import Task
from repairlab.contract.tools import Wording
from repairlab.contract.treatments import Treatment


def first_messages(task: Task, treatment: Treatment, wording: Wording, budgets: Budgets) -> list[Json]:
    """System and user message. Between treatments of one task they differ in the oracle slot alone."""
    prompts = wording.prompts
    oracle = _fill(prompts.oracle, files=_gold_files(task)) if treatment.oracle_files else ""
    text = _fill(
        prompts.task,
        statement=task.statement,
        oracle=oracle,
        budgets=_fill(
            prompts.budgets,
            model_calls=str(budgets.model_calls),
            tool_calls=str(budgets.tool_calls),
            public_test_runs=str(budgets.public_test_runs),
        ),
    )
    return [{"role": "system", "content": prompts.system}, {"role": "user", "content": text}]


def tool_schemas(treatment: Treatment, wording: Wording) -> list[Json]:
    """The ``tools`` of every request, in the treatment's order."""
    return [wording.tools[name].function_schema(name) for name in treatment.tools]


def _gold_files(task: Task) -> str:
    new = set(task.created_files)
    return "\n".join(f"- {path} (new file)" if path in new else f"- {path}" for path in task.production_files)


def _fill(text: str, **slots: str) -> str:
    template = Template(text)
    if set(template.get_identifiers()) != set(slots):
        raise BadInput(
            f"contracts/prompts.toml: a text has the slots {sorted(template.get_identifiers())},"
            f" expected {sorted(slots)}"
        )
    return template.substitute(slots)
