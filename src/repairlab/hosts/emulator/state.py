"""What is loaded at the emulated host. Not locked: the application holds one lock around each use."""

from __future__ import annotations

from dataclasses import dataclass, replace

from repairlab.contract.canonical import Json
from repairlab.hosts.emulator.catalog import HostConfig, ModelSpec


@dataclass(frozen=True, slots=True)
class Loaded:
    """One instance."""

    id: str
    spec: ModelSpec
    context: int


class Residents:
    """The table of instances, in the order of loading."""

    def __init__(self, config: HostConfig) -> None:
        self.config = config
        self._instances: list[Loaded] = []
        self._leaving: dict[str, int] = {}

    def load(self, spec: ModelSpec, context: int) -> Loaded:
        """One more instance: the bare key as id, or the key with the lowest free number from 2."""
        taken = {instance.id for instance in self._instances}
        number = 1
        while _instance_id(spec.key, number) in taken:
            number += 1
        instance = Loaded(_instance_id(spec.key, number), spec, context)
        self._instances.append(instance)
        return instance

    def fits(self, spec: ModelSpec) -> bool:
        """Whether there is memory for one more instance of `spec`."""
        limit = self.config.memory_bytes
        used = sum(instance.spec.size_bytes for instance in self._instances)
        return limit is None or used + spec.size_bytes <= limit

    def find(self, instance_id: str) -> Loaded | None:
        """The instance with exactly this id."""
        return next((one for one in self._instances if one.id == instance_id), None)

    def unload(self, instance_id: str, lingers_for_looks: int) -> bool:
        """Drop an instance, at once or after so many further looks at the list; false if there is none."""
        if self.find(instance_id) is None:
            return False
        if lingers_for_looks:
            self._leaving[instance_id] = lingers_for_looks
        else:
            self._drop(instance_id)
        return True

    def set_context(self, instance_id: str, context: int) -> None:
        """Change the context of a loaded instance, as an engine that fits it by itself does."""
        self._instances = [
            replace(one, context=context) if one.id == instance_id else one for one in self._instances
        ]

    def listing(self) -> Json:
        """Body of the native list. Each look brings instances that are being unloaded nearer to their end."""
        body: Json = {"models": [self._entry(spec) for spec in self.config.models]}
        for instance_id in sorted(self._leaving):
            self._leaving[instance_id] -= 1
            if self._leaving[instance_id] == 0:
                self._drop(instance_id)
        return body

    def inference_ids(self) -> tuple[str, ...]:
        """Ids of ``/v1/models``: loaded instances, and with just-in-time loading every downloaded model."""
        ids = [instance.id for instance in self._instances]
        if self.config.jit:
            ids += [spec.key for spec in self.config.models if spec.key not in ids]
        return tuple(ids)

    @property
    def empty(self) -> bool:
        """Whether nothing is loaded."""
        return not self._instances

    def _drop(self, instance_id: str) -> None:
        self._leaving.pop(instance_id, None)
        self._instances = [one for one in self._instances if one.id != instance_id]

    def _entry(self, spec: ModelSpec) -> Json:
        instances: list[Json] = [
            {"id": one.id, "config": instance_config(spec, one.context, with_parallel=True)}
            for one in self._instances
            if one.spec.key == spec.key
        ]
        entry: dict[str, Json] = {
            "type": spec.type,
            "publisher": spec.publisher,
            "key": spec.key,
            "display_name": spec.display_name,
            "quantization": {"name": spec.quantization, "bits_per_weight": None}
            if spec.quantization
            else None,
            "size_bytes": spec.size_bytes,
            "params_string": spec.params_string,
            "loaded_instances": instances,
            "max_context_length": spec.max_context_length,
            "format": spec.format,
        }
        if spec.type == "llm":
            entry |= _language_model_fields(spec)
        if spec.variants:
            entry |= {"variants": list(spec.variants), "selected_variant": spec.selected_variant}
        return entry


def instance_config(spec: ModelSpec, context: int, *, with_parallel: bool) -> dict[str, Json]:
    """How an instance was loaded; the reply to a load leaves ``parallel`` out, the list has it."""
    config: dict[str, Json] = {"context_length": context}
    if spec.type == "llm":
        config |= {"eval_batch_size": 512, "flash_attention": True, "offload_kv_cache_to_gpu": True}
        if with_parallel:
            config["parallel"] = 4
    return config


def _language_model_fields(spec: ModelSpec) -> dict[str, Json]:
    capabilities: dict[str, Json] = {"vision": False, "trained_for_tool_use": spec.tool_use}
    if spec.reasoning_default is not None:
        options = list(spec.reasoning_options)
        capabilities["reasoning"] = {"allowed_options": options, "default": spec.reasoning_default}
    return {
        "architecture": spec.architecture,
        "capabilities": capabilities,
        "description": spec.description,
    }


def _instance_id(key: str, number: int) -> str:
    return key if number == 1 else f"{key}:{number}"
