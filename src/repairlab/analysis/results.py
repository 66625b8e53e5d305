"""Sealed cells as rows. Every seal is checked before a figure is taken from it."""

from __future__ import annotations

from dataclasses import dataclass

from repairlab.manifest.cell import Cell
from repairlab.store.carried import check_source, complete_names, source
from repairlab.store.layout import Layout
from repairlab.store.sealed import read_sealed


@dataclass(frozen=True, slots=True)
class Row:
    """One sealed cell."""

    cell: Cell
    label: str
    resolved_at_1: int
    reason: str
    verdict: str
    required_tests: int
    required_tests_passed: int
    model_calls: int
    tool_calls: int
    prompt_tokens: int | None
    completion_tokens: int | None
    agent_seconds: float
    sandbox: str

    @property
    def treatment(self) -> str:
        """The treatment as it is shown anywhere: with its label, where it has one."""
        return f"{self.cell.treatment} ({self.label})" if self.label else self.cell.treatment


def rows_of(layout: Layout, planned: tuple[Cell, ...]) -> tuple[Row, ...]:
    """Rows of the planned cells that are sealed, in the frozen order.

    Raises:
        IntegrityViolation: a seal does not hold.
        BadInput: an artifact is not of its form.
    """
    present = complete_names(layout)
    return tuple(_row(layout, cell) for cell in planned if cell.name in present)


def _row(layout: Layout, cell: Cell) -> Row:
    found = source(layout, cell)
    check_source(found)
    sealed = read_sealed(found.folder)
    metrics, facts = sealed.metrics, sealed.record.facts
    sandbox = facts.get("sandbox")
    return Row(
        cell=cell,
        label=metrics.label,
        resolved_at_1=metrics.resolved_at_1,
        reason=metrics.reason,
        verdict=metrics.verdict,
        required_tests=metrics.required_tests,
        required_tests_passed=metrics.required_tests_passed,
        model_calls=metrics.model_calls,
        tool_calls=metrics.tool_calls,
        prompt_tokens=metrics.prompt_tokens,
        completion_tokens=metrics.completion_tokens,
        agent_seconds=sealed.timing.agent_seconds,
        sandbox=str(sandbox.get("name")) if isinstance(sandbox, dict) else "unknown",
    )
