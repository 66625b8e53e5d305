"""Many simulated studies at once, from the latent probit model of `analysis.simulation.drawing`."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from repairlab.analysis.simulation.drawing import Shares
from repairlab.contract.errors import BadInput

Latent = npt.NDArray[np.float32]
Solved = npt.NDArray[np.bool_]


def latents(shares: Shares, size: tuple[int, int, int, int], rng: np.random.Generator) -> Latent:
    """Latent values with variance 1.

    Args:
        shares: of the variance, of task, task by arm, task by model, and the rest.
        size: studies, tasks, arms, models; the shape of what is returned.
        rng: seeded.

    Raises:
        BadInput: shares are negative or do not sum to 1.
    """
    if min(shares) < 0 or abs(sum(shares) - 1) > 1e-9:
        raise BadInput(f"shares of variance sum to 1: {tuple(shares)}")
    studies, tasks, arms, models = size
    value = np.zeros(size, dtype=np.float32)
    parts = (
        (shares.task, (studies, tasks, 1, 1)),
        (shares.task_by_arm, (studies, tasks, arms, 1)),
        (shares.task_by_model, (studies, tasks, 1, models)),
        (shares.rest, size),
    )
    for share, shape in parts:
        value += np.float32(share**0.5) * rng.standard_normal(shape, dtype=np.float32)
    return value


def solved(values: Latent, rates: Sequence[Sequence[float]]) -> Solved:
    """Which cells are solved at given rates.

    Args:
        values: shape (studies, tasks, arms, models).
        rates: for each arm its true rate under each model.

    Raises:
        BadInput: a rate does not lie strictly between 0 and 1.
    """
    return np.asarray(values < cuts(rates))


def cuts(rates: Sequence[Sequence[float]]) -> npt.NDArray[np.float32]:
    """Normal quantiles of the rates: a latent value below its cut is a solved cell."""
    if any(not 0 < rate < 1 for row in rates for rate in row):
        raise BadInput("a true rate lies strictly between 0 and 1")
    return np.array([[NormalDist().inv_cdf(rate) for rate in row] for row in rates], dtype=np.float32)
