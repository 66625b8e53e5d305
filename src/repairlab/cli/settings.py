"""Settings of this machine: an option beats an environment variable, which beats ``settings.toml``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from repairlab.contract.strict import StrictModel, load
from repairlab.contract.study import Study

DEFAULT_HOST = "http://127.0.0.1:1234"


class SettingsFile(StrictModel):
    """``settings.toml`` of a study: facts of one machine, never frozen, never committed."""

    sources: str = ""
    cache: str = ""
    host: str = ""


@dataclass(frozen=True, slots=True)
class Settings:
    """Where things are on this machine."""

    sources: str
    """Template for where repositories come from; empty means each task's own address."""
    cache: Path
    host: str
    token: str | None
    """Bearer token of the host, from ``LM_API_TOKEN`` alone."""


def settings_for(
    study: Study, environment: Mapping[str, str], sources: str = "", cache: str = "", host: str = ""
) -> Settings:
    """Resolve every setting for `study`; the arguments are the options of the command line."""
    path = study.root / "settings.toml"
    file = load(SettingsFile, path) if path.is_file() else SettingsFile()

    def first(option: str, variable: str, stored: str, default: str) -> str:
        return option or environment.get(variable, "") or stored or default

    caches = environment.get("XDG_CACHE_HOME", "") or "~/.cache"
    folder = first(cache, "REPAIRLAB_CACHE", file.cache, f"{caches}/repairlab")
    return Settings(
        sources=first(sources, "REPAIRLAB_SOURCES", file.sources, ""),
        cache=Path(folder).expanduser().absolute(),
        host=first(host, "REPAIRLAB_HOST", file.host, DEFAULT_HOST),
        token=environment.get("LM_API_TOKEN") or None,
    )
