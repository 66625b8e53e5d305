"""What can be seen of a host's devices: free memory before a load, names and drivers for the record."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from repairlab.contract.errors import InfrastructureFailure

_MIB = 2**20
_SECONDS = 30.0


class MemoryProbe(Protocol):
    """Free memory of the devices on which models run."""

    def free_bytes(self) -> int:
        """Bytes that are free now, summed over devices."""


class NvidiaSmi:
    """Asks ``nvidia-smi`` where it is local.

    Args:
        program: the executable.
        environment: all environment variables that it gets.
    """

    def __init__(self, program: Path, environment: Mapping[str, str]) -> None:
        self._program = program
        self._environment = dict(environment)

    def free_bytes(self) -> int:
        """Free memory of all devices together.

        Raises:
            InfrastructureFailure: kind ``device-probe``, if the tool fails or says something else.
        """
        lines = self._query("memory.free")
        if not lines or not all(line.isdecimal() for line in lines):
            raise InfrastructureFailure(f"nvidia-smi says {lines!r}", kind="device-probe")
        return sum(int(line) for line in lines) * _MIB

    def describe(self) -> tuple[str, ...]:
        """Name and driver of each device."""
        return self._query("name,driver_version")

    def _query(self, fields: str) -> tuple[str, ...]:
        command = [str(self._program), f"--query-gpu={fields}", "--format=csv,noheader,nounits"]
        try:
            done = subprocess.run(
                command,
                env=self._environment,
                capture_output=True,
                text=True,
                timeout=_SECONDS,
                check=True,
            )
        except (OSError, subprocess.SubprocessError) as error:
            raise InfrastructureFailure(f"nvidia-smi: {error}", kind="device-probe") from error
        return tuple(line.strip() for line in done.stdout.split("\n") if line.strip())
