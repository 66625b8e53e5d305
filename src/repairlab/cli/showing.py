"""`repairlab show`: results of an experiment, and one sealed cell step by step."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from repairlab.analysis.results import Row, rows_of
from repairlab.cli.opening import outcomes_opened
from repairlab.cli.showing_stages import indented, stage_step
from repairlab.cli.tables import print_table
from repairlab.contract.errors import BadInput
from repairlab.contract.study import Inputs, load_inputs, open_study
from repairlab.manifest.freeze import Frozen, read_frozen
from repairlab.store.layout import Layout
from repairlab.store.sealed import check_seal, read_sealed, sealed_names
from repairlab.store.transcript import (
    CallRecord,
    Deadline,
    End,
    Overflow,
    Record,
    Reply,
    Retry,
    UnparsableCall,
    read_transcript,
)

HEADER = (
    "task",
    "treatment",
    "model",
    "resolved",
    "why",
    "required tests",
    "calls",
    "tokens in/out",
    "agent s",
    "sandbox",
)


def show_command(root: Path, experiment: str, cell: str, unblind: str) -> None:
    """Show a table of results, or one cell.

    Raises:
        Blinded: a preregistered experiment that is not complete and unsealed, and no reason was given.
        BadInput: no sealed cell has that name.
    """
    study = open_study(root)
    inputs = load_inputs(study, experiment)
    frozen = read_frozen(study, experiment)
    outcomes_opened(study, inputs, frozen, "show", unblind)
    layout = Layout(study.raw / experiment, study.incomplete / experiment)
    if cell:
        planned = {one.name for one in frozen.manifest.cells}
        _show_cell(layout.sealed(_pick(layout, planned, cell)))
    else:
        print_results(inputs, frozen, layout)


def print_results(inputs: Inputs, frozen: Frozen, layout: Layout) -> None:
    """The result table of the planned cells that are sealed, and what it must not be taken for."""
    cells = frozen.manifest.cells
    rows = rows_of(layout, cells)
    missing = len(cells) - len(rows)
    title = inputs.experiment.title + (f" - INCOMPLETE {len(rows)}/{len(cells)}" if missing else "")
    print_table(title, HEADER, [_texts(row) for row in sorted(rows, key=_by_label)])
    if inputs.experiment.kind == "calibration":
        print("calibration models are programs of known behaviour: these figures check the plumbing alone")
    if inputs.experiment.kind == "trial":
        print("a trial outside the study: these figures show that the path holds and are no results")


def _by_label(row: Row) -> tuple[str, str, str, int, int]:
    cell = row.cell
    return cell.model, cell.task, cell.treatment, cell.identity.seed, cell.identity.repetition


def _texts(row: Row) -> tuple[str, ...]:
    def known(value: int | None) -> str:
        return "unknown" if value is None else str(value)

    return (
        row.cell.task,
        row.treatment,
        row.cell.model,
        "yes" if row.resolved_at_1 else "no",
        row.reason,
        f"{row.required_tests_passed}/{row.required_tests}",
        f"{row.model_calls} + {row.tool_calls}",
        f"{known(row.prompt_tokens)}/{known(row.completion_tokens)}",
        f"{row.agent_seconds:.2f}",
        row.sandbox,
    )


def _pick(layout: Layout, planned: set[str], start: str) -> str:
    """The sealed cell whose name begins with `start`; those of an earlier freeze only where no other fits."""
    fitting = [name for name in sealed_names(layout) if name.startswith(start)]
    names = [name for name in fitting if name in planned] or fitting
    if len(names) == 1 or start in names:
        return start if start in names else names[0]
    if not names:
        raise BadInput(
            f"{layout.raw} has no sealed cell {start!r}", repair="repairlab status lists what there is"
        )
    raise BadInput(f"{start!r} fits {len(names)} sealed cells:\n  " + "\n  ".join(names[:20]))


def _show_cell(folder: Path) -> None:
    sealed, seal = read_sealed(folder), check_seal(folder)
    cell, metrics = sealed.record.cell, sealed.metrics
    label = f" ({metrics.label})" if metrics.label else ""
    print(f"{folder}")
    print(f"  task {cell.task}, treatment {cell.treatment}{label}")
    print(f"  model {cell.model}, seed {cell.identity.seed}, repetition {cell.identity.repetition}")
    print(f"  identity {cell.digest}")
    print(f"  seal {seal.whole}\n  seal without clocks {seal.outcome}")
    for number, line in enumerate(_steps(folder / "transcript.jsonl"), start=1):
        print(f"{number:>4}. {line}")
    print(f"  {metrics.status.value}: {metrics.reason}; {metrics.verdict_detail}")
    for name, outcome in sealed.tests.required.items():
        if outcome.value != "passed":
            print(f"    {outcome.value:>8}  {name}")
    patch = (folder / "patch.diff").read_text(encoding="utf-8", errors="replace")
    print(patch or "  no production file was changed")


def _steps(transcript: Path) -> Iterator[str]:
    """One text for each reply, each call and each stage, read line by line."""
    return filter(None, (_step(record) or stage_step(record) for record in read_transcript(transcript)))


def _step(record: Record) -> str:
    match record:
        case Reply(body=dict() as body):
            return f"reply: {_reply_text(body)}"
        case CallRecord():
            mark = "" if record.accepted else " (not accepted)"
            return f"{record.tool}{mark}:\n{indented(record.text)}"
        case Deadline():
            return "the agent clock ran out during this reply"
        case UnparsableCall():
            return f"a call that the host could not read: {record.message}"
        case Retry():
            return f"a reply was set aside ({record.condition}), and the request sent again"
        case Overflow():
            return f"the host reports an overflow: {record.message}"
        case End():
            return f"end: {record.reason.value}"
        case _:
            return ""


def _reply_text(body: dict[str, Any]) -> str:
    message = body["choices"][0]["message"]
    calls = [
        f"{c['function']['name']}({c['function']['arguments']})" for c in message.get("tool_calls") or ()
    ]
    text = " ".join(filter(None, [message.get("content") or "", *calls]))
    return text if len(text) <= 400 else f"{text[:400]} ..."
