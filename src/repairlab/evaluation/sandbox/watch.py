"""How many processes a run has and how much memory they hold, read from ``/proc`` (Linux).

Resource limits bound one process; nothing but a look at all of them bounds their sum, and for the root user
the kernel enforces no limit on the number of processes at all. Where there is no ``/proc`` nothing is seen.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from repairlab.evaluation.sandbox.model import Limits, Stop

_PROC = Path("/proc")
_PAGE = os.sysconf("SC_PAGE_SIZE")


def excess(pids: frozenset[int], limits: Limits, overhead: int) -> Stop | None:
    """Which bound `pids` break together; `overhead` of them belong to the sandbox itself."""
    if len(pids) - overhead > limits.processes:
        return Stop.PROCESSES
    bound = limits.memory_bytes * 3 // 2
    if sum(map(_resident, pids)) > bound and sum(map(_share, pids)) > bound:
        return Stop.MEMORY
    return None


def descendants(pid: int) -> frozenset[int]:
    """`pid` and all that came from it and still lives, orphans inside its process namespace included."""
    found: set[int] = set()
    todo = [pid]
    while todo:
        current = todo.pop()
        if current not in found:
            found.add(current)
            todo.extend(_children(current))
    return frozenset(found)


def marked(session: int, marker: str) -> frozenset[int]:
    """Processes of the session `session`, and those whose environment holds `marker`.

    The second kind finds a daemon that made a session of its own, unless it also cleared its environment.
    """
    wanted = marker.encode()
    found = {pid for pid in _all() if _session(pid) == session or wanted in _read(pid, "environ")}
    return frozenset(found - {os.getpid()})


def out_of_memory_kills() -> int:
    """The kernel's kills for want of memory since the machine started; 0 where it does not say."""
    try:
        lines = (_PROC / "vmstat").read_text().split("\n")
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("oom_kill ")), 0)


def _all() -> Iterator[int]:
    if _PROC.is_dir():
        yield from (int(entry.name) for entry in _PROC.iterdir() if entry.name.isdecimal())


def _children(pid: int) -> list[int]:
    found: list[int] = []
    try:
        for task in (_PROC / str(pid) / "task").iterdir():
            found.extend(int(word) for word in (task / "children").read_text().split())
    except OSError:  # it ended while it was looked at
        return found
    return found


def _read(pid: int, name: str) -> bytes:
    """Content of a file of the process `pid`; empty when it has ended or belongs to somebody else."""
    try:
        return (_PROC / str(pid) / name).read_bytes()
    except OSError:
        return b""


def _session(pid: int) -> int | None:
    fields = _read(pid, "stat").rpartition(b")")[2].split()
    return int(fields[3]) if len(fields) > 3 else None


def _resident(pid: int) -> int:
    fields = _read(pid, "statm").split()
    return int(fields[1]) * _PAGE if len(fields) > 1 else 0


def _share(pid: int) -> int:
    """Proportional share of memory in bytes: pages that several processes map count in parts."""
    for line in _read(pid, "smaps_rollup").split(b"\n"):
        if line.startswith(b"Pss:"):
            return int(line.split()[1]) * 1024
    return _resident(pid)
