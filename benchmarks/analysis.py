"""Reading a store, the gate, the registered analysis and the export: seconds and peak memory.

    python benchmarks/analysis.py [TASKS OF EACH OF THREE REPOSITORIES ...]

The peer is what a notebook does: a plain loop over the same folders with `json`, appending dictionaries, made
a polars frame at the end. It checks no seal and no form, reads four of the eight files, and has one process.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from repairlab.analysis.frames import Frames

ROOT = Path(__file__).resolve().parent.parent
STAGES = ("open", "read-1", "read-n", "gate", "registered", "report", "export", "peer")


def main(sizes: list[int]) -> None:
    print(f"{os.cpu_count()} processors; seconds of wall clock and peak memory of each stage")
    for tasks in sizes:
        with tempfile.TemporaryDirectory(prefix="repairlab-bench-") as folder:
            study = Path(folder) / "study"
            begun = time.perf_counter()
            command = [sys.executable, "-m", "repairlab.cli", "simulate", str(study), "--tasks", str(tasks)]
            subprocess.run(
                [*command, "--effect", "H007=0.1", "--study", str(ROOT)],
                check=True,
                stdout=subprocess.DEVNULL,
            )
            cells = sum(1 for _ in (study / "raw" / "simulated").iterdir())
            print(f"\n{cells} cells; written and sealed in {time.perf_counter() - begun:.1f} s")
            for stage in STAGES:
                done = subprocess.run(
                    [sys.executable, __file__, "--stage", stage, str(study)],
                    capture_output=True, text=True, check=False,
                )  # fmt: skip
                print(done.stdout.strip() or f"  {stage}: {done.stderr.strip().splitlines()[-1]}", flush=True)
            shutil.rmtree(study)


def stage(name: str, root: Path) -> None:
    """One stage in a process of its own; what comes before it is not timed, and is in the memory."""
    from repairlab.analysis.confirmatory import confirmatory
    from repairlab.analysis.export import write_export
    from repairlab.analysis.frames import read_frames
    from repairlab.analysis.gate import admit_frames
    from repairlab.analysis.hypotheses import load_hypotheses
    from repairlab.analysis.plan import plan_of
    from repairlab.analysis.report.assemble import assemble
    from repairlab.contract.study import load_inputs, open_study
    from repairlab.manifest.freeze import read_frozen
    from repairlab.store.layout import Layout

    study = open_study(root)
    layout = Layout(study.raw / "simulated", study.incomplete / "simulated")
    begun = time.perf_counter()
    if name == "peer":
        told = f"{peer(layout.raw)} rows"
        return say(name, begun, told)
    plan = plan_of(load_inputs(study, "simulated"), read_frozen(study, "simulated"))
    if name == "open":
        return say(name, begun, "inputs, manifest and its digest")
    if name != "read-1":
        processes = os.cpu_count() or 1
        begun = time.perf_counter()
        frames = read_frames(plan, layout, processes)
        if name == "read-n":
            return say(name, begun, f"{processes} processes, {rows(frames)} rows, every seal checked")
    else:
        begun = time.perf_counter()
        frames = read_frames(plan, layout, 1)
        return say(name, begun, f"1 process, {rows(frames)} rows, every seal checked")
    begun = time.perf_counter()
    gated = admit_frames(frames)
    if name == "gate":
        return say(name, begun, "all findings")
    hypotheses = load_hypotheses(study)
    begun = time.perf_counter()
    if name == "registered":
        confirmatory(gated, hypotheses)
        return say(name, begun, "five contrasts, graph, verdicts")
    if name == "report":
        assemble(gated, hypotheses, only=("T1", "T2", "T3", "T4", "T5", "T7")).json()
        return say(name, begun, "T1 to T5 and T7")
    with tempfile.TemporaryDirectory() as out:
        write_export(gated, Path(out))
        size = sum(path.stat().st_size for path in Path(out).iterdir())
    return say(name, begun, f"six Parquet files, {size / 2**20:.1f} MiB")


def rows(frames: Frames) -> int:
    return sum(table.height for table in frames.tables.values())


def peer(raw: Path) -> int:
    """The loop that needs no library but one: a dictionary for each cell, and one for each test."""
    import polars as pl

    cells, tests = [], []
    for folder in sorted(raw.iterdir()):
        metrics = json.loads((folder / "metrics.json").read_text())
        cell = json.loads((folder / "cell.json").read_text())["cell"]
        timing = json.loads((folder / "timing.json").read_text())
        labels = {name: cell[name] for name in ("task", "treatment", "model")}
        plain = {name: value for name, value in metrics.items() if not isinstance(value, (list, dict))}
        cells.append({**labels, **plain, "agent_seconds": timing["agent_seconds"]})
        required = json.loads((folder / "tests.json").read_text())["required"]
        tests += [{**labels, "test": test, "outcome": outcome} for test, outcome in required.items()]
    return pl.DataFrame(cells).height + pl.DataFrame(tests).height


def say(name: str, begun: float, told: str) -> None:
    seconds = time.perf_counter() - begun
    own, child = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    cpu = sum(use.ru_utime + use.ru_stime for use in (own, child))
    memory = f"{own.ru_maxrss / 1024:.0f} MiB"
    print(f"  {name:<11}{seconds:>8.2f} s  {memory:<10}{told} ({cpu:.1f} s of CPU since the stage's start)")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--stage"]:
        stage(sys.argv[2], Path(sys.argv[3]))
    else:
        main([int(size) for size in sys.argv[1:]] or [20])
