"""What is known of the program itself: its source state, its revision, the machine."""

from __future__ import annotations

import platform
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import repairlab
from repairlab.contract.canonical import Json
from repairlab.contract.study import Study
from repairlab.manifest.freeze import SourceState
from repairlab.manifest.revision import Code, read_code


def package_folder() -> Path:
    """Folder of the package ``repairlab`` that is running."""
    return Path(repairlab.__file__).resolve().parent


def revision_of(study: Study) -> Code:
    """The research-code revision of this program together with the study's contracts."""
    return read_code(package_folder(), study.contracts)


def source_state() -> SourceState:
    """Commit and cleanness of the source tree; an installed copy outside git has neither."""
    folder = package_folder()
    head = _git(folder, "rev-parse", "--verify", "HEAD")
    if head is None:
        return SourceState(None, dirty=False)
    tracked = _git(folder, "ls-files", "--error-unmatch", "__init__.py")
    if tracked is None:
        return SourceState(None, dirty=False)
    return SourceState(head.strip(), dirty=bool(_git(folder, "status", "--porcelain", "--", ".")))


def software() -> dict[str, Json]:
    """Versions that belong to the facts of a cell; no host name and no clock."""
    return {
        "repairlab": repairlab.__version__,
        "python": platform.python_version(),
        "system": platform.system(),
        "machine": platform.machine(),
        "httpx": version("httpx"),
        "byte_order": sys.byteorder,
    }


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=False
        )
    except OSError:
        return None
    return done.stdout if done.returncode == 0 else None
