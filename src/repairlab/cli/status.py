"""`repairlab status`: counts, tokens and seconds alone, to be looked at while a run is blinded."""

from __future__ import annotations

import json
from pathlib import Path

from repairlab.cli.usage import usage_of
from repairlab.contract.controls import SharedControls
from repairlab.contract.strict import load
from repairlab.contract.study import open_study
from repairlab.manifest.freeze import read_frozen
from repairlab.runner.campaign import standing
from repairlab.store.layout import Layout


def status_command(root: Path, experiment: str, *, json_output: bool, usage: bool) -> None:
    """Print how far an experiment is; with `usage` what its cells used, which opens every sealed cell."""
    study = open_study(root)
    frozen = read_frozen(study, experiment)
    attempts = load(SharedControls, study.contracts / "shared.toml").infrastructure.attempts
    layout = Layout(study.raw / experiment, study.incomplete / experiment)
    now = standing(layout, frozen.manifest.cells, attempts)
    kept = sum(len(layout.attempts(cell.name)) for cell in frozen.manifest.cells)
    used = usage_of(layout, now.sealed) if usage else None
    counts = {
        "experiment": experiment,
        "cells": len(frozen.manifest.cells),
        "sealed": len(now.sealed),
        "blocked": len(now.blocked),
        "pending": len(now.pending),
        "incomplete_attempts": kept,
        "foreign": len(now.foreign),
        "carried": len(now.carried),
        **({"usage": used._asdict()} if used else {}),
        "freeze": frozen.head,
        "raw": str(layout.raw),
    }
    if json_output:
        print(json.dumps(counts))
        return
    print(f"{experiment}: {counts['sealed']} of {counts['cells']} cells sealed")
    print(f"  pending {counts['pending']}, blocked {counts['blocked']}, attempts kept {kept}")
    if used:
        print(f"  {used.line()}")
    for cell in now.blocked:
        print(f"  blocked: {cell.name} (see {layout.incomplete / cell.name})")
    if now.carried:
        print(f"  {counts['carried']} of them were sealed under an earlier code revision and carried over")
    if now.foreign:
        print(f"  {counts['foreign']} sealed cells belong to another freeze or revision of this experiment")
    print(f"  sealed cells: {layout.raw}")
