"""Connecting to a model host: client, residency, and whatever can be seen beside them from here."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from repairlab.contract.experiment import Level
from repairlab.hosts.client import LMStudioClient
from repairlab.hosts.devices import NvidiaSmi
from repairlab.hosts.failures import FailureRules
from repairlab.hosts.lms import Lms
from repairlab.hosts.provenance import HostProvenance, hold_equal, look
from repairlab.hosts.residency import Residency
from repairlab.hosts.serving import ServerControl
from repairlab.hosts.transport import Exchange, Patience

_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_PASSED_ON = ("PATH", "HOME", "LMS_SERVER_HOST")


@dataclass(frozen=True, slots=True)
class Host:
    """A connected host."""

    client: LMStudioClient
    residency: Residency
    rules: FailureRules
    provenance: HostProvenance
    journal: list[Callable[[Exchange], None]]
    """The client tells every exchange to the last entry."""
    control: ServerControl
    lms: Lms | None
    devices: NvidiaSmi | None

    def wake(self) -> None:
        """Bring the host back to answering, as far as that is in this machine's power.

        Raises:
            RefuseToStart, InfrastructureFailure: it cannot be brought back.
        """
        self.control.wake()

    def hold_unchanged(self) -> None:
        """Compare versions and devices with those at the start.

        Raises:
            InfrastructureFailure: the host was updated in mid-run.
        """
        hold_equal(self.provenance, look(self.lms, self.devices), self.rules)


@contextmanager
def connect(
    url: str,
    token: str | None,
    rules: FailureRules,
    silence_seconds: float,
    environment: Mapping[str, str],
    level: Level = "rest",
) -> Iterator[Host]:
    """Greet the host at `url`.

    Args:
        url: scheme, host and port.
        token: bearer token, or ``None``.
        rules: the frozen table of failures.
        silence_seconds: how long a chat may send nothing.
        environment: where `lms` and the devices' tools are looked for; only for a host on this machine.
        level: what a verification has to rest on; a load at a host below it is refused.
    """
    journal: list[Callable[[Exchange], None]] = []
    lms, devices = _beside(url, environment, rules)
    with LMStudioClient(
        url,
        token,
        time.monotonic,
        patience=Patience(silence=silence_seconds),
        on_exchange=lambda exchange: journal[-1](exchange) if journal else None,
        rules=rules,
    ) as client:
        control = ServerControl(client, lms, urlsplit(url).port, time.monotonic, time.sleep)
        control.wake()
        residency = Residency(
            client, time.monotonic, time.sleep, rules=rules, lms=lms, memory=devices, required_level=level
        )
        yield Host(client, residency, rules, look(lms, devices), journal, control, lms, devices)


def _beside(
    url: str, environment: Mapping[str, str], rules: FailureRules
) -> tuple[Lms | None, NvidiaSmi | None]:
    """The command line and the device tool of a host on this machine."""
    if urlsplit(url).hostname not in _LOOPBACK:
        return None, None
    passed = {name: environment[name] for name in _PASSED_ON if name in environment}
    path = passed.get("PATH", "")
    lms, nvidia = (shutil.which(name, path=path) if path else None for name in ("lms", "nvidia-smi"))
    return (
        Lms(Path(lms), passed, rules) if lms else None,
        NvidiaSmi(Path(nvidia), passed) if nvidia else None,
    )
