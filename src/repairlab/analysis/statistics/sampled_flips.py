"""The sign-flip test for continuous endpoints: seeded random flips instead of all 2^n."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from repairlab.analysis.statistics.values import NotEstimable
from repairlab.contract.errors import BadInput

FLIPS = 99_999
_BATCH = 8_192
# Signs held at once, whatever the number of tasks.
_SIGNS = 4_000_000
# Sums that differ by rounding alone are ties; ties count against the observed sum.
_TIE = 1e-12


class SampledFlips(NamedTuple):
    """A sampled two-sided p, and the mean difference that it is about.

    Attributes:
        mean: mean of the task differences.
        p: (1 + flips at least as far from zero as the observed sum) / (1 + flips). Never zero.
        tasks: number of differences.
        flips: number of random flips, without the observed one.
    """

    mean: float
    p: float
    tasks: int
    flips: int


def sampled_sign_flip(
    differences: Sequence[float] | npt.NDArray[np.float64], rng: np.random.Generator, flips: int = FLIPS
) -> SampledFlips | NotEstimable:
    """Test whether continuous task differences are centred at zero; the order of tasks does not matter.

    Args:
        differences: one finite number a task.
        rng: seeded; the study's is `numpy.random.Generator(PCG64(seed))`.
        flips: random flips beside the observed one.

    Raises:
        BadInput: a difference is not finite.
    """
    values = np.sort(np.asarray(differences, dtype=np.float64))
    if not np.isfinite(values).all():
        raise BadInput("a task difference is not a finite number")
    if values.size == 0:
        return NotEstimable("no data")
    steps = np.sort(np.abs(values))
    threshold = abs(float(values.sum())) - _TIE * float(steps.sum())
    reached = 0
    batch = max(1, min(_BATCH, _SIGNS // steps.size))
    for start in range(0, flips, batch):
        # Whole batches are drawn, so that a shorter run is the start of a longer one.
        signs = 1.0 - 2.0 * rng.integers(0, 2, size=(batch, steps.size), dtype=np.int8)
        sums = np.abs(signs @ steps)[: flips - start]
        reached += int(np.count_nonzero(sums >= threshold))
    return SampledFlips(float(values.mean()), (1 + reached) / (1 + flips), int(values.size), flips)
