"""`repairlab simulate`: a study directory with simulated outcomes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from repairlab.analysis.simulation.drawing import Scenario, draw
from repairlab.analysis.simulation.records import write_records
from repairlab.analysis.simulation.study import Shape, write_study
from repairlab.cli.freezing import Wish, freeze
from repairlab.contract.errors import BadInput
from repairlab.contract.models import Models
from repairlab.contract.strict import load
from repairlab.contract.study import Study, load_inputs, open_study
from repairlab.contract.treatments import Treatments
from repairlab.store.layout import Layout

ARMS = ("H000", "H003", "H007", "H011", "H018", "A001", "A002")
"""The arms of the main matrix; those that the contracts have take part."""
MODELS = ("M002", "M003")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the command line was given."""

    study: Path
    target: Path
    name: str
    tasks: int
    seed: int
    base: float
    effects: Sequence[str]
    failing: Sequence[str]
    missing: int
    blocked: int
    stop_after: int | None
    rehearsal: bool


def simulate_command(wanted: Wanted) -> None:
    """Write, freeze and fill a simulated study."""
    study = open_study(wanted.study)
    scenario = Scenario(
        seed=wanted.seed,
        base=wanted.base,
        effects=_by_arm(wanted.effects, "--effect"),
        failing=_by_arm(wanted.failing, "--failing"),
        missing=wanted.missing,
        blocked=wanted.blocked,
        stop_after=wanted.stop_after,
    )
    target = write_study(study, wanted.target, _shape(study, wanted))
    frozen, _ = freeze(target, wanted.name, Wish())
    inputs = load_inputs(target, wanted.name)
    drawn = draw(scenario, frozen.manifest.cells, inputs.shared.infrastructure.attempts)
    layout = Layout(target.raw / wanted.name, target.incomplete / wanted.name)
    sealed = write_records(inputs, frozen, layout, drawn, wanted.seed)
    print(f"{wanted.name}: SIMULATED outcomes in {sealed} of {len(drawn)} cells under {target.root}")
    print(f"  seed {wanted.seed}, base rate {wanted.base:g}; no agent ran, and these are no results")


def _shape(study: Study, wanted: Wanted) -> Shape:
    treatments = load(Treatments, study.contracts / "treatments.toml").root
    models = load(Models, study.contracts / "models.toml").root
    arms = tuple(name for name in ARMS if name in treatments)
    return Shape(
        name=wanted.name,
        tasks_per_repository=wanted.tasks,
        treatments=arms,
        models=tuple(name for name in MODELS if name in models),
        embedder="EMB002" if any(treatments[name].embeds for name in arms) else "",
        order_seed=f"{wanted.name}-order-v1",
        rehearsal=wanted.rehearsal,
    )


def _by_arm(given: Sequence[str], option: str) -> dict[str, float]:
    found = {}
    for text in given:
        arm, mark, value = text.partition("=")
        try:
            found[arm] = float(value)
        except ValueError as error:
            raise BadInput(f"{option} {text}: give ARM=NUMBER, such as H007=0.3") from error
        if not mark or not arm:
            raise BadInput(f"{option} {text}: give ARM=NUMBER, such as H007=0.3")
    return found
