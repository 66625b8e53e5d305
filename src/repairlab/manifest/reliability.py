"""The balanced choice of cells for a reliability manifest: 24 of 36 combinations of treatment and stratum.

A stratum is a repository with a model. With three repositories and two models, stratum k = (repository
k mod 3, model k mod 2) runs through all six (Chinese remainder theorem). The treatment of rank i takes the
strata i, i + 1, i + 2 and i + 3 (mod 6), so each treatment and each stratum occur four times, each treatment
twice with each model and once or twice in each repository. Each repository then holds eight cells, which
get eight different tasks.

Everything is ranked by a seeded hash; the choice depends on the seed and on the sets of labels alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from repairlab.manifest.order import Slot, ranked, seeded_key

REPOSITORIES = 3
MODELS = 2
TREATMENTS = 6
STRATA_OF_A_TREATMENT = 4
TASKS_OF_A_REPOSITORY = TREATMENTS * STRATA_OF_A_TREATMENT // REPOSITORIES


def reliability_slots(
    tasks_of: Mapping[str, Sequence[str]],
    models: Iterable[str],
    treatments: Iterable[str],
    seed: str,
) -> tuple[Slot, ...]:
    """The 24 cells, in hash order.

    Args:
        tasks_of: tasks of each of three repositories, eight or more in each.
        models: two labels.
        treatments: six labels.
        seed: text that decides every rank.

    Raises:
        ValueError: there are not so many labels, or one occurs twice.
    """
    repository_order = _exactly(REPOSITORIES, "repositories", ranked(tasks_of, seed, "repository"))
    model_order = _exactly(MODELS, "models", ranked(models, seed, "model"))
    treatment_order = _exactly(TREATMENTS, "treatments", ranked(treatments, seed, "treatment"))
    strata = [(repository_order[k % REPOSITORIES], model_order[k % MODELS]) for k in range(TREATMENTS)]
    cells = [
        (treatment, *strata[(rank + step) % len(strata)])
        for rank, treatment in enumerate(treatment_order)
        for step in range(STRATA_OF_A_TREATMENT)
    ]
    chosen: list[Slot] = []
    for repository in repository_order:
        queue = ranked(tasks_of[repository], seed, f"task|{repository}")
        if len(queue) < TASKS_OF_A_REPOSITORY:
            raise ValueError(
                f"{repository} has {len(queue)} tasks; the reliability design needs {TASKS_OF_A_REPOSITORY}"
            )
        own = sorted(cell for cell in cells if cell[1] == repository)
        own.sort(key=lambda cell: seeded_key(seed, "cell", *cell))
        chosen += [
            Slot(task, model, treatment)
            for task, (treatment, _, model) in zip(queue[:TASKS_OF_A_REPOSITORY], own, strict=True)
        ]
    return tuple(sorted(chosen, key=lambda slot: (seeded_key(seed, "place", *slot), slot)))


def _exactly(count: int, what: str, labels: tuple[str, ...]) -> tuple[str, ...]:
    if len(labels) != count:
        raise ValueError(f"the reliability design is made for {count} {what}, not {len(labels)}")
    return labels
