"""The reference arm minus the best of several arms, without the bias of picking the best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from repairlab.contract.errors import BadInput

FOLDS = 10


class OracleGap(NamedTuple):
    """Two gaps of the reference arm over the best arm.

    Attributes:
        naive: against the arm that looks best on all tasks. Too low: the largest of noisy rates is too high.
        cross_selected: the arm is chosen on the other folds and the gap taken on the held-out fold.
        chosen: in how many folds each arm was chosen.
    """

    naive: float
    cross_selected: float
    chosen: Mapping[str, int]


def folds_of(tasks: Sequence[str], strata: Sequence[str], seed: str, folds: int = FOLDS) -> tuple[int, ...]:
    """Fold of each task: within a stratum, tasks in hash order are dealt to the folds in turn.

    The result depends on the seed and the set of tasks, not on their order.
    """
    dealt: dict[str, int] = {}
    for stratum in sorted(set(strata)):
        members = [task for task, name in zip(tasks, strata, strict=True) if name == stratum]
        ordered = sorted(members, key=lambda task: (sha256(f"{seed}\x1f{task}".encode()).digest(), task))
        # Each stratum goes on where the one before it stopped, so that folds differ by one task at most.
        start = len(dealt)
        dealt.update({task: (start + place) % folds for place, task in enumerate(ordered)})
    return tuple(dealt[task] for task in tasks)


def oracle_gap(
    reference: npt.ArrayLike, arms: Mapping[str, npt.ArrayLike], folds: Sequence[int]
) -> OracleGap:
    """Naive and cross-selected gap.

    Args:
        reference: rate of the reference arm on each task (mean over models).
        arms: the same for each arm to choose from. Equal rates are decided by name.
        folds: fold of each task, at least two different ones.

    Raises:
        BadInput: no arm, lengths that differ, or a single fold.
    """
    top, held = np.asarray(reference, dtype=np.float64), np.asarray(folds)
    names = sorted(arms)
    rates = np.array([np.asarray(arms[name], dtype=np.float64) for name in names])
    if not names or rates.shape != (len(names), len(top)) or len(held) != len(top) or len(set(folds)) < 2:
        raise BadInput("a gap needs arms and folds for the same tasks, and two folds or more")
    naive = float(top.mean() - rates.mean(axis=1).max())
    gap, chosen = 0.0, dict.fromkeys(names, 0)
    for fold in sorted(set(folds)):
        inside = held == fold
        best = int(np.argmax(rates[:, ~inside].sum(axis=1)))
        chosen[names[best]] += 1
        gap += float((top[inside] - rates[best, inside]).sum())
    return OracleGap(naive, gap / len(top), chosen)
