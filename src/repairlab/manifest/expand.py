"""From the inputs of an experiment to its cells: a pure function."""

from __future__ import annotations

from repairlab.contract.errors import BadInput
from repairlab.contract.models import generation_digest
from repairlab.contract.study import Inputs
from repairlab.contract.treatments import configuration_digest
from repairlab.manifest.cell import Cell, Identity, Manifest
from repairlab.manifest.order import Slot, slots
from repairlab.manifest.reliability import reliability_slots


def expand(inputs: Inputs, code_revision: str) -> Manifest:
    """The cells of an experiment in their frozen order, each seed and repetition inside its slot."""
    experiment = inputs.experiment
    treatments = {
        name: configuration_digest(name, treatment, inputs.shared, inputs.wording, inputs.embedder)
        for name, treatment in inputs.treatments.items()
    }
    generations = {
        name: generation_digest(name, model, inputs.shared.generation, experiment.temperature)
        for name, model in inputs.models.items()
    }
    tasks = {name: task.digest() for name, task in inputs.tasks.items()}
    cells: list[Cell] = []
    for slot in _slots(inputs):
        for seed in experiment.seeds:
            for repetition in range(experiment.repetitions):
                own_context = inputs.models[slot.model].context_tokens
                identity = Identity(
                    experiment=experiment.name,
                    task=tasks[slot.task],
                    treatment=treatments[slot.treatment],
                    generation=generations[slot.model],
                    context_tokens=own_context or inputs.shared.generation.context_tokens,
                    seed=seed,
                    repetition=repetition,
                    repository=inputs.tasks[slot.task].base,
                    code=code_revision,
                )
                cells.append(
                    Cell(
                        sequence=len(cells),
                        task=slot.task,
                        treatment=slot.treatment,
                        model=slot.model,
                        identity=identity,
                        digest=identity.digest(),
                    )
                )
    return Manifest(schema_version=1, experiment=experiment.name, cells=tuple(cells))


def _slots(inputs: Inputs) -> tuple[Slot, ...]:
    experiment, tasks_of = inputs.experiment, _tasks_by_repository(inputs)
    models, treatments, order = experiment.models, experiment.treatments, experiment.order
    if experiment.design == "factorial":
        return slots(tasks_of, models, treatments, order.seed, order.model_offsets)
    oracles = sorted(name for name, treatment in inputs.treatments.items() if treatment.oracle_files)
    if oracles:
        raise BadInput(
            f"{experiment.name}: treatments: {oracles[0]} is an oracle; a reliability design has none"
        )
    try:
        return reliability_slots(tasks_of, models, treatments, order.seed)
    except ValueError as fault:
        raise BadInput(f"{experiment.name}: {fault}") from fault


def _tasks_by_repository(inputs: Inputs) -> dict[str, list[str]]:
    grouped: dict[str, list[str]] = {}
    for name, task in sorted(inputs.tasks.items()):
        grouped.setdefault(task.repository, []).append(name)
    return grouped
