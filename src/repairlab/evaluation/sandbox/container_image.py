"""The system that containers run on: made from Debian's packages, without any registry of images.

`mmdebstrap` puts the packages into one archive; the engine imports that. The same recipe on the same state of
the package archive gives the same bytes, so an image is known by the digest of its content, and two machines
can compare. (An import's own identifier holds the time and cannot be compared.)
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import tarfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from repairlab.contract.canonical import digest_of
from repairlab.contract.errors import InfrastructureFailure, RefuseToStart
from repairlab.evaluation.sandbox.container_engine import Engine
from repairlab.evaluation.sandbox.scratch import scratch_folder

CONTENT = "repairlab.content"
PYTHON = "repairlab.python"
_RECIPE = "repairlab.recipe"
_REPOSITORY = "localhost/repairlab"
_SECONDS = 1800.0
_CHUNK = 1 << 20
_STATUS = "./var/lib/dpkg/status"
_LEFT_OUT = ("/usr/share/doc/*", "/usr/share/man/*", "/usr/share/locale/*", "/usr/share/info/*")
_OPEN_ROOT = 'rm -f "$1/root/.bashrc" "$1/root/.profile"; chmod 0755 "$1/root"'
"""An interpreter may lie in the home folder of root; whoever runs tests has to pass through to it."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """What an image is made of."""

    suite: str = "bookworm"
    packages: tuple[str, ...] = (
        *("bash", "ca-certificates", "coreutils", "git", "python3", "tzdata", "util-linux"),
        # What interpreters that were built elsewhere are usually linked to.
        *("libbz2-1.0", "libdb5.3", "libexpat1", "libffi8", "libgdbm6", "liblzma5", "libncursesw6"),
        *("libreadline8", "libsqlite3-0", "libssl3", "libuuid1", "zlib1g"),
    )
    mirrors: tuple[str, ...] = ()
    """Addresses of package archives; none means the tool's own. A dated snapshot makes the recipe exact."""
    epoch: int = 1_700_000_000
    """Seconds; no file of the image is younger."""

    @property
    def key(self) -> str:
        """Digest of the recipe."""
        return digest_of(asdict(self))


@dataclass(frozen=True, slots=True)
class Image:
    """An image that an engine holds."""

    reference: str
    """Identifier by which the engine runs exactly this one."""
    content: str
    """SHA-256 of its files as one archive; the engine's identifier for an image from elsewhere."""
    python: str
    """Version of its own Python, such as ``3.11.2``; "" for an image from elsewhere."""


def build_image(engine: Engine, recipe: Recipe, scratch: Path, variables: Mapping[str, str]) -> Image:
    """Make the image of `recipe`; the one at hand when there is one.

    `variables` is the environment of mmdebstrap: search path, proxies.

    Raises:
        RefuseToStart: mmdebstrap is missing.
        InfrastructureFailure: it failed (kind ``image``), or the engine did (kind ``container-engine``).
    """
    name = f"{_REPOSITORY}:{recipe.key[:16]}"
    present = find_image(engine, name)
    if present is not None:
        return present
    with scratch_folder(scratch) as folder:
        archive = folder / "system.tar"
        _assemble(recipe, archive, variables)
        content, python = _digest(archive), _python_of(archive)
        labels = {CONTENT: content, PYTHON: python, _RECIPE: recipe.key}
        changes = (word for key in sorted(labels) for word in ("--change", f"LABEL {key}={labels[key]}"))
        reference = engine.ask("import", *changes, str(archive), name, seconds=_SECONDS).split()[-1]
    return Image(reference, content, python)


def find_image(engine: Engine, name: str) -> Image | None:
    """The image called `name`, when the engine has it.

    Raises:
        InfrastructureFailure: the engine does not work; kind ``container-engine``.
    """
    answer = engine.attempt("image", "inspect", name)
    if answer.returncode != 0:
        engine.ask("version")
        return None
    (facts,) = json.loads(answer.stdout)
    config = facts.get("Config") or {}
    labels = config.get("Labels") or facts.get("Labels") or {}
    reference = str(facts["Id"])
    return Image(reference, str(labels.get(CONTENT, reference)), str(labels.get(PYTHON, "")))


def _assemble(recipe: Recipe, archive: Path, variables: Mapping[str, str]) -> None:
    command = [
        *("mmdebstrap", "--quiet", "--variant=essential", f"--include={','.join(recipe.packages)}"),
        *(f"--dpkgopt=path-exclude={pattern}" for pattern in _LEFT_OUT),
        *(f"--customize-hook={_OPEN_ROOT}", recipe.suite, str(archive), *recipe.mirrors),
    ]
    environment = {**variables, "SOURCE_DATE_EPOCH": str(recipe.epoch), "LC_ALL": "C"}
    try:
        done = subprocess.run(command, capture_output=True, timeout=_SECONDS, check=False, env=environment)
    except FileNotFoundError as error:
        raise RefuseToStart(
            "mmdebstrap is missing, which makes the image",
            repair="install mmdebstrap, or make an image by other means: docs/containers.md",
        ) from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InfrastructureFailure(f"mmdebstrap did not run: {error}", kind="image") from error
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip()
        raise InfrastructureFailure(f"mmdebstrap failed: {said[-2000:]}", kind="image")


def _digest(archive: Path) -> str:
    total = hashlib.sha256()
    with archive.open("rb") as stream:
        while data := stream.read(_CHUNK):
            total.update(data)
    return total.hexdigest()


def _python_of(archive: Path) -> str:
    """Version of the system's Python, out of the package list."""
    with tarfile.open(archive) as files:
        member = files.extractfile(_STATUS)
        text = "" if member is None else member.read().decode("utf-8")
    match = re.search(r"^Package: python3\.\d+-minimal$(?:\n.+)*?\nVersion: ([0-9.]+)", text, re.MULTILINE)
    return "" if match is None else match.group(1)
