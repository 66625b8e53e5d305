"""Comparing what is pinned with what a host shows. Pure: no request is made here."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from repairlab.contract.canonical import Json
from repairlab.contract.failures import Condition
from repairlab.contract.models import UNPINNED
from repairlab.hosts.facts import ModelFacts, VerifiedFacts
from repairlab.hosts.lms import PsEntry
from repairlab.hosts.wire import InstanceConfig, ListedModel, Listing, Loaded

Moment: TypeAlias = Literal["load", "use", "block"]
"""When is looked: just after a load, after the first request, or before and after a block of requests."""
_NUMBERED = re.compile(r":[0-9]+\Z")
"""The end of an instance id that tells of an earlier instance."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One fact that is not as it must be."""

    fact: str
    expected: Json
    found: Json
    condition: Condition
    """Its row in the table of failures, which has the class and the repair."""

    def __str__(self) -> str:
        return f"{self.fact} is {self.found!r} where {self.expected!r} is required"


def catalogue_differences(wanted: ModelFacts, listing: Listing) -> tuple[Difference, ...]:
    """Differences that can be seen before a load: the key, and the facts of the downloaded model."""
    entries = [model for model in listing.models if model.key == wanted.key]
    if len(entries) != 1:
        return (Difference("models with this key", 1, len(entries), "key-differs"),)
    return tuple(_entry_differences(wanted, entries[0]))


def _entry_differences(wanted: ModelFacts, entry: ListedModel) -> Iterator[Difference]:
    if entry.type != wanted.kind:
        yield Difference("type", wanted.kind, entry.type, "type-differs")
    if entry.max_context_length < wanted.context_tokens:
        least = f"at least {wanted.context_tokens}"
        yield Difference("largest context", least, entry.max_context_length, "context-over-maximum")
    compared: tuple[tuple[str, str | None, str | None, Condition], ...] = (
        ("format", wanted.format, entry.format, "format-differs"),
        ("quantization", wanted.quantization, entry.quantization_name, "variant-differs"),
        ("selected_variant", wanted.selected_variant, entry.selected_variant, "variant-differs"),
        ("reasoning_default", wanted.reasoning_default, entry.reasoning_default, "reasoning-differs"),
    )
    for fact, expected, found, condition in compared:
        if expected not in (UNPINNED, found):
            yield Difference(fact, expected, found, condition)


def load_differences(wanted: ModelFacts, loaded: Loaded) -> tuple[Difference, ...]:
    """Differences in the reply to a load."""
    config = loaded.load_config
    expected = _expected_id(wanted, (loaded.instance_id,))
    another = _NUMBERED.sub("", loaded.instance_id) == _NUMBERED.sub("", expected)
    renamed = loaded.instance_id == wanted.key  # the right model, and not under its pinned name
    instance: Condition = "inference-ids-differ" if renamed else "key-differs"
    if another:
        instance = "second-instance"
    context = config.context_length if config else None
    compared: tuple[tuple[str, Json, Json, Condition], ...] = (
        ("load status", "loaded", loaded.status, "host-protocol"),
        ("type of the loaded model", wanted.kind, loaded.type, "type-differs"),
        ("loaded instance", expected, loaded.instance_id, instance),
        ("loaded context", wanted.context_tokens, context, "loaded-context-differs"),
    )
    return tuple(Difference(*row) for row in compared if row[1] != row[2])


