"""One call of uv, which installs what test environments are made of."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from repairlab.contract.errors import InfrastructureFailure


def run_uv(
    uv: Path,
    arguments: Sequence[str],
    variables: Mapping[str, str],
    timeout_seconds: float,
    *,
    failed: str,
    repair: str = "",
) -> None:
    """Run uv without its configuration files.

    Args:
        uv: the program.
        arguments: behind the options that every call has.
        variables: its whole environment.
        timeout_seconds: of the call.
        failed: what a failure means, as the message begins.
        repair: what to do about it.

    Raises:
        InfrastructureFailure: uv did not run, or ended with another status than 0.
    """
    command = (str(uv), "--no-config", "--no-progress", *arguments)
    try:
        done = subprocess.run(
            command, capture_output=True, timeout=timeout_seconds, check=False, env=dict(variables)
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InfrastructureFailure(f"uv did not run: {error}", kind="environment") from error
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip()
        raise InfrastructureFailure(f"{failed}: {said[-2000:]}", kind="environment", repair=repair)
