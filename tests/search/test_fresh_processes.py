"""The same queries in fresh processes, with other hash seeds and thread counts, give the same bytes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOUND = (b"'exact': 1", b"'lexical': 1", b"'symbols': 1", b"'dense': 1", b"Neighbour(rank=1")


def start(folder: Path, seed: int) -> subprocess.Popen[bytes]:
    """A process that builds every index anew and prints every answer."""
    threads = str(1 + seed % 4)
    environment = {
        **os.environ,
        "PYTHONHASHSEED": str(seed),
        "OMP_NUM_THREADS": threads,
        "OPENBLAS_NUM_THREADS": threads,
    }
    program = [sys.executable, str(ROOT / "tests" / "search" / "fresh_answers.py")]
    return subprocess.Popen(
        [*program, str(ROOT / "contracts"), str(folder / str(seed))],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


# Twenty take a while, and what four do not find, hardly any other does: they run with the real repositories.
@pytest.mark.parametrize("processes", [4, pytest.param(20, marks=pytest.mark.real)])
def test_fresh_processes_answer_every_tool_with_the_same_bytes(tmp_path: Path, processes: int):
    said = set()
    for first in range(0, processes, 2):
        for process in [start(tmp_path, seed) for seed in range(first, first + 2)]:
            out, err = process.communicate(timeout=300)
            assert process.returncode == 0, err.decode()
            said.add(out)

    assert len(said) == 1
    (answer,) = said
    assert all(found in answer for found in FOUND)
