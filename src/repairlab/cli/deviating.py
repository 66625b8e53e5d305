"""`repairlab deviations`: show the log, and add to it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from repairlab.contract.study import load_inputs, open_study
from repairlab.manifest.deviations import Deviation, Unsealing, append, deviations_file, read


def list_command(root: Path) -> None:
    """Print every entry, oldest first; an edited log is a fault."""
    study = open_study(root)
    entries = read(study)
    if not entries:
        print("no deviation is on record")
    for entry in entries:
        said = entry.deviation
        print(f"D{entry.number:03d} {said.at} {said.experiment} ({said.unsealing} unsealing), {said.who}")
        for name in ("what", "why", "effect"):
            print(f"  {name}: {getattr(said, name)}")


def add_command(
    root: Path, experiment: str, what: str, why: str, who: str, effect: str, unsealing: Unsealing
) -> None:
    """Append one entry about an experiment that the study has."""
    study = open_study(root)
    load_inputs(study, experiment)
    at = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    entry = append(study, Deviation(experiment, at, unsealing, what, why, who, effect))
    print(f"D{entry.number:03d} is on record in {deviations_file(study)}")
