"""Where derived material lies on this machine. All of it can be deleted and is made again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from repairlab.repositories.mirrors import Mirrors
from repairlab.repositories.sources import Sources
from repairlab.repositories.templates import Templates


@dataclass(frozen=True, slots=True)
class Workplace:
    """Folders under one root, outside every study."""

    root: Path
    sources: Sources

    @property
    def mirrors(self) -> Mirrors:
        """Bare mirrors."""
        return Mirrors(self.root / "mirrors", self.sources)

    @property
    def templates(self) -> Templates:
        """Checkouts of base commits."""
        return Templates(self.root / "templates")

    @property
    def search(self) -> Path:
        """Searched text of base commits, and every index over it."""
        return self.root / "search"

    @property
    def environments(self) -> Path:
        """What tests run in."""
        return self.root / "environments"

    @property
    def checks(self) -> Path:
        """Results of gold checks."""
        return self.root / "gold-checks"

    @property
    def scratch(self) -> Path:
        """Workspaces of cells under way."""
        return self.root / "scratch"

    def knowledge_file(self, experiment: str) -> Path:
        """What the calibration engines are told."""
        return self.root / "knowledge" / f"{experiment}.json"
