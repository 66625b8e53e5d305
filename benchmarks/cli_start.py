"""Start of the command line: ``repairlab --help`` and ``repairlab status``.

The named peers, measured in the same run, are an empty start of the same Python (the floor for any program in
it) and ``pytest --version`` (a command line of similar size). Processes are timed from start to end, in turn.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROUNDS = 15


def main() -> None:
    scripts = Path(sys.executable).parent
    subprocess.run(
        [scripts / "repairlab", "freeze", "embedded", "--replace"],
        cwd=ROOT,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    commands = {
        "python -c pass": [sys.executable, "-c", "pass"],
        "pytest --version": [str(scripts / "pytest"), "--version"],
        "repairlab --help": [str(scripts / "repairlab"), "--help"],
        "repairlab status": [str(scripts / "repairlab"), "status", "embedded"],
    }
    seconds: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(ROUNDS):
        for name, command in commands.items():
            begun = time.monotonic()
            subprocess.run(
                command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            seconds[name].append(time.monotonic() - begun)
    floor = statistics.median(seconds["python -c pass"])
    peer = statistics.median(seconds["pytest --version"])
    for name, values in seconds.items():
        median = statistics.median(values)
        print(f"{name:<18} {median:.3f} s  {median / floor:>5.1f} x python  {median / peer:>5.2f} x pytest")


if __name__ == "__main__":
    os.environ.pop("PYTHONPATH", None)
    main()
