"""From the inputs of an experiment to its cells: a pure function."""

from __future__ import annotations

from repairlab.contract.models import generation_digest
from repairlab.contract.study import Inputs
from repairlab.contract.treatments import configuration_digest
from repairlab.manifest.cell import Cell, Identity, Manifest
from repairlab.manifest.order import slots


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
    for slot in slots(
        _tasks_by_repository(inputs),
        experiment.models,
        experiment.treatments,
        experiment.order.seed,
        experiment.order.model_offsets,
    ):
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


def _tasks_by_repository(inputs: Inputs) -> dict[str, list[str]]:
    grouped: dict[str, list[str]] = {}
    for name, task in sorted(inputs.tasks.items()):
        grouped.setdefault(task.repository, []).append(name)
    return grouped
