"""The command lines of podman and docker, as far as the container backend needs them.

Nothing but the programs themselves is spoken to: no socket, no library. The two differ in few things, and all
of these differences are here and in `sandbox.container_arguments`.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from repairlab.contract.errors import InfrastructureFailure, RefuseToStart

Kind = Literal["podman", "docker"]

_SECONDS = 120.0
_PACKAGES = MappingProxyType({"podman": "podman runc crun uidmap", "docker": "docker.io"})


@dataclass(frozen=True, slots=True)
class Engine:
    """One container engine: its program, options that come before every command, and its environment."""

    kind: Kind
    program: Path
    options: tuple[str, ...] = ()
    """Such as ``("--runtime", "runc")``."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """What the program may read: PATH, HOME, XDG_RUNTIME_DIR, DOCKER_HOST. None of it is shown inside."""

    @classmethod
    def find(cls, kind: Kind, search_path: str, variables: Mapping[str, str]) -> Engine:
        """The engine on `search_path`, whose client reads `variables`.

        Raises:
            RefuseToStart: it is missing.
        """
        program = shutil.which(kind, path=search_path)
        if program is None:
            raise RefuseToStart(f"{kind} is missing", repair=f"install it: apt-get install {_PACKAGES[kind]}")
        return cls(kind, Path(program), (), {"PATH": search_path, **variables})

    def command(self, *arguments: str) -> tuple[str, ...]:
        """The command line for `arguments`."""
        return (str(self.program), *self.options, *arguments)

    def environment(self) -> dict[str, str]:
        """The environment that its client runs in."""
        return {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", **self.variables, "LC_ALL": "C"}

    def ask(self, *arguments: str, seconds: float = _SECONDS) -> str:
        """Standard output of a command, stripped.

        Raises:
            InfrastructureFailure: the command failed or took too long; kind ``container-engine``.
        """
        done = self.attempt(*arguments, seconds=seconds)
        if done.returncode != 0:
            said = done.stderr.decode("utf-8", "replace").strip()
            raise InfrastructureFailure(
                f"{self.kind} {arguments[0]} failed: {said[-2000:] or 'it said nothing'}",
                kind="container-engine",
            )
        return done.stdout.decode("utf-8", "replace").strip()

    def attempt(self, *arguments: str, seconds: float = _SECONDS) -> subprocess.CompletedProcess[bytes]:
        """Run a command to its end, whatever its status.

        Raises:
            InfrastructureFailure: the program is missing or took too long; kind ``container-engine``.
        """
        try:
            return subprocess.run(
                self.command(*arguments),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=seconds,
                check=False,
                env=self.environment(),
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise InfrastructureFailure(
                f"{self.kind} {arguments[0]} did not run: {error}", kind="container-engine"
            ) from error
