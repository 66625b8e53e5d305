"""`repairlab audit`: replay sealed cells from their recorded replies."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from repairlab.cli.progress import watching
from repairlab.cli.running import Options, Plan, make_plan, prepare
from repairlab.contract.errors import BadInput, IntegrityViolation
from repairlab.manifest.cell import Cell
from repairlab.runner.audit import Auditor
from repairlab.runner.campaign import standing


def audit_command(options: Options, start: str, *, every: bool, run_tests: bool) -> None:
    """Replay one cell, or every sealed cell, and name the first difference of each.

    Raises:
        BadInput: no cell is named and not all are asked for, or the name fits none.
        IntegrityViolation: a replay differs.
    """
    plan = make_plan(options)
    cells = _chosen(plan, start, every=every)
    with watching(plain=options.plain) as watch:
        ready = prepare(plan, watch)
    auditor = Auditor(plan.inputs, ready, plan.sandbox, plan.workplace.scratch, run_tests)
    different = 0
    for number, cell in enumerate(cells, start=1):
        result = auditor.audit(plan.layout.sealed(cell.name), cell)
        verdict = "equal" if not result.difference else f"DIFFERS: {result.difference}"
        print(f"[{number}/{len(cells)}] {cell.name}: {verdict}", file=sys.stdout, flush=True)
        different += bool(result.difference)
    tests = "tests run again" if run_tests else "test runs taken from the record"
    print(f"{options.experiment}: {len(cells)} cells replayed, {different} differ ({tests})")
    if different:
        raise IntegrityViolation(f"{different} of {len(cells)} replays differ from what was sealed")


def _chosen(plan: Plan, start: str, *, every: bool) -> Sequence[Cell]:
    attempts = plan.inputs.shared.infrastructure.attempts
    sealed = standing(plan.layout, plan.frozen.manifest.cells, attempts).sealed
    if every:
        return sealed
    if not start:
        raise BadInput("name a cell to audit, or give --all")
    fitting = [cell for cell in sealed if cell.name.startswith(start)]
    if not fitting:
        raise BadInput(f"no sealed cell of {plan.inputs.experiment.name} begins with {start!r}")
    return fitting
