"""Overhead of a cell: everything but the model's replies and the tests themselves.

Counted: residency, both workspaces, tools, patching, reconstruction, laying out and tearing down the sandbox,
transcript, seal with fsync. Not counted: waiting for the model, and the time in which tests run.

The named peer, measured in the same run on the same commit, is what a cell would pay for its two checkouts
alone with ``git worktree add`` and ``git worktree remove``. Real repositories come from REPAIRLAB_SOURCES.

Usage: python benchmarks/cell_overhead.py [--rounds N] [EXPERIMENT ...]
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from repairlab.cli.freezing import Wish, freeze
from repairlab.cli.running import Options, make_plan, prepare, run
from repairlab.contract.errors import RepairlabError
from repairlab.contract.study import open_study
from repairlab.runner.events import CellSealed, Event
from repairlab.store.sealed import read_sealed

ROOT = Path(__file__).resolve().parent.parent


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("experiments", nargs="*", default=["embedded", "pilot"])
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    print("experiment cells  median s   p95 s  peer s  ratio  median by part (s)")
    for experiment in options.experiments:
        try:
            _measure(experiment, options.rounds)
        except RepairlabError as error:
            print(f"{experiment:<10} not measured: {error.message}")


def _measure(experiment: str, rounds: int) -> None:
    overheads: list[float] = []
    parts: dict[str, list[float]] = {}
    peer: list[float] = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory(prefix="repairlab-bench-", dir=ROOT.parent) as folder:
            study = _copy(Path(folder))
            freeze(open_study(study), experiment, Wish())
            plan = make_plan(Options(study, experiment, "", "", "", "bubblewrap", plain=True))
            prepared = prepare(plan, lambda _: None)
            sealed: list[CellSealed] = []

            def watch(event: Event, sealed: list[CellSealed] = sealed) -> None:
                if isinstance(event, CellSealed):
                    sealed.append(event)

            run(plan, watch)
            for event in sealed:
                if event.cell.model != "NAVIGATOR":
                    continue
                timing = read_sealed(plan.layout.sealed(event.cell.name)).timing
                tests = sum(one.run_seconds for one in timing.test_runs)
                model = sum(one.seconds for one in timing.agent_intervals if one.kind == "model")
                overheads.append(event.seconds - tests - model)
                seal = event.seconds - timing.phases_seconds["total"]
                sandbox = sum(one.setup_seconds + one.teardown_seconds for one in timing.test_runs)
                for name, value in {**timing.phases_seconds, "seal": seal, "sandbox": sandbox}.items():
                    parts.setdefault(name, []).append(value)
            mirrors = plan.workplace.mirrors
            peer += [
                _worktrees(mirrors.ensure(ready.task.repository).path, ready.template.commit)
                for ready in prepared.values()
            ]
            subprocess.run(["chmod", "-R", "u+w", folder], check=True)
    ninety_fifth = statistics.quantiles(overheads, n=20, method="inclusive")[-1]
    median, other = statistics.median(overheads), statistics.median(peer)
    shown = ("residency", "workspace", "sandbox", "reconstruct", "seal")
    detail = ", ".join(f"{name} {statistics.median(parts[name]):.3f}" for name in shown)
    print(
        f"{experiment:<10} {len(overheads):>5} {median:>9.3f} {ninety_fifth:>7.3f} {other:>7.3f}"
        f" {median / other:>6.2f}   {detail}"
    )


def _worktrees(mirror: Path, commit: str) -> float:
    """Seconds of two checkouts made and removed by git itself."""
    begun = time.monotonic()
    for number in range(2):
        with tempfile.TemporaryDirectory(prefix="repairlab-peer-", dir=ROOT.parent) as folder:
            tree = str(Path(folder) / str(number))
            git = ["git", "--git-dir", str(mirror), "worktree"]
            subprocess.run([*git, "add", "--quiet", "--detach", tree, commit], check=True)
            subprocess.run([*git, "remove", "--force", tree], check=True)
    return time.monotonic() - begun


def _copy(target: Path) -> Path:
    for name in ("contracts", "experiments", "preregistration"):
        ignored = shutil.ignore_patterns("*.freeze.json", "*.manifest.json")
        shutil.copytree(ROOT / name, target / name, ignore=ignored)
    return target


if __name__ == "__main__":
    os.environ.setdefault("GIT_CONFIG_GLOBAL", os.devnull)
    main()
