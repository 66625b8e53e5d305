"""Definitions and references against universal-ctags, which gives definitions alone: see search_bench.py."""

from __future__ import annotations

import subprocess
from pathlib import Path

TARGET = 7.0


def ctags(tree: Path, language: str) -> None:
    command = ["ctags", "-R", f"--languages={language}", "-f", "-", "."]
    subprocess.run(command, cwd=tree, stdout=subprocess.DEVNULL, check=True)
