"""`repairlab demo`: the main job on the embedded study, from freeze to result table."""

from __future__ import annotations

from pathlib import Path

from repairlab.cli.freezing import Wish, freeze
from repairlab.cli.progress import watching
from repairlab.cli.running import Options, make_plan, report, run
from repairlab.cli.showing import print_results
from repairlab.contract.errors import RefuseToStart
from repairlab.contract.study import open_study

EXPERIMENT = "embedded"


def demo_command(root: Path, cache: str, *, plain: bool) -> None:
    """Freeze the embedded study as it stands, run what is not sealed yet, print the results.

    Sandboxed where bubblewrap works; else unsandboxed, said aloud and recorded in every cell.
    """
    study = open_study(root)
    freeze(study, EXPERIMENT, Wish(replace=True))
    options = Options(root, EXPERIMENT, "", cache, "", "bubblewrap", plain)
    try:
        plan = make_plan(options)
    except RefuseToStart as refusal:
        print(f"no sandbox here: {refusal}")
        print("the embedded study's own tests run unsandboxed; every cell records it")
        plan = make_plan(Options(root, EXPERIMENT, "", cache, "", "none", plain))
    with watching(plain=plain) as watch:
        standing = run(plan, watch)
    print_results(plan.inputs, plan.frozen, plan.layout)
    report(plan, standing)
