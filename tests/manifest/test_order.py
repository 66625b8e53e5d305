"""The frozen order: balance of the main matrix, and independence from the order of lists."""

from __future__ import annotations

import itertools
import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repairlab.manifest.order import Slot, interleaved, ranked, slots

TASKS = {repo: [f"{repo}-{n:02d}" for n in range(20)] for repo in ("r1", "r2", "r3")}
MODELS = ["M002", "M003"]
TREATMENTS = ["H000", "H003", "H007", "H011", "H018", "A001", "A002"]
OFFSETS = (0, 4)


def main_order(seed: str = "e08-order-v1") -> tuple[Slot, ...]:
    return slots(TASKS, MODELS, TREATMENTS, seed, OFFSETS)


def blocks(order: tuple[Slot, ...]) -> list[tuple[Slot, ...]]:
    return [order[i : i + 7] for i in range(0, len(order), 7)]


seeds = st.text(min_size=1, max_size=12)


@given(seeds)
def test_every_combination_occurs_once(seed: str) -> None:
    order = main_order(seed)
    assert len(order) == len(set(order)) == 840


@given(seeds, st.randoms(use_true_random=False))
def test_the_order_of_lists_has_no_influence(seed: str, random_: random.Random) -> None:
    shuffled = {repo: random_.sample(tasks, 20) for repo, tasks in random_.sample(sorted(TASKS.items()), 3)}
    models, treatments = random_.sample(MODELS, 2), random_.sample(TREATMENTS, 7)
    assert slots(shuffled, models, treatments, seed, OFFSETS) == main_order(seed)


@given(seeds)
def test_positions_are_balanced_for_each_model_and_pooled(seed: str) -> None:
    counts: Counter[tuple[str, str, int]] = Counter()
    pooled: Counter[tuple[str, int]] = Counter()
    for block in blocks(main_order(seed)):
        assert len({slot.model for slot in block}) == len({slot.task for slot in block}) == 1
        for position, slot in enumerate(block):
            counts[slot.model, slot.treatment, position] += 1
            pooled[slot.treatment, position] += 1
    assert set(counts.values()) == {8, 9}
    assert len(counts) == 98
    assert set(pooled.values()) == {17, 18}


@given(seeds)
def test_each_model_goes_first_in_half_of_the_tasks_of_each_repository(seed: str) -> None:
    order = blocks(main_order(seed))
    first = Counter((block[0].task.split("-")[0], block[0].model) for block in order[::2])
    assert set(first.values()) == {10}
    assert len(first) == 6


@given(seeds)
def test_the_second_model_of_a_task_is_the_first_of_the_next(seed: str) -> None:
    models = [block[0].model for block in blocks(main_order(seed))]
    assert sum(a != b for a, b in itertools.pairwise(models)) == 60


@given(seeds)
def test_every_prefix_of_tasks_is_balanced_over_repositories(seed: str) -> None:
    order = interleaved(TASKS, seed)
    for end in range(1, 61):
        counts = Counter(task.split("-")[0] for task in order[:end])
        assert max(counts.values()) - min((counts[r] for r in TASKS), default=0) <= 1


@given(seeds)
def test_treatments_rotate_cyclically_within_a_model(seed: str) -> None:
    rank = {name: place for place, name in enumerate(ranked(TREATMENTS, seed, "treatment"))}
    for block in blocks(main_order(seed)):
        places = [rank[slot.treatment] for slot in block]
        assert places == [(places[0] + step) % 7 for step in range(7)]


def test_golden_ranks() -> None:
    # SHA-256 by hand, through sha256sum and sort. Any change here moves the order of every frozen experiment.
    assert ranked(["a", "b", "c", "d"], "seed", "tag") == ("b", "a", "c", "d")


def test_repositories_of_unequal_size_are_interleaved_until_they_run_out() -> None:
    order = interleaved({"a": ["a1", "a2", "a3"], "b": ["b1"]}, "s")
    assert sorted(order) == ["a1", "a2", "a3", "b1"]
    assert {order[0][0], order[1][0]} == {"a", "b"}


def test_a_label_twice_is_an_error() -> None:
    with pytest.raises(ValueError, match="occurs twice"):
        ranked(["a", "a"], "s", "t")


def test_a_missing_offset_is_an_error() -> None:
    with pytest.raises(ValueError):
        slots(TASKS, MODELS, TREATMENTS, "s", (0,))
