"""`repairlab diff`: two runs of one task side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from repairlab.cli.opening import outcomes_opened
from repairlab.cli.showing import cell_end, cell_head, cell_steps, find_cell
from repairlab.cli.texts import columns_of_terminal, printable, shortened, side_by_side
from repairlab.contract.controls import Budgets
from repairlab.contract.errors import BadInput
from repairlab.contract.study import load_inputs, open_study
from repairlab.manifest.freeze import read_frozen
from repairlab.store.compare import Pair, first_difference, first_divergence, paired
from repairlab.store.layout import Layout
from repairlab.store.sealed import read_sealed
from repairlab.store.steps import Step

_LINES = 8


def diff_command(root: Path, experiment: str, left: str, right: str, unblind: str, *, full: bool) -> None:
    """Print two complete cells of one task beside each other.

    Raises:
        Blinded: a preregistered experiment that is not complete and unsealed, and no reason was given.
        BadInput: a name fits no cell or several, or the cells are of two tasks.
    """
    study = open_study(root)
    inputs, frozen = load_inputs(study, experiment), read_frozen(study, experiment)
    outcomes_opened(study, inputs, frozen, "diff", unblind)
    layout = Layout(study.raw / experiment, study.incomplete / experiment)
    found = [find_cell(layout, frozen, start) for start in (left, right)]
    one, other = found
    if one.cell.task != other.cell.task:
        raise BadInput(
            f"the cells are runs of two tasks, {one.cell.task} and {other.cell.task}",
            repair="name two runs of one task: other treatments, models, seeds or repetitions of it",
        )
    width = columns_of_terminal()
    sealed = [read_sealed(each.folder) for each in found]
    heads = [[each.folder.name, *cell_head(each, record)] for each, record in zip(found, sealed, strict=True)]
    _print(side_by_side(heads, width))
    steps = [cell_steps(each, record) for each, record in zip(found, sealed, strict=True)]
    pairs = tuple(paired(*steps))
    _print(_rows(pairs, inputs.shared.budgets, width, full=full))
    print("-" * width)
    _print(side_by_side([list(cell_end(record)) for record in sealed], width))
    patches = [(each.folder / "patch.diff").read_text(encoding="utf-8", errors="replace") for each in found]
    print("-" * width)
    if patches[0] == patches[1]:
        print("the patches are equal" if patches[0] else "neither run changed a production file")
    else:
        texts = [
            list(shortened(patch or "no production file was changed", full=full, lines=40))
            for patch in patches
        ]
        _print(side_by_side(texts, width))


def _rows(pairs: Sequence[Pair], limits: Budgets, width: int, *, full: bool) -> Iterator[str]:
    first = first_divergence(pairs)
    if first is None:
        yield "=" * width
        yield f"every one of the {len(pairs)} steps is equal"
    for position, pair in enumerate(pairs):
        if position == first:
            yield "=" * width
            yield from _where(position, pair)
        yield "-" * width
        if pair.equal and pair.left and not full:
            yield f"  = {position + 1:>3}. {pair.left.title}"
            continue
        if pair.left and pair.right and pair.left.told_before and pair.right.told_before and not full:
            yield f"  ~ {position + 1:>3}. {pair.left.title} (different by what was said before)"
            continue
        mark = "=" if pair.equal else "|"
        texts = [_cell_of_row(side, limits, full=full) for side in pair]
        yield from side_by_side(texts, width, mark)


def _where(position: int, pair: Pair) -> Iterator[str]:
    yield f"first divergence: row {position + 1}"
    if pair.left is None or pair.right is None:
        yield f"  only the {'right' if pair.left is None else 'left'} run has this step"
    elif pair.left.title.partition(" ")[0] != pair.right.title.partition(" ")[0]:
        yield f"  {printable(pair.left.title)} | {printable(pair.right.title)}"
    else:
        yield f"  {printable(first_difference(pair.left, pair.right))}"


def _cell_of_row(step: Step | None, limits: Budgets, *, full: bool) -> list[str]:
    if step is None:
        return ["(no such step)"]
    text = shortened(step.text, full=full, lines=_LINES)
    facts = map(printable, (*step.facts, f"({step.spent.line(limits)})"))
    return [f"{step.number + 1:>3}. {printable(step.title)}", *text, *facts]


def _print(lines: Iterator[str]) -> None:
    for line in lines:
        print(line)
