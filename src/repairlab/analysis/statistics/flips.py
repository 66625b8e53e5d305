"""Flips of repeated draws against the deterministic run of the same cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from repairlab.analysis.statistics.bootstrap import RESAMPLES, percentile_interval, resampled_sums
from repairlab.analysis.statistics.mcnemar import mcnemar
from repairlab.analysis.statistics.values import Interval, NotEstimable, too_few
from repairlab.analysis.statistics.wilson import wilson
from repairlab.contract.errors import BadInput


@dataclass(frozen=True, slots=True)
class Flips:
    """Disagreement of draws with one run. It mixes temperature with seed: no test-retest error.

    Attributes:
        cells: number of cells.
        comparisons: cells times draws.
        flips: comparisons whose outcome differs.
        rate: their share.
        interval: of the rate, by a bootstrap over cells.
        flipped: cells with any flip; with Wilson's interval of their share.
        flipped_interval: see `flipped`.
        up, down: cells whose draws on balance gain, or lose, against the run.
        p: exact two-sided sign test of `up` against `down`.
    """

    cells: int
    comparisons: int
    flips: int
    rate: float
    interval: Interval | NotEstimable
    flipped: int
    flipped_interval: Interval | NotEstimable
    up: int
    down: int
    p: Fraction


def flips_against(
    draws: Sequence[Sequence[int]],
    run: Sequence[int],
    rng: np.random.Generator,
    resamples: int = RESAMPLES,
) -> Flips | NotEstimable:
    """Compare each cell's draws with its deterministic run.

    Args:
        draws: for each cell its draws, zeros and ones, at least one.
        run: for each cell the outcome of its deterministic run.
        rng: seeded.
        resamples: bootstrap resamples.

    Raises:
        BadInput: cells differ in number, have no draw, or hold a value that is no outcome.
    """
    if len(draws) != len(run) or any(not cell for cell in draws):
        raise BadInput("each cell needs draws and one deterministic run")
    if any(value not in (0, 1) for cell in (*draws, run) for value in cell):
        raise BadInput("an outcome is 0 or 1")
    if not draws:
        return NotEstimable("no data")
    rows = [
        (sum(value != fixed for value in cell), len(cell)) for cell, fixed in zip(draws, run, strict=True)
    ]
    net = [sum(cell) - fixed * len(cell) for cell, fixed in zip(draws, run, strict=True)]
    up, down = sum(change > 0 for change in net), sum(change < 0 for change in net)
    flips, comparisons = sum(row[0] for row in rows), sum(row[1] for row in rows)
    flipped = sum(row[0] > 0 for row in rows)
    sums = resampled_sums(rows, ["cells"] * len(rows), rng, resamples)
    return Flips(
        cells=len(rows),
        comparisons=comparisons,
        flips=flips,
        rate=flips / comparisons,
        interval=too_few(len(rows), "cell") or percentile_interval(sums[:, 0] / sums[:, 1]).interval,
        flipped=flipped,
        flipped_interval=wilson(flipped, len(rows)),
        up=up,
        down=down,
        p=mcnemar(up, down).p,
    )
