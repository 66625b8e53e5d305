"""The native routes: list, load, unload. Bodies in, replies out; the table of instances is changed here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from repairlab.contract.canonical import Json
from repairlab.hosts.emulator.actions import (
    Action,
    ContextClamp,
    ExtraInstance,
    HeldMemory,
    HiddenInstance,
    LingeringUnload,
    OddInstance,
    OtherModel,
)
from repairlab.hosts.emulator.bodies import Whole, native_error
from repairlab.hosts.emulator.state import Loaded, Residents, instance_config

_LOAD_FIELDS: Mapping[str, tuple[type, ...]] = {
    "model": (str,),
    "context_length": (int,),
    "eval_batch_size": (int,),
    "flash_attention": (bool,),
    "num_experts": (int,),
    "offload_kv_cache_to_gpu": (bool,),
    "echo_load_config": (bool,),
}


def load(residents: Residents, body: Mapping[str, Any], action: Action | None) -> Whole:
    """``POST /api/v1/models/load``. Not idempotent: a resident key gets one more instance."""
    fault = _fields_fault(body, _LOAD_FIELDS, "model")
    if fault is not None:
        return fault
    spec = residents.config.model(body["model"])
    if spec is None:
        message = f"Model {body['model']} not found in downloaded models"
        return native_error(404, "model_not_found", message)
    context = body.get("context_length", min(residents.config.default_context, spec.max_context_length))
    if not 1 <= context <= spec.max_context_length:
        message = f"context_length must lie between 1 and {spec.max_context_length}"
        return native_error(400, "invalid_request", message, "invalid_value", "context_length")
    if not residents.fits(spec):
        message = "Model loading was stopped due to insufficient system resources"
        return native_error(500, "unknown", message)
    if isinstance(action, OtherModel):
        spec = residents.config.model(action.key) or spec
    odd = action if isinstance(action, OddInstance) else OddInstance(None, None)
    taken = action.context if isinstance(action, ContextClamp) else context
    instance = residents.load(spec, taken, ttl_seconds=odd.ttl_seconds, device=odd.device)
    if isinstance(action, ExtraInstance):
        residents.load(spec, action.context)
    if isinstance(action, HiddenInstance):
        residents.hide(instance.id)
    told = context if isinstance(action, ContextClamp) and not action.echo_tells else instance.context
    return Whole(200, _load_reply(instance, told, echo=body.get("echo_load_config", False)))


def _load_reply(instance: Loaded, context: int, *, echo: bool) -> dict[str, Json]:
    reply: dict[str, Json] = {
        "type": instance.spec.type,
        "instance_id": instance.id,
        "load_time_seconds": instance.spec.load_seconds,
        "status": "loaded",
    }
    if echo:
        reply["load_config"] = instance_config(instance.spec, context, with_parallel=False)
    return reply


def unload(residents: Residents, body: Mapping[str, Any], action: Action | None) -> Whole:
    """``POST /api/v1/models/unload``: one instance, by its id."""
    fault = _fields_fault(body, {"instance_id": (str,)}, "instance_id")
    if fault is not None:
        return fault
    looks = action.looks if isinstance(action, LingeringUnload) else 0
    instance_id = body["instance_id"]
    if not residents.unload(instance_id, looks, holds_memory=isinstance(action, HeldMemory)):
        return native_error(404, "model_not_found", f"No instance {instance_id} is loaded")
    return Whole(200, {"instance_id": instance_id})


def inference_list(residents: Residents) -> Whole:
    """``GET /v1/models``."""
    data: list[Json] = [
        {"id": one, "object": "model", "owned_by": "organization_owner"} for one in residents.inference_ids()
    ]
    return Whole(200, {"object": "list", "data": data})


def _fields_fault(
    body: Mapping[str, Any], known: Mapping[str, tuple[type, ...]], required: str
) -> Whole | None:
    unknown = sorted(set(body) - set(known))
    if unknown:
        message = f"Unrecognized key(s) in object: {', '.join(unknown)}"
        return native_error(400, "invalid_request", message, "unrecognized_keys")
    if required not in body:
        message = f"'{required}' is required"
        return native_error(400, "invalid_request", message, "missing_required_parameter", required)
    for key, value in body.items():
        kinds = known[key]
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            return native_error(400, "invalid_request", f"'{key}' has another type", "invalid_type", key)
    return None
