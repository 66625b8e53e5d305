from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from repairlab.hosts.facts import ModelFacts
from repairlab.hosts.verify import catalogue_differences, load_differences, resident_differences
from repairlab.hosts.wire import Listing, Loaded

WANTED = ModelFacts("k", "llm", 4096)


def loaded(**changes: Any) -> Loaded:
    whole = {"type": "llm", "instance_id": "k", "status": "loaded", "load_config": {"context_length": 4096}}
    return Loaded.model_validate(whole | changes)


def listing(*models: dict[str, Any]) -> Listing:
    return Listing.model_validate({"models": models}, strict=False)


def model(*instances: tuple[str, int], **changes: Any) -> dict[str, Any]:
    held = tuple({"id": name, "config": {"context_length": context}} for name, context in instances)
    return {"type": "llm", "key": "k", "max_context_length": 8192, "loaded_instances": held} | changes


def test_a_load_as_asked_has_no_difference():
    assert load_differences(WANTED, loaded()) == ()


@pytest.mark.parametrize(
    ("change", "fact"),
    [
        ({"load_config": {"context_length": 262_144}}, "loaded context"),
        ({"load_config": None}, "loaded context"),
        ({"status": "loading"}, "load status"),
        ({"instance_id": "k:2"}, "loaded instance"),
        ({"type": "embedding"}, "type of the loaded model"),
    ],
)
def test_q1_what_the_load_itself_says_is_compared(change: dict[str, Any], fact: str):
    assert [difference.fact for difference in load_differences(WANTED, loaded(**change))] == [fact]


@pytest.mark.parametrize(
    ("pinned", "found", "condition"),
    [
        (None, "k:2", "second-instance"),
        ("name", "name:2", "second-instance"),
        ("name", "k", "inference-ids-differ"),
        ("unpinned", "k:2", "second-instance"),
        (None, "another", "key-differs"),
        ("name", "another", "key-differs"),
    ],
)
def test_an_instance_of_another_name_or_number_has_its_own_condition(
    pinned: str | None, found: str, condition: str
):
    (difference,) = load_differences(replace(WANTED, inference_key=pinned), loaded(instance_id=found))
    assert (difference.fact, difference.condition) == ("loaded instance", condition)


@pytest.mark.parametrize(("pinned", "name"), [("name", "name"), ("unpinned", "anything")])
def test_a_load_under_the_pinned_name_or_under_any_unpinned_one_has_no_difference(pinned: str, name: str):
    wanted = replace(WANTED, inference_key=pinned)
    assert load_differences(wanted, loaded(instance_id=name)) == ()
    assert resident_differences(wanted, listing(model((name, 4096))), (name,), allow_jit=False) == ()


def test_a_key_that_is_listed_twice_or_not_at_all_differs():
    for models in ((), (model(), model())):
        (difference,) = catalogue_differences(WANTED, listing(*models))
        assert difference.found == len(models)


@pytest.mark.parametrize(
    ("models", "ids", "facts"),
    [
        ((model(("k", 4096)),), ("k",), []),
        ((model(),), (), ["loaded instances", "inference-visible ids"]),
        ((model(("k", 4096), ("k:2", 4096)),), ("k", "k:2"), ["loaded instances", "inference-visible ids"]),
        ((model(("k", 8192)),), ("k",), ["context"]),
        ((model(("k", 4096)),), ("other",), ["inference-visible ids"]),
        ((model(("k", 4096)),), ("k", "other"), ["inference-visible ids"]),
        ((model(("k", 4096)), model(("e", 512), key="e")), ("k",), ["loaded instances"]),
        ((model(("k", 4096), type="embedding"),), ("k",), ["type"]),
    ],
)
def test_what_is_resident_is_compared_whole(
    models: tuple[dict[str, Any], ...], ids: tuple[str, ...], facts: list[str]
):
    found = resident_differences(WANTED, listing(*models), ids, allow_jit=False)
    assert [difference.fact for difference in found] == facts
