"""Cochran's Q: whether several arms solve the same tasks equally often."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from repairlab.analysis.statistics.chisquare import chi_square_tail
from repairlab.analysis.statistics.mcnemar import ChiSquare
from repairlab.analysis.statistics.values import NotEstimable
from repairlab.contract.errors import BadInput


def cochran_q(resolved: npt.ArrayLike) -> ChiSquare | NotEstimable:
    """Cochran's Q (Biometrika 1950;37:256-266) with its asymptotic p; two arms give McNemar's chi-square.

    Args:
        resolved: zeros and ones, shape (tasks, arms).

    Raises:
        BadInput: fewer than two arms, or a value that is no outcome.
    """
    table = np.asarray(resolved, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] < 2 or not np.isin(table, (0, 1)).all():
        raise BadInput("Cochran's Q needs outcomes of two or more arms")
    arms = table.shape[1]
    by_arm, by_task = table.sum(axis=0), table.sum(axis=1)
    scale = arms * by_task.sum() - (by_task**2).sum()
    if scale == 0:
        return NotEstimable("no task tells the arms apart")
    statistic = float((arms - 1) * (arms * (by_arm**2).sum() - by_arm.sum() ** 2) / scale)
    return ChiSquare(statistic, arms - 1, chi_square_tail(max(0.0, statistic), arms - 1))
