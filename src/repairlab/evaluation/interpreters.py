"""Python interpreters of this machine: finding them, asking them who they are, choosing one."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from repairlab.contract.errors import BadInput, InfrastructureFailure
from repairlab.evaluation.specifiers import Release, admits, parse_specifier

_QUESTION = """
import json, os, platform, sys, sysconfig
print(json.dumps({
    "executable": os.path.realpath(sys.executable),
    "implementation": platform.python_implementation(),
    "version": list(sys.version_info[:3]),
    "final": sys.version_info[3] == "final",
    "platform": sysconfig.get_platform(),
    "prefixes": [sys.base_prefix, sys.base_exec_prefix],
}))
"""
_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Interpreter:
    """One installed Python."""

    executable: Path
    implementation: str
    version: Release
    platform: str
    folders: tuple[Path, ...]
    """Where its standard library and libraries lie: what a sandbox has to show."""

    @property
    def version_text(self) -> str:
        """Such as ``3.12.1``."""
        return ".".join(map(str, self.version))


def ask(executable: Path) -> Interpreter | None:
    """Who `executable` is; None for something that is no final CPython release or does not run."""
    try:
        answer = subprocess.run(
            (str(executable), "-I", "-S", "-c", _QUESTION),
            capture_output=True,
            timeout=_SECONDS,
            check=True,
            env={"PATH": "/usr/bin:/bin", "LC_ALL": "C"},
        )
    except (OSError, subprocess.SubprocessError):
        return None
    facts = json.loads(answer.stdout)
    if not facts["final"] or facts["implementation"] != "CPython":
        return None
    folders = {Path(prefix) for prefix in facts["prefixes"]}
    folders |= {folder.resolve() for folder in folders}
    return Interpreter(
        executable=Path(facts["executable"]),
        implementation=facts["implementation"],
        version=tuple(facts["version"]),
        platform=facts["platform"],
        folders=tuple(sorted(folders)),
    )


def installed(uv: Path, variables: Mapping[str, str]) -> tuple[Path, ...]:
    """Executables that uv knows on this machine, its environment being `variables`; nothing is downloaded.

    Raises:
        InfrastructureFailure: uv does not run or does not answer as expected.
    """
    command = (
        str(uv),
        "python",
        "list",
        "--only-installed",
        "--offline",
        "--no-config",
        "--output-format",
        "json",
    )
    try:
        answer = subprocess.run(
            command, capture_output=True, timeout=_SECONDS, check=True, env=dict(variables)
        )
        entries = json.loads(answer.stdout)
        return tuple(sorted({Path(entry["path"]) for entry in entries if entry["path"]}))
    except (OSError, subprocess.SubprocessError, ValueError, KeyError, TypeError) as error:
        raise InfrastructureFailure(f"uv cannot list the interpreters: {error}", kind="uv") from error


def choose(specifier: str, interpreters: Iterable[Interpreter]) -> Interpreter:
    """The newest interpreter that `specifier` admits; of equal ones the first by path.

    Raises:
        BadInput: the specifier cannot be read, or none is admitted; the message says which were seen.
    """
    clauses = parse_specifier(specifier)
    known = sorted(interpreters, key=lambda i: (tuple(-n for n in i.version), str(i.executable)))
    for interpreter in known:
        if admits(clauses, interpreter.version):
            return interpreter
    raise BadInput(
        f"no Python interpreter satisfies {specifier!r}; seen: {_seen(known)}",
        repair="install one (for example `uv python install`) or name its path",
    )


def _seen(known: Sequence[Interpreter]) -> str:
    return ", ".join(f"{i.version_text} ({i.executable})" for i in known) or "none"
