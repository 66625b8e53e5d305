"""Costs from a table: unknown is null, and what cannot be true is named before anything is averaged."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from repairlab.analysis.csv_lines import read_lines
from repairlab.contract.errors import BadInput

_COLUMNS = ("task", "arm", "tokens", "resolved")
_LARGEST = 10**12
"""No run has so many tokens: a larger number is a fault of whoever wrote it."""


class Cost(NamedTuple):
    """Tokens of one run; ``None`` where nobody counted them."""

    task: str
    arm: str
    tokens: int | None
    resolved: int


def load_costs(path: Path) -> tuple[Cost, ...]:
    """Costs from a CSV table with the columns task, arm, tokens, resolved.

    `tokens` is a whole number from 1, or empty where it is unknown. 0 is no count of an answer that was
    given: some hosts write it where they did not count.

    Raises:
        BadInput: every row that is not of this form, with its line and what is wrong.
    """
    lines = read_lines(path, _COLUMNS)
    faults = [f"{path}:{n}: {text}" for n, row in enumerate(lines, start=2) for text in _wrong(row)]
    if faults:
        raise BadInput(f"{len(faults)} faults:\n  " + "\n  ".join(faults))
    return tuple(
        Cost(task, arm, int(tokens) if tokens else None, int(resolved))
        for task, arm, tokens, resolved in lines
    )


def _wrong(row: Sequence[str]) -> Iterator[str]:
    if len(row) != len(_COLUMNS):
        yield f"{len(row)} fields instead of {len(_COLUMNS)}"
        return
    task, arm, tokens, resolved = row
    if not task.strip() or task != task.strip() or not arm.strip() or arm != arm.strip():
        yield "task or arm is empty or has space around it"
    if tokens and not (re.fullmatch(r"[0-9]{1,13}", tokens) and 0 < int(tokens) <= _LARGEST):
        yield f"tokens: {tokens!r} is no count of tokens (empty where it is unknown)"
    if resolved not in ("0", "1"):
        yield f"resolved: {resolved!r} is neither 0 nor 1"
