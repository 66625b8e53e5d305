"""Power of one contrast: two arms, two models, the registered test."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from repairlab.analysis.power.latent import Latent, latents, solved
from repairlab.analysis.power.lookup import Floats, SignFlipTable, Totals
from repairlab.analysis.simulation.drawing import Shares

PAIRINGS: Mapping[str, Shares] = MappingProxyType(
    {
        "low": Shares(0.45, 0.10, 0.10, 0.35),
        "mid": Shares(0.55, 0.05, 0.15, 0.25),
        "high": Shares(0.65, 0.05, 0.20, 0.10),
    }
)
BASES = (0.10, 0.20, 0.30, 0.40)
EFFECTS = (0.05, 0.10, 0.15, 0.20)
ALPHAS = (0.05, 0.01)
WANTED_POWER = 0.80
_MODELS = 2
_HALVINGS = 14
_LARGEST_EFFECT = 0.55


@dataclass(frozen=True, slots=True)
class PowerRow:
    """Power at one base rate and pairing. Every figure is a proportion with a Monte Carlo error.

    Attributes:
        pairing: name of the shares of variance.
        base: true rate of the second arm, under both models.
        discordant: share of pairs that differ without an effect.
        half_width: 1.96 standard deviations of the estimate at an effect of 0.10.
        power: by effect and alpha: p at most alpha, and the right sign.
        detectable: by alpha the effect seen with power 0.80.
        detectable_mid_p: the same for the mid-p, at 0.05.
        detectable_one_model: by alpha the same with one model alone.
        size: rejections at 0.05 without an effect, either sign.
        exaggeration: by effect, mean size of the estimates significant at 0.05, over the true one.
        wrong_sign: by effect, share of those with the wrong sign.
        studies: simulated studies behind each figure.
    """

    pairing: str
    base: float
    discordant: float
    half_width: float
    power: Mapping[tuple[float, float], float]
    detectable: Mapping[float, float]
    detectable_mid_p: float
    detectable_one_model: Mapping[float, float]
    size: float
    exaggeration: Mapping[float, float | None]
    wrong_sign: Mapping[float, float | None]
    studies: int


def two_arm_power(
    pairing: str, base: float, table: SignFlipTable, studies: int, rng: np.random.Generator
) -> PowerRow:
    """Simulate one row. The same latent values serve every effect, so that effects differ by nothing else.

    Args:
        pairing: a name in `PAIRINGS`.
        base: true rate of the second arm.
        table: p-values for the study's number of tasks.
        studies: how many studies are simulated.
        rng: seeded.
    """
    tasks = len(table.p) - 1
    values = latents(PAIRINGS[pairing], (studies, tasks, 2, _MODELS), rng)

    def totals(effect: float, models: int = _MODELS) -> Totals:
        return _totals(values[..., :models], base, effect)

    def power(effect: float, alpha: float, models: int = _MODELS, *, mid: bool = False) -> float:
        found = totals(effect, models)
        return _seen(found, table.look_up(found, mid=mid), alpha)

    def detectable(alpha: float, models: int = _MODELS, *, mid: bool = False) -> float:
        return _detectable(lambda effect: power(effect, alpha, models, mid=mid))

    null = solved(values, ((base, base), (base, base)))
    at_ten = totals(0.10).sum(axis=1) / (_MODELS * tasks)
    significant = {effect: _significant(totals(effect), table) for effect in EFFECTS}
    return PowerRow(
        pairing=pairing,
        base=base,
        discordant=float((null[:, :, 0] != null[:, :, 1]).mean()),
        half_width=1.96 * float(at_ten.std(ddof=1)),
        power={(effect, alpha): power(effect, alpha) for effect in EFFECTS for alpha in ALPHAS},
        detectable={alpha: detectable(alpha) for alpha in ALPHAS},
        detectable_mid_p=detectable(0.05, mid=True),
        detectable_one_model={alpha: detectable(alpha, 1) for alpha in ALPHAS},
        size=float((table.look_up(totals(0.0)) <= 0.05).mean()),
        exaggeration={e: _mean(np.abs(found) / e) for e, found in significant.items()},
        wrong_sign={e: _mean(found < 0) for e, found in significant.items()},
        studies=studies,
    )


def power_at(
    shares: Shares,
    rates: tuple[Sequence[float], Sequence[float]],
    table: SignFlipTable,
    studies: int,
    rng: np.random.Generator,
) -> Mapping[float, float]:
    """Power by alpha at any two arms' rates, one a model: models may differ, and so may their effects."""
    values = latents(shares, (studies, len(table.p) - 1, 2, len(rates[0])), rng)
    found = _difference(values, rates)
    return {alpha: _seen(found, table.look_up(found), alpha) for alpha in ALPHAS}


def _totals(values: Latent, base: float, effect: float) -> Totals:
    models = values.shape[3]
    return _difference(values, ((base,) * models, (base + effect,) * models))


def _difference(values: Latent, rates: Sequence[Sequence[float]]) -> Totals:
    hits = solved(values, rates).sum(axis=3, dtype=np.int8)
    return np.asarray(hits[:, :, 1] - hits[:, :, 0])


def _seen(totals: Totals, p: Floats, alpha: float) -> float:
    return float(((p <= alpha) & (totals.sum(axis=1, dtype=np.int64) > 0)).mean())


def _significant(totals: Totals, table: SignFlipTable) -> Floats:
    estimates = totals.sum(axis=1) / (_MODELS * totals.shape[1])
    return np.asarray(estimates[table.look_up(totals) <= 0.05])


def _mean(values: npt.NDArray[np.generic]) -> float | None:
    return float(np.mean(values.astype(np.float64))) if len(values) else None


def _detectable(power: Callable[[float], float]) -> float:
    """The effect at which power reaches the one wanted, by halving; power rises with the effect."""
    low, high = 0.0, _LARGEST_EFFECT
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if power(middle) < WANTED_POWER:
            low = middle
        else:
            high = middle
    return (low + high) / 2
