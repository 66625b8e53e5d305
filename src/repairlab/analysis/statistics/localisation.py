"""How well a list of files hits the files that the true fix changes. Lists are in order of exposure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from repairlab.contract.errors import BadInput


class KnownMean(NamedTuple):
    """A macro mean over the tasks whose value is known; None where none is.

    Attributes:
        mean: over known values alone.
        known: how many they are.
        total: how many were asked for.
    """

    mean: float | None
    known: int
    total: int


def file_recall(gold: Iterable[str], seen: Sequence[str], k: int) -> float:
    """Share of the gold files among the first `k` distinct files seen.

    A path counts once, before the cut: a file shown twice takes one place.

    Raises:
        BadInput: no gold file, or k below 1.
    """
    wanted = _gold(gold)
    return len(wanted & set(_first(seen, k))) / len(wanted)


def all_gold(gold: Iterable[str], seen: Sequence[str], k: int) -> bool:
    """Whether every gold file is among the first `k` distinct files seen."""
    return _gold(gold) <= set(_first(seen, k))


def first_gold_rank(gold: Iterable[str], seen: Sequence[str]) -> int | None:
    """Place, from 1, of the first gold file among the distinct files seen; None where there is none."""
    wanted = _gold(gold)
    return next((rank for rank, path in enumerate(dict.fromkeys(seen), start=1) if path in wanted), None)


def edit_precision(gold: Iterable[str], edited: Iterable[str]) -> float | None:
    """Share of gold files among the files edited; None, not 0, where nothing was edited."""
    wanted, touched = _gold(gold), set(edited)
    return len(wanted & touched) / len(touched) if touched else None


def macro_mean(values: Sequence[float | None]) -> KnownMean:
    """Mean over tasks, each weighing the same, with the number of known values beside it."""
    known = [value for value in values if value is not None]
    return KnownMean(sum(known) / len(known) if known else None, len(known), len(values))


def _gold(gold: Iterable[str]) -> frozenset[str]:
    wanted = frozenset(gold)
    if not wanted:
        raise BadInput("a task without gold files has no recall")
    return wanted


def _first(seen: Sequence[str], k: int) -> list[str]:
    if k < 1:
        raise BadInput(f"the cut is at 1 or more, not at {k}")
    return list(dict.fromkeys(seen))[:k]
