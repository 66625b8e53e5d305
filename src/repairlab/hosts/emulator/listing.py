"""What else the emulated host shows of its models: the older native routes, the view of ``lms``."""

from __future__ import annotations

from repairlab.contract.canonical import Json
from repairlab.hosts.emulator.bodies import Whole, compatible_error
from repairlab.hosts.emulator.catalog import ModelSpec
from repairlab.hosts.emulator.state import Loaded, Residents

V0_PREFIX = "/api/v0/models"


def older_list(residents: Residents) -> Whole:
    """``GET /api/v0/models``: loaded models, and with just-in-time loading every downloaded one."""
    keys = set(residents.inference_ids())
    specs = [spec for spec in residents.config.models if residents.config.jit or spec.key in keys]
    return Whole(200, {"object": "list", "data": [_older(residents, spec) for spec in specs]})


def older_model(residents: Residents, key: str) -> Whole:
    """``GET /api/v0/models/<key>``."""
    spec = residents.config.model(key)
    if spec is None:
        return compatible_error(404, f"Model {key} not found", "model_not_found", "model")
    return Whole(200, _older(residents, spec))


def ps(residents: Residents) -> Json:
    """Output of ``lms ps --json``: every instance, also one that the server's routes do not show."""
    return [_instance(one) for one in residents.all]


def ls(residents: Residents) -> Json:
    """Output of ``lms ls --json``."""
    return [_model(spec) for spec in residents.config.models]


def _older(residents: Residents, spec: ModelSpec) -> Json:
    loaded = next((one for one in residents.shown if one.spec.key == spec.key), None)
    entry: dict[str, Json] = {
        "id": spec.key,
        "object": "model",
        "type": "llm" if spec.type == "llm" else "embeddings",
        "publisher": spec.publisher,
        "arch": spec.architecture,
        "compatibility_type": spec.format,
        "quantization": spec.quantization,
        "state": "loaded" if loaded else "not-loaded",
        "max_context_length": spec.max_context_length,
    }
    return entry | ({"loaded_context_length": loaded.context} if loaded else {})


def _model(spec: ModelSpec) -> dict[str, Json]:
    entry: dict[str, Json] = {
        "type": spec.type,
        "modelKey": spec.key,
        "format": spec.format,
        "displayName": spec.display_name,
        "publisher": spec.publisher,
        "path": spec.key,
        "sizeBytes": spec.size_bytes,
        "indexedModelIdentifier": spec.key,
        "deviceIdentifier": None,
        "paramsString": spec.params_string,
        "architecture": spec.architecture,
        "quantization": {"name": spec.quantization, "bits": None} if spec.quantization else None,
        "maxContextLength": spec.max_context_length,
    }
    if spec.type == "llm":
        entry |= {"vision": False, "trainedForToolUse": spec.tool_use}
    if spec.variants:
        entry |= {"variants": list(spec.variants), "selectedVariant": spec.selected_variant}
    return entry


def _instance(one: Loaded) -> Json:
    suffix = f"@{one.spec.quantization.lower()}" if one.hidden and one.spec.quantization else ""
    return _model(one.spec) | {
        "deviceIdentifier": one.device,
        "identifier": one.id + suffix,
        "ttlMs": None if one.ttl_seconds is None else int(one.ttl_seconds * 1000),
        "lastUsedTime": None,
        "contextLength": one.context,
        "status": "idle",
        "queued": 0,
        "parallel": 4 if one.spec.type == "llm" else None,
    }
