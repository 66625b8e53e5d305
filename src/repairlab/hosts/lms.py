"""The tool ``lms`` where it is local: a second, read-only view of a host, and control of its server.

It never loads and never unloads: its ``load`` matches keys by similarity, and its ``unload`` exits with 0 for
what it does not know. Exit statuses prove nothing by themselves; what is read is JSON or nothing.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

from pydantic import Field, TypeAdapter, ValidationError

from repairlab.hosts.failures import FailureRules
from repairlab.hosts.wire import Quantization, WireModel

_ValueT = TypeVar("_ValueT")
_QUOTED_CHARACTERS = 300


class PsEntry(WireModel):
    """One loaded instance, of ``lms ps --json``."""

    identifier: str
    model_key: str = Field(alias="modelKey")
    context_length: int = Field(alias="contextLength")
    status: str
    queued: int = 0
    """Requests under way and waiting, the running one included."""
    ttl_ms: int | None = Field(default=None, alias="ttlMs")
    device_identifier: str | None = Field(default=None, alias="deviceIdentifier")
    """Another machine that it runs on; ``None`` is this host."""
    quantization: Quantization | None = None
    selected_variant: str | None = Field(default=None, alias="selectedVariant")


class LsEntry(WireModel):
    """One downloaded model, of ``lms ls --json``."""

    model_key: str = Field(alias="modelKey")
    type: str
    device_identifier: str | None = Field(default=None, alias="deviceIdentifier")


class ServerStatus(WireModel):
    """Of ``lms server status --json``. It may be wrong; only the greeting of the server proves anything."""

    running: bool
    port: int | None = None


class _Version(WireModel):
    version: str


class Lms:
    """Runs one executable.

    Args:
        program: the executable.
        environment: all environment variables that it gets.
        rules: the frozen table of failures.
        seconds: limit on one run; the tool may have to wake the application.

    Every method raises what the table says of ``lms-failed``.
    """

    def __init__(
        self,
        program: Path,
        environment: Mapping[str, str],
        rules: FailureRules,
        *,
        seconds: float = 60.0,
    ) -> None:
        self._program = program
        self._environment = dict(environment)
        self._rules = rules
        self._seconds = seconds

    def ps(self) -> tuple[PsEntry, ...]:
        """Loaded instances, sorted by identifier."""
        entries = self._read(TypeAdapter(tuple[PsEntry, ...]), "ps", "--json")
        return tuple(sorted(entries, key=lambda entry: entry.identifier))

    def ls(self) -> tuple[LsEntry, ...]:
        """Downloaded models, sorted by key."""
        entries = self._read(TypeAdapter(tuple[LsEntry, ...]), "ls", "--json")
        return tuple(sorted(entries, key=lambda entry: entry.model_key))

    def version(self) -> str:
        """Version of the application."""
        return self._read(TypeAdapter(_Version), "version", "--json").version

    def server_status(self) -> ServerStatus:
        """What the tool thinks of the server."""
        return self._read(TypeAdapter(ServerStatus), "server", "status", "--json")

    def runtimes(self) -> tuple[str, ...]:
        """Lines of ``lms runtime ls``, without blanks at their ends: engines and their versions."""
        lines = self._run("runtime", "ls").stdout.split("\n")
        return tuple(" ".join(line.split()) for line in lines if line.strip())

    def start_server(self, port: int | None) -> None:
        """Start the server. The tool waits for its greeting; look for it all the same."""
        self._run("server", "start", *(("--port", str(port)) if port is not None else ()))

    def stop_server(self) -> bool:
        """Stop the server, which cuts what is under way; false if the tool says that it was not running."""
        return self._finished("server", "stop").returncode == 0

    def _read(self, shape: TypeAdapter[_ValueT], *words: str) -> _ValueT:
        text = self._run(*words).stdout
        value = last_json(text)
        try:
            return shape.validate_json(json.dumps(value), strict=True)
        except ValidationError as error:
            first = error.errors()[0]
            field = ".".join(str(part) for part in first["loc"])
            raise self._rules.noticed("lms-failed", f"{_command(words)}: {field}: {first['msg']}") from error

    def _run(self, *words: str) -> subprocess.CompletedProcess[str]:
        done = self._finished(*words)
        if done.returncode != 0:
            said = (done.stderr or done.stdout).strip()[:_QUOTED_CHARACTERS]
            raise self._rules.noticed(
                "lms-failed", f"{_command(words)}: exit status {done.returncode}: {said}"
            )
        return done

    def _finished(self, *words: str) -> subprocess.CompletedProcess[str]:
        try:
            return subprocess.run(
                [str(self._program), *words],
                env=self._environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=self._seconds,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise self._rules.noticed("lms-failed", f"{_command(words)}: {error}") from error


def last_json(text: str) -> object:
    """The JSON value with which `text` ends, or ``None``; older versions print a sentence before it.

    The longest such value counts, so that the last line of an indented one is not taken for the whole.
    """
    lines = text.strip().split("\n")
    for first in range(len(lines)):
        try:
            value: object = json.loads("\n".join(lines[first:]))
        except ValueError:
            continue
        return value
    return None


def _command(words: tuple[str, ...]) -> str:
    return f"lms {' '.join(words)}"
