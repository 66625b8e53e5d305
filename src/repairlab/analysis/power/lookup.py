"""Exact sign-flip p-values of many simulated studies, looked up in one table.

With two models and one run a task's difference is -2 to 2, and p depends on three numbers alone: tasks with
a difference of one, tasks with a difference of two, and the size of the sum.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Totals = npt.NDArray[np.int8]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class SignFlipTable:
    """P-values by (tasks with |D| = 1, tasks with |D| = 2, |S|); shape (tasks + 1, tasks + 1, 2 tasks + 1).

    Attributes:
        p: two-sided exact p.
        mid_p: its mid-p.
    """

    p: Floats
    mid_p: Floats

    def look_up(self, totals: Totals, *, mid: bool = False) -> Floats:
        """P-values of studies whose task totals are given, -2 to 2; shape (studies, tasks) to (studies,)."""
        size = np.abs(totals)
        ones, twos = (size == 1).sum(axis=1), (size == 2).sum(axis=1)
        sums = np.abs(totals.sum(axis=1, dtype=np.int64))
        return np.asarray((self.mid_p if mid else self.p)[ones, twos, sums])


def sign_flip_table(tasks: int) -> SignFlipTable:
    """The table for up to `tasks` tasks, by convolution of two binomials."""
    shape = (tasks + 1, tasks + 1, 2 * tasks + 1)
    p, mid_p = np.ones(shape), np.ones(shape)
    steps = [_steps(count) for count in range(tasks + 1)]
    for twos in range(tasks + 1):
        wide = np.zeros(4 * twos + 1)
        wide[::2] = steps[twos]
        for ones in range(tasks - twos + 1):
            if ones + twos == 0:
                continue
            chance = np.convolve(steps[ones], wide)
            far = ones + 2 * twos
            # Folded at zero: entry s is P(|S| = s).
            folded = chance[far:].copy()
            folded[1:] += chance[:far][::-1]
            tail = folded[::-1].cumsum()[::-1]
            p[ones, twos, : far + 1] = np.minimum(1.0, tail)
            mid_p[ones, twos, : far + 1] = tail - folded / 2
    return SignFlipTable(p, mid_p)


def _steps(count: int) -> Floats:
    """Distribution of the sum of `count` fair steps of one, from -count to count."""
    chance = np.ones(1)
    for _ in range(count):
        chance = np.convolve(chance, (0.5, 0.0, 0.5))
    return chance
