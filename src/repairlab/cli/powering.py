"""`repairlab power`: what the registered tests would see, by simulation. It reads no outcome."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from repairlab.analysis.hypotheses import load_hypotheses
from repairlab.analysis.power import (
    FAMILY_SCENARIOS,
    PAIRINGS,
    FamilyRow,
    PowerRow,
    family_power,
    two_arm_power,
)
from repairlab.analysis.power.family import FamilyTests
from repairlab.analysis.power.lookup import SignFlipTable, sign_flip_table
from repairlab.analysis.power.two_arms import ALPHAS, BASES, EFFECTS
from repairlab.analysis.statistics import Comparison
from repairlab.cli.tables import print_table
from repairlab.contract.study import open_study


@dataclass(frozen=True, slots=True)
class Asked:
    """What the command line was given."""

    study: Path
    tasks: int
    datasets: int
    seed: int
    json_output: bool


def power_command(asked: Asked) -> None:
    """Simulate the power tables of the plan and print them."""
    hypotheses = load_hypotheses(open_study(asked.study))
    family = tuple(Comparison(name, one.arm, one.against) for name, one in hypotheses.contrasts.items())
    tests = FamilyTests(family, hypotheses.registered_graph(), hypotheses.decision.alpha)
    table = sign_flip_table(asked.tasks)
    single = _single_rows(asked, table)
    whole = _family_rows(asked, table, tests)
    if asked.json_output:
        print(json.dumps(_document(asked, single, whole)))
        return
    print(f"seed {asked.seed}, {asked.tasks} tasks, {asked.datasets} simulated studies a row; per cent")
    print(f"Monte Carlo error of a power: at most {100 * 0.5 / asked.datasets**0.5:.2f} points")
    print_table(
        "One contrast, two models, task sign-flip test", _SINGLE_HEADER, [_single(row) for row in single]
    )
    names = [comparison.name for comparison in family]
    by_graph, by_holm = ([*(f"{kind} {name}" for name in names), "any"] for kind in ("graph", "Holm"))
    header = ["scenario", "pairing", *by_graph, *by_holm]
    print_table("The whole family", header, [_whole(row, names) for row in whole])


def _single_rows(asked: Asked, table: SignFlipTable) -> list[PowerRow]:
    rows = [(pairing, base) for pairing in PAIRINGS for base in BASES]
    return [
        two_arm_power(pairing, base, table, asked.datasets, _generator(asked.seed, 0, number))
        for number, (pairing, base) in enumerate(rows)
    ]


def _family_rows(asked: Asked, table: SignFlipTable, tests: FamilyTests) -> list[FamilyRow]:
    rows = [(scenario, pairing) for scenario in FAMILY_SCENARIOS for pairing in ("mid", "high")]
    return [
        family_power(scenario, pairing, tests, table, asked.datasets, _generator(asked.seed, 1, number))
        for number, (scenario, pairing) in enumerate(rows)
    ]


def _generator(seed: int, table: int, row: int) -> np.random.Generator:
    # A stream of its own for each row, so that no row depends on which others were simulated.
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, table, row])))


_SINGLE_HEADER = [
    "pairing",
    "base",
    "discordant",
    "half-width",
    *(f"+{100 * effect:.0f} (.05/.01)" for effect in EFFECTS),
    "80% at .05/.01",
    "mid-p .05",
    "one model .05/.01",
    "size",
]


def _single(row: PowerRow) -> list[str]:
    return [
        row.pairing,
        f"{100 * row.base:.0f}",
        f"{100 * row.discordant:.1f}",
        f"{100 * row.half_width:.1f}",
        *(_pair([row.power[effect, alpha] for alpha in ALPHAS], 0) for effect in EFFECTS),
        _pair(row.detectable.values(), 1),
        f"{100 * row.detectable_mid_p:.1f}",
        _pair(row.detectable_one_model.values(), 1),
        f"{100 * row.size:.1f}",
    ]


def _pair(values: Iterable[float], digits: int) -> str:
    return " / ".join(f"{100 * value:.{digits}f}" for value in values)


def _whole(row: FamilyRow, names: Sequence[str]) -> list[str]:
    return [
        row.scenario,
        row.pairing,
        *_rejections(row.graph, row.graph_any, names),
        *_rejections(row.holm, row.holm_any, names),
    ]


def _rejections(by_name: Mapping[str, float], any_: float, names: Sequence[str]) -> list[str]:
    return [f"{100 * value:.1f}" for value in (*(by_name[name] for name in names), any_)]


def _document(asked: Asked, single: Sequence[PowerRow], whole: Sequence[FamilyRow]) -> dict[str, object]:
    return {
        "seed": asked.seed,
        "tasks": asked.tasks,
        "datasets": asked.datasets,
        "one_contrast": [_plain(row) for row in single],
        "family": [asdict(row) for row in whole],
    }


def _plain(row: PowerRow) -> dict[str, object]:
    """A row for JSON, whose keys are text."""
    power = [
        {"effect": effect, "alpha": alpha, "power": value} for (effect, alpha), value in row.power.items()
    ]
    return {
        "pairing": row.pairing,
        "base": row.base,
        "discordant": row.discordant,
        "half_width": row.half_width,
        "power": power,
        "detectable": _keyed(row.detectable),
        "detectable_mid_p": row.detectable_mid_p,
        "detectable_one_model": _keyed(row.detectable_one_model),
        "size": row.size,
        "exaggeration": _keyed(row.exaggeration),
        "wrong_sign": _keyed(row.wrong_sign),
    }


def _keyed(values: Mapping[float, float] | Mapping[float, float | None]) -> dict[str, float | None]:
    return {str(key): value for key, value in values.items()}
