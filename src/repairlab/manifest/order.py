"""The frozen order of cells, as a pure function of sets of labels and a seed.

Tasks are interleaved over repositories. Model order alternates by task. Inside a model, treatments rotate
cyclically: with k treatments, position p of task t holds treatment (p + t + offset of the model) mod k.
Everything is ranked by a seeded hash first, so the order of lists in files has no influence.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple


class Slot(NamedTuple):
    """One place in the order."""

    task: str
    model: str
    treatment: str


def ranked(labels: Iterable[str], seed: str, tag: str) -> tuple[str, ...]:
    """`labels` sorted by SHA-256 of (seed, tag, label), joined by the unit separator.

    Raises:
        ValueError: if a label occurs twice.
    """
    items = list(labels)
    if len(set(items)) != len(items):
        raise ValueError(f"a label of {tag} occurs twice")
    return tuple(sorted(items, key=lambda label: (seeded_key(seed, tag, label), label)))


def interleaved(tasks_of: Mapping[str, Sequence[str]], seed: str) -> tuple[str, ...]:
    """Tasks in hash order, one of each repository in turn until all are placed."""
    repositories = ranked(tasks_of, seed, "repository")
    queues = {name: ranked(tasks_of[name], seed, f"task|{name}") for name in repositories}
    longest = max((len(queue) for queue in queues.values()), default=0)
    return tuple(
        queues[name][step] for step in range(longest) for name in repositories if step < len(queues[name])
    )


def slots(
    tasks_of: Mapping[str, Sequence[str]],
    models: Iterable[str],
    treatments: Iterable[str],
    seed: str,
    model_offsets: Sequence[int],
) -> tuple[Slot, ...]:
    """Every combination of task, model and treatment once, in the frozen order.

    Args:
        tasks_of: tasks of each repository.
        models: labels of the agent models.
        treatments: labels of the treatments.
        seed: text that decides every rank.
        model_offsets: rotation offset of each model, by rank.
    """
    model_order = ranked(models, seed, "model")
    treatment_order = ranked(treatments, seed, "treatment")
    offset_of = dict(zip(model_order, model_offsets, strict=True))
    count = len(treatment_order)
    return tuple(
        Slot(task, model, treatment_order[(position + index + offset_of[model]) % count])
        for index, task in enumerate(interleaved(tasks_of, seed))
        for model in (model_order if index % 2 == 0 else model_order[::-1])
        for position in range(count)
    )


def seeded_key(*parts: str) -> bytes:
    """SHA-256 of the parts, joined by the unit separator."""
    return hashlib.sha256("\x1f".join(parts).encode()).digest()
