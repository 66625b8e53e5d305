"""What tested code sees in a container: the files of a run, and the engine's command line.

The tree is copied into a memory file system inside the container, by the user who runs the tests: so its size
is bounded, no file changes owner, and it works the same where the engine lives in a virtual machine.
"""

from __future__ import annotations

import json
import os
import resource
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from repairlab.contract.errors import RefuseToStart
from repairlab.evaluation.sandbox import container_init, jobs, layout
from repairlab.evaluation.sandbox.bwrap_arguments import PLACES
from repairlab.evaluation.sandbox.container_engine import Engine, Kind
from repairlab.evaluation.sandbox.limits import with_prlimit
from repairlab.evaluation.sandbox.model import Job, Tree

Channel = Literal["descriptors", "streams"]
"""How a run talks to the harness: over inherited descriptors (podman on this machine), or over the standard
streams of the engine's client (docker, and every engine that runs in a virtual machine)."""
Bounds = Literal["cgroup", "watch"]
"""What bounds all processes together: a control group of the container; or the harness's look at them."""

INSIDE = "/inside"
TEMPLATE = "/template"
_PYTHON = "/usr/bin/python3"
_PRLIMIT = "/usr/bin/prlimit"
_USER = 1000
_STRANGER = 64200
"""Where the container has no users of its own, tested code becomes a user whom nobody is."""
_MAPPED = 1_900_000_000
"""First of the machine's user numbers that stand for a container's, when root starts it."""
_INIT_RIGHTS = ("CHOWN", "KILL", "SETGID", "SETPCAP", "SETUID")
_PAGE = 4096
_LOOSE = 4096
_GRACE_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Setting:
    """How this machine's engine is used."""

    engine: Engine
    image: str
    channel: Channel
    bounds: Bounds
    root: bool
    """The harness runs as root."""

    @property
    def user(self) -> int:
        """Number of tested code's user, as the container counts."""
        return _USER if self.engine.kind == "podman" else _STRANGER


def write_inputs(job: Job, setting: Setting, folder: Path) -> None:
    """Put the files of a run into `folder`: the runner's, and those of the container's first process."""
    jobs.write_runner_files(job, folder / "runner")
    inside = folder / "inside"
    (inside / "changes").mkdir(parents=True)
    (inside / "container_init.py").write_bytes(Path(container_init.__file__).read_bytes())
    (inside / "plan.json").write_text(_changes(layout.plan(job.tree), inside / "changes"), encoding="ascii")
    limited = with_prlimit(
        _PRLIMIT,
        job.limits,
        jobs.arguments(job, PLACES, container_init.REPORT_FD),
        processes=setting.engine.kind == "podman",
    )
    told = {
        "argv": limited,
        "variables": jobs.variables(job, PLACES),
        "user": setting.user,
        "cgroup": setting.bounds == "cgroup",
        "seconds": job.limits.start_seconds + job.limits.wall_seconds + _GRACE_SECONDS,
        "layout": {"repo": PLACES["repo"], "template": TEMPLATE},
    }
    (inside / "job.json").write_text(json.dumps(told), encoding="ascii")
    for place, folders, files in os.walk(folder):
        for name in (*folders, *files):
            Path(place, name).chmod(0o755 if name in folders else 0o644)


def _changes(wanted: layout.Plan, folder: Path) -> str:
    writes = []
    for number, (path, (data, mode)) in enumerate(sorted(wanted.writes.items())):
        (folder / str(number)).write_bytes(data)
        writes.append((_hex(path), mode))
    return json.dumps(
        {
            "removals": [_hex(path) for path in wanted.removals],
            "emptied": [_hex(path) for path in wanted.emptied],
            "writes": writes,
        }
    )


def _hex(path: str) -> str:
    return os.fsencode(path).hex()


def command(job: Job, setting: Setting, folder: Path, name: str) -> tuple[str, ...]:
    """The engine's command line that runs `job` as the container `name`."""
    size = job.limits.file_bytes
    return setting.engine.command(
        "run",
        *_identity(setting, name),
        *_isolation(setting.engine.kind),
        *_bounds(job, setting),
        *_memory_places(size, size + tree_bytes(job.tree)),
        *(word for source, target in _shown(job, folder) for word in _mount(source, target)),
        *("--workdir", "/", "--entrypoint", _PYTHON, setting.image),
        *("-I", "-S", f"{INSIDE}/container_init.py", "init"),
        *(("3", "4", "5") if setting.channel == "descriptors" else ("1", "0", "2")),
    )


