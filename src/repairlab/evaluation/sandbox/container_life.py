"""The life of one container as the harness sees it: finding its processes, bounding them, ending them all."""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from repairlab.contract.errors import InfrastructureFailure
from repairlab.evaluation.sandbox import watch
from repairlab.evaluation.sandbox.container_engine import Engine
from repairlab.evaluation.sandbox.model import Limits, Stop
from repairlab.evaluation.sandbox.pipes import Pipes

_DEATH_SECONDS = 10.0
_PAUSE = 0.02
_OVERHEAD = 1
"""The container's first process."""
_ENGINE_STATUSES = frozenset({125, 126, 127})
"""With these the engines' clients speak of themselves; a program may end with them too."""


@dataclass(slots=True)
class Life:
    """The processes of one run: what the container's first process started, and that itself."""

    engine: Engine
    name: str
    process: subprocess.Popen[bytes]
    pid_file: Path
    pipes: Pipes
    lease: int
    _pid: int | None = None
    _first: int | None = None
    """A descriptor of the first process, where this machine can have one."""

    def ready(self) -> None:
        self._pid = self._find()
        if self._pid is not None:
            with contextlib.suppress(ProcessLookupError):
                self._first = os.pidfd_open(self._pid)

    def _find(self) -> int | None:
        """The first process as this machine counts; None where the engine lives in a virtual machine."""
        if not Path("/proc/self").exists():
            return None
        if self.engine.kind == "podman":
            text = self.pid_file.read_text(encoding="ascii") if self.pid_file.exists() else ""
        else:
            answer = self.engine.attempt("inspect", "--format", "{{.State.Pid}}", self.name)
            text = answer.stdout.decode("ascii", "replace")
        pid = int(text) if text.strip().isdecimal() else 0
        return pid or None

    def excess(self, limits: Limits) -> Stop | None:
        if self._pid is None:
            return None
        return watch.excess(watch.descendants(self._pid), limits, _OVERHEAD)

    def kill(self) -> int | None:
        """End the lease, and see to it that the container has ended. Who outlived whom is in the trailer."""
        self._end_lease()
        deadline = time.monotonic() + _DEATH_SECONDS
        while self.process.poll() is None and time.monotonic() < deadline:
            time.sleep(_PAUSE)
        status = self.process.poll()
        regular = status is not None and status >= 0 and status not in _ENGINE_STATUSES
        if not (regular and self._first is not None and self._first_has_ended()):
            self._remove()
        return None

    def _remove(self) -> None:
        """Let the engine remove the container, and hold it to its word."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        deadline = time.monotonic() + _DEATH_SECONDS
        while self._listed():
            if time.monotonic() > deadline:
                raise InfrastructureFailure("a test run survived its kill", kind="sandbox-survivor")
            self.engine.attempt("rm", "--force", self.name)
        if self._first is not None and not self._first_has_ended():
            raise InfrastructureFailure("a test run survived its kill", kind="sandbox-survivor")

    def _listed(self) -> bool:
        return bool(self.engine.ask("ps", "--all", "--quiet", "--filter", f"name=^{self.name}$"))

    def _first_has_ended(self) -> bool:
        """Wait until the first process has ended, and with it all others of its process namespace."""
        poll = select.poll()
        poll.register(self._first or 0, select.POLLIN)
        return bool(poll.poll(_DEATH_SECONDS * 1000))

    def _end_lease(self) -> None:
        self.pipes.close(self.pipes.payload)
        if self.lease >= 0:
            os.close(self.lease)
            self.lease = -1

    def close(self) -> None:
        self._end_lease()
        if self._first is not None:
            os.close(self._first)
            self._first = None
