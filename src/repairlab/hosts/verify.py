"""Comparing what is pinned with what a host shows. Pure: no request is made here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from repairlab.contract.canonical import Json
from repairlab.contract.models import UNPINNED
from repairlab.hosts.facts import ModelFacts, VerifiedFacts
from repairlab.hosts.wire import InstanceConfig, ListedModel, Listing, Loaded

_CONTEXT_REPAIR = (
    "The engine fits the context by itself (known of some MLX engine versions): use a GGUF build or another "
    "engine version, and a multiple of 256."
)
_VARIANT_REPAIR = "Select the pinned variant in LM Studio; the load route takes base keys only."
_OTHERS_REPAIR = "Close what else loads models at this host; it must serve this study alone."
_JIT_REPAIR = "Switch just-in-time loading off in the server's settings and unload everything else."


@dataclass(frozen=True, slots=True)
class Difference:
    """One fact that is not as it must be."""

    fact: str
    expected: Json
    found: Json
    repair: str = ""

    def __str__(self) -> str:
        return f"{self.fact} is {self.found!r} where {self.expected!r} is required"


def catalogue_differences(wanted: ModelFacts, listing: Listing) -> tuple[Difference, ...]:
    """Differences that can be seen before a load: the key, and the facts of the downloaded model."""
    entries = [model for model in listing.models if model.key == wanted.key]
    if len(entries) != 1:
        repair = "Download the model, or correct the pinned key; it is compared exactly."
        return (Difference("models with this key", 1, len(entries), repair),)
    return tuple(_entry_differences(wanted, entries[0]))


def _entry_differences(wanted: ModelFacts, entry: ListedModel) -> Iterator[Difference]:
    if entry.type != wanted.kind:
        yield Difference(
            "type", wanted.kind, entry.type, "The host classes the model by its architecture and name."
        )
    if entry.max_context_length < wanted.context_tokens:
        yield Difference("largest context", f"at least {wanted.context_tokens}", entry.max_context_length)
    compared: tuple[tuple[str, str | None, str | None, str], ...] = (
        ("format", wanted.format, entry.format, ""),
        ("quantization", wanted.quantization, entry.quantization_name, _VARIANT_REPAIR),
        ("selected_variant", wanted.selected_variant, entry.selected_variant, _VARIANT_REPAIR),
        ("reasoning_default", wanted.reasoning_default, entry.reasoning_default, ""),
    )
    for fact, expected, found, repair in compared:
        if expected not in (UNPINNED, found):
            yield Difference(fact, expected, found, repair)


def load_differences(wanted: ModelFacts, loaded: Loaded) -> tuple[Difference, ...]:
    """Differences in the reply to a load."""
    config = loaded.load_config
    compared: tuple[tuple[str, Json, Json, str], ...] = (
        ("load status", "loaded", loaded.status, ""),
        ("type of the loaded model", wanted.kind, loaded.type, ""),
        ("loaded instance", wanted.key, loaded.instance_id, _OTHERS_REPAIR),
        ("loaded context", wanted.context_tokens, config.context_length if config else None, _CONTEXT_REPAIR),
    )
    return tuple(Difference(*row) for row in compared if row[1] != row[2])


def resident_differences(
    wanted: ModelFacts, listing: Listing, inference_ids: tuple[str, ...], *, allow_jit: bool
) -> tuple[Difference, ...]:
    """Differences while the model should be resident, alone in the whole list."""
    differences = list(catalogue_differences(wanted, listing))
    resident = [(key, instance.id) for key, instance in listing.resident]
    if resident != [(wanted.key, wanted.inference_id)]:
        found = [instance_id for _, instance_id in resident]
        differences.append(Difference("loaded instances", [wanted.inference_id], found, _OTHERS_REPAIR))
    for key, instance in listing.resident:
        context = instance.config.context_length
        if key == wanted.key and context != wanted.context_tokens:
            differences.append(Difference("context", wanted.context_tokens, context, _CONTEXT_REPAIR))
    if wanted.inference_id not in inference_ids:
        found_ids = list(inference_ids)
        differences.append(Difference("inference-visible ids", [wanted.inference_id], found_ids))
    elif not allow_jit and set(inference_ids) != {wanted.inference_id}:
        differences.append(
            Difference("inference-visible ids", [wanted.inference_id], list(inference_ids), _JIT_REPAIR)
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