def resident_differences(
    wanted: ModelFacts,
    listing: Listing,
    inference_ids: tuple[str, ...],
    *,
    allow_jit: bool,
    moment: Moment = "load",
) -> tuple[Difference, ...]:
    """Differences while the model should be resident, alone in the whole list."""
    differences = list(catalogue_differences(wanted, listing))
    resident = [(key, instance.id) for key, instance in listing.resident]
    expected = _expected_id(wanted, [instance_id for _, instance_id in resident])
    if resident != [(wanted.key, expected)]:
        found = [instance_id for _, instance_id in resident]
        condition = _instances_condition(wanted, [key for key, _ in resident], moment)
        differences.append(Difference("loaded instances", [expected], found, condition))
    drift: Condition = "loaded-context-differs" if moment == "load" else "context-drifted"
    for key, instance in listing.resident:
        context = instance.config.context_length
        if key == wanted.key and context != wanted.context_tokens:
            differences.append(Difference("context", wanted.context_tokens, context, drift))
    ids_wrong = expected not in inference_ids
    if ids_wrong or (not allow_jit and set(inference_ids) != {expected}):
        found_ids = list(inference_ids)
        differences.append(Difference("inference-visible ids", [expected], found_ids, "inference-ids-differ"))
    return tuple(differences)


def _expected_id(wanted: ModelFacts, shown: Sequence[str]) -> str:
    """The id that the one instance must have.

    One that is not pinned yet is taken as the host shows it, unless its number says that another came before.
    """
    if wanted.inference_key == UNPINNED and len(shown) == 1 and not _NUMBERED.search(shown[0]):
        return shown[0]
    return wanted.inference_id


def _instances_condition(wanted: ModelFacts, keys: list[str], moment: Moment) -> Condition:
    if wanted.key not in keys:
        return "key-differs" if keys and moment == "load" else "model-gone"
    if len(keys) > 1:
        return "stray-instance" if moment == "block" else "second-instance"
    return "inference-ids-differ"  # the one instance has another id than is pinned


def surface_differences(listing: Listing, entries: Sequence[PsEntry]) -> tuple[Difference, ...]:
    """Differences between the two views of what is loaded: instance ids and their contexts."""
    listed: list[Json] = [[one.id, one.config.context_length] for _, one in listing.resident]
    seen: list[Json] = [[entry.identifier, entry.context_length] for entry in entries]
    if listed == seen:
        return ()
    return (Difference("instances that `lms ps` shows", listed, seen, "surfaces-disagree"),)


def lms_differences(
    wanted: ModelFacts, listing: Listing, entries: Sequence[PsEntry]
) -> tuple[Difference, ...]:
    """Differences that only the second view can show, while the model should be resident alone."""
    differences = list(surface_differences(listing, entries))
    for entry in entries:
        if entry.ttl_ms is not None:
            differences.append(Difference("ttlMs", None, entry.ttl_ms, "time-to-live"))
        if entry.device_identifier is not None:
            differences.append(Difference("deviceIdentifier", None, entry.device_identifier, "remote-device"))
        if entry.model_key != wanted.key:
            differences.append(Difference("modelKey", wanted.key, entry.model_key, "key-differs"))
        if wanted.selected_variant not in (UNPINNED, entry.selected_variant):
            differences.append(
                Difference(
                    "selectedVariant", wanted.selected_variant, entry.selected_variant, "variant-differs"
                )
            )
    return tuple(differences)


def verified_facts(wanted: ModelFacts, listing: Listing, inference_ids: tuple[str, ...]) -> VerifiedFacts:
    """What the host shows of the one resident model; call it when there is no difference."""
    entry = next(model for model in listing.models if model.key == wanted.key)
    instance = entry.loaded_instances[0]
    return VerifiedFacts(
        key=entry.key,
        kind=entry.type,
        instance_id=instance.id,
        context_tokens=instance.config.context_length,
        max_context_tokens=entry.max_context_length,
        display_name=entry.display_name,
        architecture=entry.architecture,
        format=entry.format,
        quantization=entry.quantization_name,
        selected_variant=entry.selected_variant,
        reasoning_default=entry.reasoning_default,
        instance_config=_whole(instance.config),
        inference_ids=inference_ids,
    )


def _whole(config: InstanceConfig) -> dict[str, Json]:
    whole: dict[str, Json] = config.model_dump(mode="json")
    return whole
