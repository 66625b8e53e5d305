"""Starting and stopping an emulated host as a process of its own."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import TracebackType

from repairlab.contract.errors import BadInput, InfrastructureFailure, RefuseToStart, RepairlabError

_STOP_SECONDS = 3.0


class EmulatorProcess:
    """A running emulator; use it as a context manager. It ends with this process, however that ends.

    Args:
        models_config: JSON file with the host's models; ``None`` serves the calibration models.
        knowledge: JSON file with what the calibration models know; it is read by the host's process alone.
        faults: JSON file with a scenario.
        recordings: a transcript that models of the engine ``recorded`` repeat.
        llama: offer the small language model of the extra too.
        minilm: offer the small embedder of the extra too.
        control: serve the route by which tests exchange the scenario.
        start_seconds: limit on the start.

    Raises:
        BadInput: the process refused a file that it was given; the message holds what it said.
        InfrastructureFailure: kind ``emulator-start``, for any other end or none in time.
    """

    def __init__(
        self,
        *,
        models_config: Path | None = None,
        knowledge: Path | None = None,
        faults: Path | None = None,
        recordings: Path | None = None,
        llama: bool = False,
        minilm: bool = False,
        control: bool = False,
        start_seconds: float = 20.0,
    ) -> None:
        # -P: a folder or file in the working directory must never stand in for a module of this program.
        command = [sys.executable, "-P", "-m", "repairlab.hosts.emulator", "--port", "0"]
        for option, path in (
            ("--models-config", models_config),
            ("--knowledge", knowledge),
            ("--faults", faults),
            ("--recordings", recordings),
        ):
            command += [option, str(path)] if path is not None else []
        command += ["--llama"] if llama else []
        command += ["--minilm"] if minilm else []
        self._command = [*command, "--control"] if control else command
        self._start_seconds = start_seconds
        self._process: subprocess.Popen[bytes] | None = None
        self.url = ""
        self.channel = ""
        """Where the double of ``lms`` reaches the host; see `repairlab.hosts.emulator.lms`."""
        self.pid = 0

    def __enter__(self) -> EmulatorProcess:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Start the process and wait until it serves; sets `url`, `channel` and `pid`."""
        with tempfile.TemporaryFile() as complaints:
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=complaints
            )
            line = self._first_line(self._process)
            if not line.endswith(b"\n"):
                status = self.stop()
                complaints.seek(0)
                raise _start_failure(status, complaints.read(2000).decode("utf-8", "replace").strip())
        ready = json.loads(line)
        self.url = ready["url"]
        self.pid = ready["pid"]
        self.channel = ready["channel"]

    def stop(self) -> int | None:
        """End the process: its standard input closes first, and stronger means follow if it stays.

        Returns:
            its exit status; ``None`` if it was not running.
        """
        process, self._process = self._process, None
        if process is None:
            return None
        if process.stdin:
            process.stdin.close()
        if process.stdout:
            process.stdout.close()
        for stronger in (process.terminate, process.kill):
            try:
                return process.wait(timeout=_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                stronger()
        return process.wait()

    def _first_line(self, process: subprocess.Popen[bytes]) -> bytes:
        """The ready line; what there is of it when the process ends or the time is over."""
        line = b""
        limit = time.monotonic() + self._start_seconds
        while process.stdout is not None and not line.endswith(b"\n"):
            readable, _, _ = select.select([process.stdout], [], [], max(0.0, limit - time.monotonic()))
            piece = os.read(process.stdout.fileno(), 4096) if readable else b""
            if not piece:
                break
            line += piece
        return line


def _start_failure(status: int | None, said: str) -> RepairlabError:
    message = f"the emulated host did not start: {said or 'it said nothing'}"
    if status == RefuseToStart.exit_status:
        return BadInput(message)
    return InfrastructureFailure(message, kind="emulator-start")
