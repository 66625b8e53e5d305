"""The reliability design: balance over treatments and strata, and independence from the order of lists."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repairlab.contract.errors import BadInput
from repairlab.contract.study import Inputs, Study, load_inputs
from repairlab.manifest.expand import expand
from repairlab.manifest.order import Slot
from repairlab.manifest.reliability import reliability_slots

TASKS = {repo: [f"{repo}-{n:02d}" for n in range(20)] for repo in ("r1", "r2", "r3")}
MODELS = ["M002", "M003"]
TREATMENTS = ["H000", "H003", "H007", "H011", "A001", "A002"]

seeds = st.text(min_size=1, max_size=12)


def design(seed: str) -> tuple[Slot, ...]:
    return reliability_slots(TASKS, MODELS, TREATMENTS, seed)


def repository(slot: Slot) -> str:
    return slot.task.split("-")[0]


@given(seeds)
def test_treatments_and_strata_are_balanced(seed: str) -> None:
    slots = design(seed)
    assert len(slots) == 24
    assert len({(s.treatment, repository(s), s.model) for s in slots}) == 24
    assert set(Counter(s.treatment for s in slots).values()) == {4}
    strata = Counter((repository(s), s.model) for s in slots)
    assert len(strata) == 6
    assert set(strata.values()) == {4}
    assert set(Counter((s.treatment, s.model) for s in slots).values()) == {2}
    in_repository = Counter((s.treatment, repository(s)) for s in slots)
    assert len(in_repository) == 18
    assert set(in_repository.values()) == {1, 2}


@given(seeds)
def test_each_cell_has_a_task_of_its_own(seed: str) -> None:
    slots = design(seed)
    assert len({s.task for s in slots}) == 24
    assert set(Counter(map(repository, slots)).values()) == {8}


@given(seeds)
def test_any_two_treatments_share_two_or_three_strata(seed: str) -> None:
    strata = {t: {(repository(s), s.model) for s in design(seed) if s.treatment == t} for t in TREATMENTS}
    shared = Counter(len(strata[a] & strata[b]) for a, b in combinations(TREATMENTS, 2))
    assert shared == {2: 9, 3: 6}


@settings(max_examples=40)
@given(seeds, st.randoms(use_true_random=False))
def test_the_order_of_lists_has_no_influence(seed: str, random_: random.Random) -> None:
    shuffled = {repo: random_.sample(tasks, 20) for repo, tasks in random_.sample(sorted(TASKS.items()), 3)}
    assert reliability_slots(
        shuffled, random_.sample(MODELS, 2), random_.sample(TREATMENTS, 6), seed
    ) == design(seed)


def test_each_combination_is_chosen_in_two_seeds_of_three() -> None:
    runs = 1500
    counts = Counter((s.treatment, repository(s), s.model) for n in range(runs) for s in design(f"seed-{n}"))
    assert len(counts) == 36
    # Binomial with p = 2/3: four standard deviations are 0.049.
    assert all(abs(count / runs - 2 / 3) < 0.049 for count in counts.values())


def test_the_design_of_the_study_is_pinned() -> None:
    first, *_, last = design("e08-reliability-v1")
    assert (first, last) == (PINNED_FIRST, PINNED_LAST)


PINNED_FIRST = Slot("r1-17", "M003", "H011")
PINNED_LAST = Slot("r3-09", "M003", "A002")


@pytest.mark.parametrize(
    ("models", "treatments", "tasks", "message"),
    [
        (["M002"], TREATMENTS, TASKS, "made for 2 models, not 1"),
        (MODELS, TREATMENTS[:5], TASKS, "made for 6 treatments, not 5"),
        (MODELS, TREATMENTS, {"r1": TASKS["r1"]}, "made for 3 repositories, not 1"),
        (
            MODELS,
            TREATMENTS,
            {**TASKS, "r2": TASKS["r2"][:7]},
            "r2 has 7 tasks; the reliability design needs 8",
        ),
    ],
)
def test_other_sizes_are_refused(
    models: list[str], treatments: list[str], tasks: dict[str, list[str]], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        reliability_slots(tasks, models, treatments, "s")


def test_a_label_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="occurs twice"):
        reliability_slots(TASKS, ["M002", "M002"], TREATMENTS, "s")


@pytest.fixture(scope="module")
def inputs() -> Inputs:
    """Three repositories of eight tasks, six arms without an oracle, two models: labels on real facts."""
    root = Path(__file__).resolve().parent.parent.parent
    real = load_inputs(Study(root), "embedded")
    tasks = {
        f"{name}-{n}": task.model_copy(update={"id": f"{name}-{n}"})
        for name, task in real.tasks.items()
        for n in range(4)
    }
    arms = {f"T{n}": real.treatments["H000"] for n in range(6)}
    experiment = real.experiment.model_copy(
        update={"design": "reliability", "treatments": tuple(arms), "seeds": (0, 1, 2), "temperature": 0.2}
    )
    return replace(real, experiment=experiment, tasks=tasks, treatments=arms)


def test_a_reliability_manifest_has_72_cells_of_its_own_configuration(inputs: Inputs) -> None:
    cells = expand(inputs, "c" * 64).cells
    assert [cell.sequence for cell in cells] == list(range(72))
    assert len({cell.digest for cell in cells}) == 72
    assert [cell.identity.seed for cell in cells] == [0, 1, 2] * 24
    main = replace(inputs, experiment=inputs.experiment.model_copy(update={"temperature": None}))
    generations = {cell.identity.generation for cell in cells}
    assert generations.isdisjoint(cell.identity.generation for cell in expand(main, "c" * 64).cells)


def test_the_same_cells_at_temperature_0_are_chosen_by_the_same_seed(inputs: Inputs) -> None:
    once = inputs.experiment.model_copy(update={"temperature": None, "seeds": (0,), "name": "again"})
    again = expand(replace(inputs, experiment=once), "c" * 64).cells
    first = expand(inputs, "c" * 64).cells[::3]
    assert [(c.task, c.treatment, c.model) for c in again] == [(c.task, c.treatment, c.model) for c in first]


def test_an_oracle_in_a_reliability_design_is_refused(inputs: Inputs) -> None:
    oracle = load_inputs(Study(Path(__file__).resolve().parent.parent.parent), "embedded").treatments["H018"]
    mixed = replace(inputs, treatments={**inputs.treatments, "T5": oracle})
    with pytest.raises(BadInput, match="T5 is an oracle"):
        expand(mixed, "c" * 64)
