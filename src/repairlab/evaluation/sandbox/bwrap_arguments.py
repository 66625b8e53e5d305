"""What tested code sees under bubblewrap: one list of arguments."""

from __future__ import annotations

import os
from pathlib import Path
from types import MappingProxyType

from repairlab.evaluation.sandbox import jobs
from repairlab.evaluation.sandbox.limits import with_prlimit
from repairlab.evaluation.sandbox.model import Job

_TMP = "/tmp"  # noqa: S108 - a place inside the sandbox, where nobody else is
_SHARED_MEMORY = "/dev/shm"  # noqa: S108 - likewise
PLACES = MappingProxyType(
    {"repo": "/repo", "env": "/env", "runner": "/runner", "home": "/home/repairlab", "tmp": _TMP}
)
_USER = "1000"
_ETC = MappingProxyType(
    {
        "passwd": "repairlab:x:1000:1000::/home/repairlab:/bin/sh\n",
        "group": "repairlab:x:1000:\n",
        "hosts": "127.0.0.1 localhost\n::1 localhost\n",
    }
)
_HOST_ETC = ("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives")
_NODES = ("null", "zero", "full", "random", "urandom", "tty")
"""Device nodes that bubblewrap shows. Their owner could change their modes, on the whole machine."""
_CLOSED = ("/dev", "/proc", "/")
"""Mounts that are made read-only when everything is in its place."""
_LINKED_ROOTS = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")


def write_inputs(job: Job, folder: Path) -> None:
    """Put what is shown read-only beside the tree into the run's folder."""
    jobs.write_runner_files(job, folder / "runner")
    (folder / "nodes").mkdir()
    if os.geteuid() == 0:
        for node in _NODES:
            (folder / "nodes" / node).touch()
    (folder / "etc").mkdir()
    for name, text in _ETC.items():
        (folder / "etc" / name).write_text(text, encoding="ascii")


def options(job: Job, folder: Path, report_fd: int, prlimit: str) -> tuple[str, ...]:
    """Arguments of bwrap, the limited program included."""
    program = jobs.arguments(job, PLACES, report_fd)
    return (
        *_isolation(),
        *_system(folder),
        *_writable(job.limits.file_bytes),
        *_job_folders(job),
        *("--bind", "tree", PLACES["repo"], "--chdir", PLACES["repo"]),
        *(word for place in _CLOSED for word in ("--remount-ro", place)),
        "--clearenv",
        *(word for name, value in _variables(job) for word in ("--setenv", name, value)),
        "--",
        *with_prlimit(prlimit, job.limits, program, processes=True),
    )


def _isolation() -> tuple[str, ...]:
    return (
        *("--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent", "--new-session"),
        *("--uid", _USER, "--gid", _USER, "--hostname", "repairlab", "--cap-drop", "ALL"),
    )


def _system(folder: Path) -> tuple[str, ...]:
    words = ["--ro-bind", "/usr", "/usr"]
    for root in _LINKED_ROOTS:
        path = Path(root)
        if path.is_symlink():
            words += ["--symlink", str(path.readlink()), root]
        elif path.is_dir():
            words += ["--ro-bind", root, root]
    for path_text in _HOST_ETC:
        words += ["--ro-bind-try", path_text, path_text]
    for name in sorted(_ETC):
        words += ["--ro-bind", f"etc/{name}", f"/etc/{name}"]
    return (*words, "--ro-bind", str(folder / "runner"), PLACES["runner"])


def _job_folders(job: Job) -> tuple[str, ...]:
    words: list[str] = []
    if job.environment is not None:
        words += ["--ro-bind", str(job.environment), PLACES["env"]]
    for path in job.read_only:
        if not path.is_relative_to("/usr"):
            words += ["--ro-bind", str(path), str(path)]
    return tuple(words)


def _writable(size: int) -> tuple[str, ...]:
    words = ["--proc", "/proc", "--dev", "/dev"]
    for place, mode in ((_TMP, "1777"), (PLACES["home"], "0755"), (_SHARED_MEMORY, "1777")):
        words += ["--size", str(size), "--perms", mode, "--tmpfs", place]
    if os.geteuid() == 0:
        for node in _NODES:
            words += ["--dev-bind", f"nodes/{node}", f"/dev/{node}"]
    return tuple(words)


def _variables(job: Job) -> list[tuple[str, str]]:
    return sorted(jobs.variables(job, PLACES).items())