def _identity(setting: Setting, name: str) -> tuple[str, ...]:
    words = ["--rm", "--name", name, "--hostname", "repairlab", "--pull", "never", "--log-driver", "none"]
    words += ["--no-healthcheck", "--stop-timeout", "0", "--label", "repairlab=run"]
    words += ["--preserve-fds", "3"] if setting.channel == "descriptors" else ["--interactive"]
    words += ["--user", "0:0"]
    if setting.engine.kind == "podman" and setting.root:
        words += ["--uidmap", f"0:{_MAPPED}:65536", "--gidmap", f"0:{_MAPPED}:65536"]
    elif setting.engine.kind == "podman":
        words += ["--userns", f"keep-id:uid={_USER},gid={_USER}"]
    return tuple(words)


def _isolation(kind: Kind) -> tuple[str, ...]:
    words = ["--network", "none", "--ipc", "private", "--read-only", "--security-opt", "no-new-privileges"]
    words += ["--cap-drop", "ALL", *(word for right in _INIT_RIGHTS for word in ("--cap-add", right))]
    if kind == "podman":
        words += ["--read-only-tmpfs=false", "--no-hosts", "--http-proxy=false", "--systemd=false"]
        words += ["--image-volume", "ignore"]
    return tuple(words)


def _bounds(job: Job, setting: Setting) -> tuple[str, ...]:
    words = ["--ulimit", "nofile=1024:1024", "--ulimit", "core=0:0"]
    if setting.engine.kind == "podman":
        words += ["--ulimit", f"nproc={_most_processes()}:{_most_processes()}"]
    if setting.bounds == "cgroup":
        memory = memory_bound(job)
        words += ["--pids-limit", str(job.limits.processes + 1)]
        words += ["--memory", str(memory), "--memory-swap", str(memory)]
    return tuple(words)


def _most_processes() -> int:
    """A bound that the runtime itself can work under, for engines that else ask for more than they may have.

    The one that counts is set by the last program before the tests.
    """
    hard = resource.getrlimit(resource.RLIMIT_NPROC)[1]
    return _LOOSE if hard == resource.RLIM_INFINITY else min(_LOOSE, hard)


def memory_bound(job: Job) -> int:
    """Bytes that a container may hold: what all processes may together, and its memory file systems."""
    return job.limits.memory_bytes * 3 // 2 + 4 * job.limits.file_bytes + tree_bytes(job.tree)


def _memory_places(size: int, tree_size: int) -> tuple[str, ...]:
    words = ["--shm-size", str(size)]
    for place, mode, most in (
        (PLACES["tmp"], "1777", size),
        (PLACES["home"], "0755", size),
        (PLACES["repo"], "0755", tree_size),
    ):
        words += ["--tmpfs", f"{place}:rw,exec,nosuid,nodev,size={most},mode={mode}"]
    return tuple(words)


def tree_bytes(tree: Tree) -> int:
    """What the tree takes up in a memory file system, its changes included."""
    pages = sum(-(-size // _PAGE) for size in _sizes(tree.template))
    pages += sum(-(-len(data) // _PAGE) for data in tree.changes.values() if data is not None)
    return pages * _PAGE


def _sizes(folder: Path) -> Iterator[int]:
    for place, _, files in os.walk(folder):
        yield from (Path(place, name).lstat().st_size for name in files)


def _shown(job: Job, folder: Path) -> list[tuple[Path, str]]:
    """Folders of this machine and where the container shows them, read-only."""
    shown = [
        (folder / "inside", INSIDE),
        (folder / "runner", PLACES["runner"]),
        (job.tree.template.resolve(), TEMPLATE),
    ]
    if job.environment is not None:
        shown.append((job.environment.resolve(), PLACES["env"]))
    shown += [(path, str(path)) for path in job.read_only if not of_the_system(path)]
    return shown


def of_the_system(path: Path) -> bool:
    """Whether `path` belongs to the operating system, of which a container has its own."""
    return path.is_relative_to("/usr") and not path.is_relative_to("/usr/local")


def _mount(source: Path, target: str) -> tuple[str, str]:
    words = ("type=bind", f"source={source}", f"target={target}", "readonly")
    if any(character in word for word in words for character in '"\n\r'):
        raise RefuseToStart(f"a folder's name cannot be given to a container engine: {source}")
    return "--mount", ",".join(f'"{word}"' if "," in word else word for word in words)
