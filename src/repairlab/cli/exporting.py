"""`repairlab export`: the tables of an experiment as Parquet."""

from __future__ import annotations

from pathlib import Path

from repairlab.analysis.export import write_export
from repairlab.cli.reporting import gated, open_experiment


def export_command(root: Path, experiment: str, out: Path, unblind: str, *, incomplete: bool) -> None:
    """Export what has passed the gate."""
    opened = open_experiment(root, experiment, "export", unblind)
    passed = gated(opened, incomplete=incomplete)
    sums = write_export(passed, out)
    stamp = f" - {passed.stamp}" if passed.stamp else ""
    print(f"{experiment}: {len(sums)} files in {out}, manifest {passed.provenance.manifest[:12]}{stamp}")
    for name, digest in sums.items():
        print(f"  {digest}  {name}")
