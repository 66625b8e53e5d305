"""Percentile bootstrap over whole clusters: a task, or a cell with all its draws, is drawn as one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from repairlab.analysis.statistics.values import Interval, NotEstimable, normal_quantile
from repairlab.contract.errors import BadInput

RESAMPLES = 10_000
_BATCH = 1_000
# Above this share of resamples without a value, what is left no longer describes the sampling variation.
_UNDEFINED_ALLOWED = 0.05

Floats = npt.NDArray[np.float64]


class Bootstrap(NamedTuple):
    """A percentile interval, and how many resamples it rests on."""

    interval: Interval | NotEstimable
    resamples: int
    undefined: int


def resampled_sums(
    values: npt.ArrayLike, strata: Sequence[str], rng: np.random.Generator, resamples: int = RESAMPLES
) -> Floats:
    """Column sums of resampled rows; each stratum keeps its number of rows. Order of rows is irrelevant.

    Args:
        values: finite numbers, shape (rows,) or (rows, columns). A row is a cluster.
        strata: stratum of each row.
        rng: seeded; the study's is `numpy.random.Generator(PCG64(seed))`.
        resamples: how many.

    Returns:
        Shape (resamples, columns).

    Raises:
        BadInput: a value is not finite, or rows and strata differ in number.
    """
    table = np.asarray(values, dtype=np.float64)
    table = table[:, None] if table.ndim == 1 else table
    if not np.isfinite(table).all() or len(strata) != len(table):
        raise BadInput("a bootstrap needs finite numbers and the stratum of each row")
    sums = np.zeros((resamples, table.shape[1]))
    for stratum in sorted(set(strata)):
        members = table[[place for place, name in enumerate(strata) if name == stratum]]
        # Equal rows are drawn together: how often each different row comes up is all that a sum depends on.
        rows, counts = np.unique(members, axis=0, return_counts=True)
        for start in range(0, resamples, _BATCH):
            times = rng.multinomial(len(members), counts / len(members), size=_BATCH)[: resamples - start]
            sums[start : start + _BATCH] += times @ rows
    return sums


def percentile_interval(samples: Floats, level: float = 0.95) -> Bootstrap:
    """The central `level` of resampled values. NaN marks one without a value, infinity an unbounded one."""
    normal_quantile(level)
    kept = np.sort(samples[~np.isnan(samples)])
    undefined = len(samples) - len(kept)
    if undefined > _UNDEFINED_ALLOWED * len(samples) or len(kept) == 0:
        return Bootstrap(
            NotEstimable(f"undefined in {undefined} of {len(samples)} resamples"), len(samples), undefined
        )
    # Order statistics, equally far from both ends: interpolating beside an infinity would give NaN.
    place = max(1, int((1 - level) / 2 * (len(kept) + 1) + 1e-9))
    low, high = float(kept[place - 1]), float(kept[-place])
    if not (np.isfinite(low) and np.isfinite(high)):
        return Bootstrap(NotEstimable("unbounded"), len(samples), undefined)
    return Bootstrap(Interval(low, high, level), len(samples), undefined)


def two_sided_p(samples: Floats) -> float:
    """Twice the smaller share of resamples at or beyond zero, the observed one counted; at most 1."""
    below, above = int((samples <= 0).sum()), int((samples >= 0).sum())
    return min(1.0, 2 * (1 + min(below, above)) / (1 + len(samples)))
