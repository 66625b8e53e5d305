"""Reliability of repeated draws of a cell: how often it succeeds, and how far its draws agree.

Draws of a cell are exchangeable, so every figure is a function of how many cells have c successes in k
draws. Each formula is written once, over such histograms, for the estimate and for the bootstrap over cells.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from repairlab.analysis.statistics.bootstrap import RESAMPLES, Floats, percentile_interval
from repairlab.analysis.statistics.values import Interval, NotEstimable, too_few
from repairlab.analysis.statistics.wilson import wilson
from repairlab.contract.errors import BadInput

Formula = Callable[[Floats], Floats]

UNDEFINED = NotEstimable("undefined: all outcomes agree")


class Measured(NamedTuple):
    """An estimate and its interval from a bootstrap over cells; either can be missing for a reason."""

    estimate: float | NotEstimable
    interval: Interval | NotEstimable


@dataclass(frozen=True, slots=True)
class Reliability:
    """The reliability of a set of cells with equally many draws.

    Attributes:
        cells: number of cells.
        draws: draws of each.
        pass_at: k to the probability that at least one of k draws succeeds (Chen et al. 2021, unbiased).
        pass_hat: k to the probability that all k draws succeed (Yao et al. 2024, unbiased); also pass^k.
        consistent: cells all of whose draws agree.
        consistent_interval: Wilson's, of their share.
        agreement: share of agreeing pairs of draws.
        icc: ICC(1,1) of a one-way analysis of variance (Shrout & Fleiss 1979).
        between, within: variance components; the first, being unbiased, can come out below zero.
        kappa: Fleiss' kappa.
        ac1: Gwet's AC1.
    """

    cells: int
    draws: int
    pass_at: Mapping[int, Measured]
    pass_hat: Mapping[int, Measured]
    consistent: int
    consistent_interval: Interval | NotEstimable
    agreement: Measured
    icc: Measured
    between: Measured
    within: Measured
    kappa: Measured
    ac1: Measured


def reliability(
    outcomes: Sequence[Sequence[int]], rng: np.random.Generator, resamples: int = RESAMPLES
) -> Reliability | NotEstimable:
    """Reliability of cells.

    Args:
        outcomes: for each cell its draws, zeros and ones, equally many and at least two.
        rng: seeded; every interval comes from the same resampled cells.
        resamples: bootstrap resamples.

    Raises:
        BadInput: cells of different numbers of draws, fewer than two draws, or values that are no outcome.
    """
    if not outcomes:
        return NotEstimable("no data")
    histogram = histogram_of(outcomes)
    cells, draws = len(outcomes), len(histogram) - 1
    resampled = rng.multinomial(cells, histogram / cells, size=resamples).astype(np.float64)

    def measured(formula: Formula) -> Measured:
        estimate = float(formula(histogram[None, :])[0])
        if math.isnan(estimate):
            return Measured(UNDEFINED, UNDEFINED)
        if missing := too_few(cells, "cell"):
            return Measured(estimate, missing)
        return Measured(estimate, percentile_interval(formula(resampled)).interval)

    agreeing = int(histogram[0] + histogram[draws])
    return Reliability(
        cells=cells,
        draws=draws,
        pass_at={k: measured(_mean_of(pass_at_k, k)) for k in range(1, draws + 1)},
        pass_hat={k: measured(_mean_of(pass_hat_k, k)) for k in range(1, draws + 1)},
        consistent=agreeing,
        consistent_interval=wilson(agreeing, cells),
        agreement=measured(raw_agreement),
        icc=measured(icc),
        between=measured(between_variance),
        within=measured(lambda counts: _mean_squares(counts)[1]),
        kappa=measured(fleiss_kappa),
        ac1=measured(gwet_ac1),
    )


def histogram_of(outcomes: Sequence[Sequence[int]]) -> Floats:
    """How many cells have 0, 1, ..., k successes in their k draws.

    Raises:
        BadInput: see `reliability`.
    """
    draws = {len(cell) for cell in outcomes}
    if len(draws) != 1 or min(draws) < 2 or any(value not in (0, 1) for cell in outcomes for value in cell):
        raise BadInput("cells need equally many draws, at least two, each 0 or 1")
    return np.bincount([sum(cell) for cell in outcomes], minlength=min(draws) + 1).astype(np.float64)


def pass_at_k(successes: int, draws: int, k: int) -> float:
    """Unbiased probability that at least one of `k` draws succeeds (Chen et al. 2021, arXiv 2107.03374)."""
    return 1 - math.comb(draws - successes, k) / math.comb(draws, k)


def pass_hat_k(successes: int, draws: int, k: int) -> float:
    """Unbiased probability that all of `k` draws succeed (Yao et al. 2024, arXiv 2406.12045)."""
    return math.comb(successes, k) / math.comb(draws, k)


def raw_agreement(counts: Floats) -> Floats:
    """Share of agreeing pairs of draws within a cell. `counts` has shape (samples, draws + 1)."""
    c, draws = np.arange(counts.shape[1]), counts.shape[1] - 1
    agreeing = c * (c - 1) + (draws - c) * (draws - c - 1)
    return np.asarray((counts @ agreeing) / (draws * (draws - 1) * counts.sum(axis=1)))


def fleiss_kappa(counts: Floats) -> Floats:
    """Fleiss' kappa (Psychol Bull 1971;76:378-382) for two categories."""
    share = _share(counts)
    return _beyond_chance(counts, share**2 + (1 - share) ** 2)


