"""`repairlab show`: results of an experiment, and one sealed cell step by step."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from repairlab.analysis.results import Row, rows_of
from repairlab.cli.opening import outcomes_opened
from repairlab.cli.tables import print_table
from repairlab.cli.texts import indented, printable, shortened
from repairlab.contract.controls import Budgets
from repairlab.contract.errors import BadInput
from repairlab.contract.study import Inputs, load_inputs, open_study
from repairlab.manifest.freeze import Frozen, read_frozen
from repairlab.store.carried import Source, check_source, complete_names, source
from repairlab.store.layout import Layout
from repairlab.store.sealed import SealedCell, check_seal, read_sealed
from repairlab.store.steps import Step, steps
from repairlab.store.transcript import read_transcript

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


def show_command(root: Path, experiment: str, cell: str, unblind: str, *, full: bool) -> None:
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
        _show_cell(find_cell(layout, frozen, cell), inputs.shared.budgets, full=full)
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


def find_cell(layout: Layout, frozen: Frozen, start: str) -> Source:
    """The complete cell whose name begins with `start`; those of an earlier freeze where no other fits.

    Raises:
        BadInput: none fits, or more than one.
        IntegrityViolation: its seal does not hold.
    """
    planned = {cell.name: cell for cell in frozen.manifest.cells}
    fitting = sorted(name for name in complete_names(layout) if name.startswith(start))
    names = [name for name in fitting if name in planned] or fitting
    if start in fitting:
        names = [start]
    if not names:
        raise BadInput(
            f"{layout.raw} has no sealed cell {start!r}", repair="repairlab status lists what there is"
        )
    if len(names) > 1:
        raise BadInput(f"{start!r} fits {len(names)} sealed cells:\n  " + "\n  ".join(names[:20]))
    (name,) = names
    if name in planned:
        found = source(layout, planned[name])
    else:
        folder = layout.sealed(name)
        found = Source(folder, read_sealed(folder).record.cell)
    check_source(found)
    return found


def cell_head(found: Source, sealed: SealedCell) -> Iterator[str]:
    """What a cell is, one fact a line."""
    cell, label = found.cell, sealed.metrics.label
    yield f"task {cell.task}, treatment {cell.treatment}{f' ({label})' if label else ''}"
    yield f"model {cell.model}, seed {cell.identity.seed}, repetition {cell.identity.repetition}"
    yield f"identity {cell.digest}"
    if found.carried:
        yield f"carried over to {found.carried.new.name} by amendment {found.carried.amendment[:12]}"
    seal = check_seal(found.folder)
    yield f"seal {seal.whole}"
    yield f"seal without clocks {seal.outcome}"


def cell_steps(found: Source, sealed: SealedCell) -> tuple[Step, ...]:
    """The transcript of a cell as steps."""
    return tuple(steps(read_transcript(found.folder / "transcript.jsonl"), sealed.timing))


def cell_end(sealed: SealedCell) -> Iterator[str]:
    """Verdict, figures and clocks of a cell, one a line."""
    metrics, timing = sealed.metrics, sealed.timing
    yield f"{metrics.status.value}: {metrics.reason}; {metrics.verdict_detail or metrics.verdict}"
    yield f"required tests passed {metrics.required_tests_passed}/{metrics.required_tests}"
    for name, outcome in sealed.tests.required.items():
        if outcome.value != "passed":
            yield f"  {outcome.value}: {name}"
    yield (
        f"model calls {metrics.model_calls}, tool calls {metrics.tool_calls}, test runs"
        f" {metrics.public_test_runs}, tokens {_known(metrics.prompt_tokens)} in and"
        f" {_known(metrics.completion_tokens)} out"
    )
    phases = ", ".join(f"{name} {seconds:.3f}" for name, seconds in sorted(timing.phases_seconds.items()))
    yield f"agent clock {timing.agent_seconds:.3f} s; seconds by phase: {phases}"
    yield from map(swap_line, timing.swaps)
    for title, names in (
        ("files shown", metrics.files_shown),
        ("files opened", metrics.files_read),
        ("files edited", metrics.files_edited),
    ):
        yield f"{title}: {', '.join(names) or 'none'}"


def swap_line(swap: object) -> str:
    """One change of residency inside the episode, as it was timed."""
    match swap:
        case {"to": str() as role, "seconds": int() | float() as seconds, **others}:
            first = others.get("first_token_seconds")
            told = f"after {first:.3f} s" if isinstance(first, int | float) else "not seen"
            then = f"; first token of the next reply {told}" if role == "agent" else ""
            return f"residency changed to {role} in {seconds:.3f} s{then}"
        case _:
            return "residency changed, not timed"


def _known(value: int | None) -> str:
    return "unknown" if value is None else str(value)


def _show_cell(found: Source, limits: Budgets, *, full: bool) -> None:
    sealed = read_sealed(found.folder)
    print(found.folder)
    for line in cell_head(found, sealed):
        print(f"  {line}")
    print(f"  residency at the start: {_first_residency(sealed)}")
    spent = None
    for step in cell_steps(found, sealed):
        print(f"{step.number + 1:>4}. {printable(step.title)}")
        for line in (*shortened(step.text, full=full), *map(printable, step.facts)):
            print(indented(line))
        if step.spent != spent:
            spent = step.spent
            print(indented(f"({spent.line(limits)})"))
    for line in cell_end(sealed):
        print(f"  {line}")
    patch = (found.folder / "patch.diff").read_text(encoding="utf-8", errors="replace")
    for line in shortened(patch or "  no production file was changed", full=True):
        print(line)


def _first_residency(sealed: SealedCell) -> str:
    """What was loaded for the cell, and what had to go for it."""
    match sealed.record.facts.get("residency"):
        case {"level": str() as level, "verified": {"key": str() as key, "context_tokens": int() as tokens}}:
            told = f"{key}, context {tokens}, level {level}"
        case _:
            return "not recorded"
    match sealed.timing.transition:
        case {"unloaded": [_, *_] as unloaded}:
            return f"{told}, after unloading {', '.join(map(str, unloaded))}"
        case _:
            return told
