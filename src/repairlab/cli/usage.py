"""What sealed cells have used so far: sums over all arms, which tell no outcome."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from repairlab.contract.strict import load_json
from repairlab.manifest.cell import Cell
from repairlab.store.artifacts import Metrics, Timing
from repairlab.store.carried import source
from repairlab.store.layout import TIMING, Layout


class Usage(NamedTuple):
    """Sums over complete cells."""

    cells: int
    cells_with_tokens: int
    """Those of which the host counted every reply; the tokens of others are unknown, not 0."""
    prompt_tokens: int
    completion_tokens: int
    model_calls: int
    agent_seconds: float
    total_seconds: float
    """Wall clock of the sealed attempts, from first to last step of each."""

    def line(self) -> str:
        """The sums for people."""
        unknown = self.cells - self.cells_with_tokens
        without = f" ({unknown} cells without a count)" if unknown else ""
        return (
            f"used so far: {self.model_calls:,} model calls, tokens {self.prompt_tokens:,} in and"
            f" {self.completion_tokens:,} out{without}, agent clock {self.agent_seconds:,.0f} s of"
            f" {self.total_seconds:,.0f} s"
        )


def usage_of(layout: Layout, cells: Iterable[Cell]) -> Usage:
    """Add up what complete cells used. Seals are not checked: that is what `verify` does.

    Raises:
        BadInput: a record is not of its form.
        IntegrityViolation: a decision of a carry-over does not hold.
    """
    records = []
    for cell in cells:
        folder = source(layout, cell).folder
        records.append((load_json(Metrics, folder / "metrics.json"), load_json(Timing, folder / TIMING)))
    known = [
        (metrics.prompt_tokens, metrics.completion_tokens)
        for metrics, _ in records
        if metrics.prompt_tokens is not None and metrics.completion_tokens is not None
    ]
    return Usage(
        cells=len(records),
        cells_with_tokens=len(known),
        prompt_tokens=sum(prompt for prompt, _ in known),
        completion_tokens=sum(completion for _, completion in known),
        model_calls=sum(metrics.model_calls for metrics, _ in records),
        agent_seconds=sum(timing.agent_seconds for _, timing in records),
        total_seconds=sum(timing.phases_seconds.get("total", 0.0) for _, timing in records),
    )