def gwet_ac1(counts: Floats) -> Floats:
    """Gwet's AC1 (Br J Math Stat Psychol 2008;61:29-48), two categories; undefined where kappa is."""
    share = _share(counts)
    return np.where((share > 0) & (share < 1), _beyond_chance(counts, 2 * share * (1 - share)), np.nan)


def icc(counts: Floats) -> Floats:
    """ICC(1,1): (MSB - MSW) / (MSB + (k - 1) MSW) (Shrout & Fleiss, Psychol Bull 1979;86:420-428)."""
    between, within = _mean_squares(counts)
    draws = counts.shape[1] - 1
    return _ratio(between - within, between + (draws - 1) * within)


def between_variance(counts: Floats) -> Floats:
    """Variance between cells, (MSB - MSW) / k; not cut off at zero."""
    between, within = _mean_squares(counts)
    return np.asarray((between - within) / (counts.shape[1] - 1))


def _mean_of(per_cell: Callable[[int, int, int], float], k: int) -> Formula:
    def formula(counts: Floats) -> Floats:
        draws = counts.shape[1] - 1
        values = np.array([per_cell(c, draws, k) for c in range(draws + 1)])
        return np.asarray((counts @ values) / counts.sum(axis=1))

    return formula


def _mean_squares(counts: Floats) -> tuple[Floats, Floats]:
    """Mean squares between and within cells; NaN where a single cell leaves no degree of freedom."""
    c, draws = np.arange(counts.shape[1]), counts.shape[1] - 1
    cells, share = counts.sum(axis=1), _share(counts)
    between = draws * (counts * (c / draws - share[:, None]) ** 2).sum(axis=1)
    within = counts @ (c * (draws - c) / draws)
    return _ratio(between, cells - 1), np.asarray(within / (cells * (draws - 1)))


def _share(counts: Floats) -> Floats:
    draws = counts.shape[1] - 1
    return np.asarray((counts @ np.arange(draws + 1)) / (draws * counts.sum(axis=1)))


def _beyond_chance(counts: Floats, expected: Floats) -> Floats:
    return _ratio(raw_agreement(counts) - expected, 1 - expected)


def _ratio(over: Floats, under: Floats) -> Floats:
    # Sums of many equal terms can miss zero by rounding; what is that small here is zero.
    defined = np.abs(under) > 1e-12
    return np.where(defined, over / np.where(defined, under, 1.0), np.nan)
