"""`repairlab host serve`: the emulator in the foreground."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def serve_command(
    port: int,
    *,
    models_config: Path | None = None,
    knowledge: Path | None = None,
    recordings: Path | None = None,
    llama: bool = False,
    minilm: bool = False,
) -> None:
    """Become the emulator; it serves until it is interrupted.

    Args:
        port: on the loopback address.
        models_config: JSON file with the host's models; ``None`` serves the calibration models.
        knowledge: JSON file with what the calibration models know.
        recordings: a transcript that models of the engine ``recorded`` repeat.
        llama: offer the small language model of the extra too.
        minilm: offer the small embedder of the extra too.
    """
    command = [sys.executable, "-P", "-m", "repairlab.hosts.emulator", "--port", str(port)]
    files = (("--models-config", models_config), ("--knowledge", knowledge), ("--recordings", recordings))
    for option, path in files:
        command += [option, str(path)] if path is not None else []
    command += ["--llama"] if llama else []
    command += ["--minilm"] if minilm else []
    os.execv(command[0], command)
