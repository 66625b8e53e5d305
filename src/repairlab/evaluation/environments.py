"""Installed Python environments, keyed by what they are made of.

An environment is a virtual environment that uv makes from a task's pinned closure. Its key is a digest of the
requirements, the exact version of the interpreter and the platform. It is made under a temporary name and
renamed when it is whole, so what bears a key is complete; once there it is used without any network.
"""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from repairlab.contract.canonical import digest_of
from repairlab.contract.errors import BadInput, InfrastructureFailure, IntegrityViolation
from repairlab.contract.task import Environment
from repairlab.evaluation.installed import (
    MARKER,
    InstalledEnvironment,
    Record,
    environment_state,
    files_unlike_record,
)
from repairlab.evaluation.interpreters import Interpreter, ask, choose, installed
from repairlab.evaluation.sandbox.scratch import remove_tree
from repairlab.evaluation.uv import run_uv

_PINNED = re.compile(
    r"^([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)(\[[A-Za-z0-9,._-]+\])?==([A-Za-z0-9.!+_-]+)$"
)
_LAYOUT = 2
"""Raise when the way of making an environment changes, so that old ones are not taken for new."""


@dataclass(frozen=True, slots=True)
class PythonEnvironments:
    """Environments under `root`, made with the program `uv` from one of `interpreters`."""

    root: Path
    uv: Path
    interpreters: tuple[Interpreter, ...]
    variables: Mapping[str, str]
    """Environment of uv: search path, proxies, index; passed in by the command line."""
    timeout_seconds: float = 1800.0

    @classmethod
    def discover(
        cls, root: Path, uv: Path, variables: Mapping[str, str], extra: tuple[Path, ...] = ()
    ) -> PythonEnvironments:
        """With all interpreters that uv knows, and those at the paths `extra`."""
        asked = (ask(path) for path in (*installed(uv, variables), *extra))
        found = {i.executable: i for i in asked if i is not None}
        return cls(root, uv, tuple(found[path] for path in sorted(found)), variables)

    def key_of(self, environment: Environment) -> tuple[str, Interpreter]:
        """The key of `environment` here, and the interpreter that it rests on.

        Raises:
            BadInput: a requirement is not pinned, or no interpreter satisfies the specifier.
        """
        interpreter = choose(environment.python, self.interpreters)
        return digest_of(
            {
                "layout": _LAYOUT,
                "requirements": list(_pinned(environment.requirements)),
                "implementation": interpreter.implementation,
                "version": interpreter.version_text,
                "platform": interpreter.platform,
            }
        ), interpreter

    def ensure(self, environment: Environment) -> InstalledEnvironment:
        """The installed environment; made when it is not there. Offline when it is.

        Raises:
            BadInput: see `key_of`.
            InfrastructureFailure: uv failed; kind ``environment``. A later call tries again from the start.
        """
        key, interpreter = self.key_of(environment)
        place = self.root / key
        self.root.mkdir(parents=True, exist_ok=True)
        with _locked(self.root / f"{key}.lock"):
            if not ((place / MARKER).is_file() and (place / "bin" / "python").exists()):
                self._make(place, interpreter, _pinned(environment.requirements))
            return self._load(key, place, interpreter)

    def verify(self, environment: InstalledEnvironment) -> None:
        """Compare every installed file with what was recorded when the environment was made. Offline.

        Raises:
            IntegrityViolation: a distribution or a file differs.
        """
        state = environment_state(environment.root)
        if state.distributions != environment.distributions:
            raise IntegrityViolation(
                f"environment {environment.key[:12]}: other distributions are installed than were recorded",
                repair=f"remove {environment.root}; it is made again",
            )
        if state.files_digest != environment.files_digest:
            raise IntegrityViolation(
                f"environment {environment.key[:12]}: installed files differ from those recorded",
                repair=f"remove {environment.root}; it is made again",
            )

    def rebuild(self, environment: Environment) -> InstalledEnvironment:
        """Remove what is there and make it anew."""
        key, _ = self.key_of(environment)
        self.root.mkdir(parents=True, exist_ok=True)
        with _locked(self.root / f"{key}.lock"):
            if (self.root / key).exists():
                remove_tree(self.root / key)
        return self.ensure(environment)

    def _make(self, place: Path, interpreter: Interpreter, requirements: tuple[str, ...]) -> None:
        for left_over in (place, unfinished := place.with_suffix(".unfinished")):
            if left_over.exists():
                remove_tree(left_over)
        self._uv("venv", "--quiet", "--relocatable", "--python", str(interpreter.executable), str(unfinished))
        if requirements:
            python = str(unfinished / "bin" / "python")
            self._uv(
                "pip",
                "install",
                "--quiet",
                "--no-deps",
                "--compile-bytecode",
                "--link-mode",
                "copy",  # a linked file is shared with uv's cache and every other environment
                "--python",
                python,
                *requirements,
            )
        _hold_against_records(unfinished)
        state = environment_state(unfinished)
        record = Record(
            schema_version=1,
            python=interpreter.version_text,
            interpreter_folders=tuple(map(str, interpreter.folders)),
            requirements=requirements,
            distributions=state.distributions,
            files_digest=state.files_digest,
        )
        marker = unfinished / MARKER
        with marker.open("w", encoding="utf-8") as stream:
            stream.write(record.model_dump_json(indent=1))
            stream.flush()
            os.fsync(stream.fileno())
        unfinished.rename(place)

    def _load(self, key: str, place: Path, interpreter: Interpreter) -> InstalledEnvironment:
        record = Record.model_validate_json((place / MARKER).read_bytes(), strict=True)
        return InstalledEnvironment(
            key=key,
            root=place,
            python_version=record.python,
            platform=interpreter.platform,
            interpreter_folders=tuple(map(Path, record.interpreter_folders)),
            distributions=record.distributions,
            files_digest=record.files_digest,
        )

    def _uv(self, *arguments: str) -> None:
        run_uv(self.uv, arguments, self.variables, self.timeout_seconds, failed=f"uv {arguments[0]} failed")


def _hold_against_records(place: Path) -> None:
    """What was installed must be what the wheels say: a cache on the way may have been altered."""
    differing = files_unlike_record(place)
    if differing:
        raise InfrastructureFailure(
            f"{differing[0]} is not the file that its distribution's RECORD names",
            kind="environment",
            repair="uv's cache is damaged; run: uv cache clean",
        )


def _pinned(requirements: tuple[str, ...]) -> tuple[str, ...]:
    """The closure in a fixed order and spelling.

    Raises:
        BadInput: an entry is not ``name==version``, or a name comes twice.
    """
    found: dict[str, str] = {}
    for text in requirements:
        match = _PINNED.match(text)
        if match is None:
            raise BadInput(f"requirement {text!r} is not pinned as name==version")
        name = re.sub(r"[-_.]+", "-", match.group(1)).lower()
        if name in found:
            raise BadInput(f"requirement {name} is listed twice")
        found[name] = f"{name}{match.group(2) or ''}=={match.group(3)}"
    return tuple(found[name] for name in sorted(found))


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the lock file `path`; the kernel gives it back when the process ends, however that happens."""
    with path.open("a") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield
