"""`repairlab host serve`: the emulator in the foreground."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def serve_command(port: int, knowledge: Path | None) -> None:
    """Become the emulator; it serves until it is interrupted."""
    command = [sys.executable, "-P", "-m", "repairlab.hosts.emulator", "--port", str(port)]
    if knowledge is not None:
        command += ["--knowledge", str(knowledge)]
    os.execv(command[0], command)
