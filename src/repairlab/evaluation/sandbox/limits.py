"""Resource limits of the kernel, set by the last step before the program inside."""

from __future__ import annotations

from repairlab.evaluation.sandbox.model import Limits


def with_prlimit(prlimit: str, limits: Limits, argv: tuple[str, ...], *, processes: bool) -> tuple[str, ...]:
    """`argv` under the limits of `limits`, by util-linux.

    `processes` is set only where the run has a user namespace of its own: elsewhere the kernel would count
    every process of the user. Memory is bounded as private writable memory (RLIMIT_DATA), not as address
    space: runtimes that reserve more than they use are not punished for it.
    """
    options = [
        "--core=0",
        "--nofile=1024",
        f"--cpu={limits.cpu_seconds}",
        f"--data={limits.memory_bytes}",
        f"--fsize={limits.file_bytes}",
    ]
    if processes:
        options.append(f"--nproc={limits.processes}")
    return (prlimit, *options, "--", *argv)


def with_ulimit(limits: Limits, argv: tuple[str, ...]) -> tuple[str, ...]:
    """`argv` under the limits that a POSIX shell can set (no bound on memory on macOS)."""
    script = 'ulimit -c 0; ulimit -t "$1"; ulimit -f "$2"; shift 2; exec "$@"'
    blocks = max(limits.file_bytes // 512, 1)
    return ("/bin/sh", "-c", script, "sh", str(limits.cpu_seconds), str(blocks), *argv)
