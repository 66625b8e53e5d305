"""What a host is, for the record of each cell: versions, engines, devices; compared at the end of a block."""

from __future__ import annotations

from dataclasses import dataclass

from repairlab.contract.canonical import Json
from repairlab.hosts.devices import NvidiaSmi
from repairlab.hosts.failures import FailureRules
from repairlab.hosts.lms import Lms


@dataclass(frozen=True, slots=True)
class HostProvenance:
    """Versions and devices, no clock and no address. ``None`` and empty mean: not visible from here."""

    app_version: str | None
    runtimes: tuple[str, ...]
    """Engines and their versions."""
    devices: tuple[str, ...]
    """Name and driver of each device."""

    def facts(self) -> Json:
        """All facts as JSON values."""
        return {
            "app_version": self.app_version,
            "runtimes": list(self.runtimes),
            "devices": list(self.devices),
        }


def look(lms: Lms | None, devices: NvidiaSmi | None = None) -> HostProvenance:
    """Ask what can be asked."""
    return HostProvenance(
        app_version=lms.version() if lms else None,
        runtimes=lms.runtimes() if lms else (),
        devices=devices.describe() if devices else (),
    )


def hold_equal(before: HostProvenance, after: HostProvenance, rules: FailureRules) -> None:
    """Nothing if the host is what it was.

    Raises:
        what the table says of ``version-changed``: an update in mid-run voids the block.
    """
    changed = [name for name in before.__dataclass_fields__ if getattr(before, name) != getattr(after, name)]
    if changed:
        shown = ", ".join(
            f"{name}: {getattr(before, name)} became {getattr(after, name)}" for name in changed
        )
        raise rules.noticed("version-changed", shown)
