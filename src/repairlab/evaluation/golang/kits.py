"""The driver, the instrumented sources and the compiled standard library of one toolchain: a kit.

A kit is made once for each toolchain, on this machine and outside of any sandbox: everything that goes into
it is the toolchain's own or this room's. Compiled packages of the standard library do not depend on where
they were compiled, so that all tasks start from the kit's build cache.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from repairlab.contract.canonical import digest_of, sha256_hex
from repairlab.contract.errors import InfrastructureFailure, IntegrityViolation
from repairlab.evaluation.golang.instrument import DRIVER_FILES, overlay, source
from repairlab.evaluation.golang.modules import make_read_only, tree_digest
from repairlab.evaluation.golang.toolchains import Toolchain
from repairlab.evaluation.sandbox.scratch import remove_tree, scratch_folder
from repairlab.repositories.locking import hold

_LAYOUT = 1
"""Raise when the way of making a kit changes, so that old ones are not taken for new."""
_MARKER = "repairlab.digest"
_PARTS = ("bin", "overlay", "cache")
_SEED = 'package seed\n\nimport "testing"\n\nfunc TestNothing(*testing.T) {}\n'


@dataclass(frozen=True, slots=True)
class Kit:
    """What lies at `root`: ``bin/driver``, ``overlay/`` and ``cache/``."""

    root: Path
    key: str


@dataclass(frozen=True, slots=True)
class GoKits:
    """Kits under `root`."""

    root: Path
    timeout_seconds: float = 1800.0

    def ensure(self, toolchain: Toolchain) -> Kit:
        """The kit of `toolchain`.

        Raises:
            RefuseToStart: the toolchain cannot be instrumented.
            InfrastructureFailure: the go command failed; kind ``environment``.
            IntegrityViolation: the kit is not what it was when it was made.
        """
        replaced = overlay(toolchain.root)
        sources = {name: source(name) for name in DRIVER_FILES}
        key = digest_of(
            {
                "layout": _LAYOUT,
                "toolchain": toolchain.digest,
                "version": toolchain.version_text,
                "platform": toolchain.platform,
                "overlay": {name: sha256_hex(data) for name, data in replaced.items()},
                "driver": {name: sha256_hex(data) for name, data in sources.items()},
            }
        )
        place = self.root / key
        self.root.mkdir(parents=True, exist_ok=True)
        with hold(self.root / f"{key}.lock"):
            if not (place / _MARKER).is_file():
                self._make(place, toolchain, replaced, sources)
        if (place / _MARKER).read_text(encoding="ascii") != _digest(place):
            raise IntegrityViolation(f"the Go kit {place} was changed", repair="delete it")
        return Kit(place, key)

    def _make(
        self, place: Path, toolchain: Toolchain, replaced: Mapping[str, bytes], sources: Mapping[str, bytes]
    ) -> None:
        unfinished = place.with_suffix(".unfinished")
        for left_over in (place, unfinished):
            if left_over.exists():
                remove_tree(left_over)
        write_all(unfinished / "overlay", replaced)
        with scratch_folder(self.root) as scratch:
            named = {
                str(toolchain.root / "src" / name): str(unfinished / "overlay" / name) for name in replaced
            }
            (scratch / "overlay.json").write_text(json.dumps({"Replace": named}), encoding="utf-8")
            module = b"module example.invalid/kit\n\ngo 1.21\n"
            write_all(scratch / "driver", {"go.mod": module, **sources})
            write_all(scratch / "seed", {"go.mod": module, "seed_test.go": _SEED.encode()})
            build = _Build(toolchain, unfinished / "cache", scratch, self.timeout_seconds)
            build.run("driver", ("build", "-trimpath", "-o", str(unfinished / "bin" / "driver"), "."))
            build.run("seed", ("test", "-c", "-vet=off", "-o", str(scratch / "seed.test"), "."))
        make_read_only(unfinished)
        (unfinished / _MARKER).write_text(_digest(unfinished), encoding="ascii")
        unfinished.rename(place)


@dataclass(frozen=True, slots=True)
class _Build:
    toolchain: Toolchain
    cache: Path
    scratch: Path
    timeout_seconds: float

    def run(self, folder: str, arguments: Sequence[str]) -> None:
        """One go command in a folder of the scratch, with the overlay and without any network."""
        command, *rest = arguments
        fixed = {
            "PATH": "/usr/bin:/bin",
            "HOME": str(self.scratch),
            "LC_ALL": "C",
            "GOROOT": str(self.toolchain.root),
            "GOCACHE": str(self.cache),
            "GOENV": "off",
            "GOFLAGS": "-buildvcs=false",
            "GO111MODULE": "on",
            "GOWORK": "off",
            "GOPROXY": "off",
            "GOTOOLCHAIN": "local",
            "CGO_ENABLED": "0",
        }
        try:
            done = subprocess.run(
                (
                    str(self.toolchain.root / "bin" / "go"),
                    command,
                    f"-overlay={self.scratch / 'overlay.json'}",
                    *rest,
                ),
                cwd=self.scratch / folder,
                capture_output=True,
                timeout=self.timeout_seconds,
                check=False,
                env=fixed,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise InfrastructureFailure(f"go did not run: {error}", kind="environment") from error
        if done.returncode != 0:
            said = (done.stdout + done.stderr).decode("utf-8", "replace").strip()
            raise InfrastructureFailure(f"the Go {folder} does not build: {said[-2000:]}", kind="environment")


def write_all(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write `files` below `folder`, making folders as needed."""
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def _digest(place: Path) -> str:
    return digest_of({part: tree_digest(place / part) for part in _PARTS if os.path.lexists(place / part)})
