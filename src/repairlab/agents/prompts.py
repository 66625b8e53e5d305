"""From a task and a treatment to the first messages of a conversation."""

from __future__ import annotations

from repairlab.contract.canonical import Json
from repairlab.contract.controls import Budgets
from repairlab.contract.task import Task
from repairlab.contract.treatments import Treatment
from repairlab.contract.wording import InteractivePrompts, StagedPrompts, Wording, fill


def first_messages(task: Task, treatment: Treatment, wording: Wording, budgets: Budgets) -> list[Json]:
    """System and user message. Between treatments of one task they differ in the oracle slot alone."""
    prompts = wording.prompts
    oracle = fill(prompts.oracle, files=_gold_files(task)) + "\n" if treatment.oracle_files else ""
    work = fill(
        prompts.interactive.budgets,
        model_calls=str(budgets.model_calls),
        tool_calls=str(budgets.tool_calls),
        public_test_runs=str(budgets.public_test_runs),
    )
    return _messages(task, wording, prompts.interactive, oracle, work)


def stage_messages(task: Task, wording: Wording, work: str) -> list[Json]:
    """The messages of one stage, whose text is `work`.

    They differ from those of an interactive treatment in the slots of access, conduct and work alone.
    """
    return _messages(task, wording, wording.prompts.staged, "", work)


def tool_schemas(treatment: Treatment, wording: Wording) -> list[Json]:
    """The ``tools`` of every request, in the treatment's order."""
    return [wording.tools[name].function_schema(name) for name in treatment.tools]


def _messages(
    task: Task, wording: Wording, kind: InteractivePrompts | StagedPrompts, oracle: str, work: str
) -> list[Json]:
    prompts = wording.prompts
    return [
        {"role": "system", "content": fill(prompts.system, access=kind.access, conduct=kind.conduct)},
        {"role": "user", "content": fill(prompts.task, statement=task.statement, oracle=oracle, work=work)},
    ]


def _gold_files(task: Task) -> str:
    new = set(task.created_files)
    return "\n".join(f"- {path} (new file)" if path in new else f"- {path}" for path in task.production_files)
