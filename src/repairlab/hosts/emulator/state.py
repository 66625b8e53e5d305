"""What is loaded at the emulated host. Not locked: the application holds one lock around each use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from repairlab.contract.canonical import Json
from repairlab.hosts.emulator.catalog import LLAMA, HostConfig, ModelSpec


@dataclass(frozen=True, slots=True)
class Loaded:
    """One instance."""

    id: str
    spec: ModelSpec
    context: int
    last_used: float
    """Reading of the host's clock at the load or the last request."""
    jit: bool = False
    """Loaded by an inference request, not explicitly."""
    ttl_seconds: float | None = None
    """Idle time after which the host unloads it by itself; ``None`` is never."""
    hidden: bool = False
    """Visible to the command line alone."""
    device: str | None = None
    """Another machine that it runs on."""


class Processes(Protocol):
    """What runs the instances of one engine that is a real model. `start` tells the real context."""

    def start(self, instance_id: str, context: int) -> int: ...

    def stop(self, instance_id: str) -> None: ...


class Residents:
    """The table of instances, in the order of loading.

    Args:
        config: models and settings.
        now: the host's clock.
        processes: what runs real models, by engine; each load and unload goes there too.
    """

    def __init__(
        self,
        config: HostConfig,
        now: Callable[[], float],
        processes: Mapping[str, Processes] | None = None,
    ) -> None:
        self.config = config
        self._now = now
        self._processes = processes or {}
        self._instances: list[Loaded] = []
        self._leaving: dict[str, int] = {}
        self._held_bytes = 0

    @property
    def all(self) -> tuple[Loaded, ...]:
        """Every instance, hidden ones included."""
        return tuple(self._instances)

    @property
    def shown(self) -> tuple[Loaded, ...]:
        """The instances that the server's own routes show."""
        return tuple(one for one in self._instances if not one.hidden)

    def expire(self) -> None:
        """Unload what has been idle for longer than its limit."""
        now = self._now()
        for one in self.all:
            if one.ttl_seconds is not None and now - one.last_used >= one.ttl_seconds:
                self._drop(one.id)

    def load(
        self,
        spec: ModelSpec,
        context: int,
        *,
        jit: bool = False,
        ttl_seconds: float | None = None,
        device: str | None = None,
    ) -> Loaded:
        """One more instance: the bare name as id, or the name with the lowest free number from 2."""
        taken = {instance.id for instance in self._instances}
        number = 1
        name = spec.instance_name or spec.key
        while _instance_id(name, number) in taken:
            number += 1
        instance_id = _instance_id(name, number)
        processes = self._processes.get(spec.engine or "")
        if processes is not None:
            context = processes.start(instance_id, context)
        instance = Loaded(
            instance_id, spec, context, self._now(), jit=jit, ttl_seconds=ttl_seconds, device=device
        )
        self._instances.append(instance)
        return instance

    def load_just_in_time(self, spec: ModelSpec, ttl_seconds: float) -> Loaded | None:
        """An instance for an inference request: default context, idle limit; ``None`` without memory for it.

        Instances that were loaded so before are evicted first; explicitly loaded ones never are.
        """
        if self.config.auto_evict:
            for one in self.all:
                if one.jit:
                    self._drop(one.id)
        if not self.fits(spec):
            return None
        context = min(self.config.default_context, spec.max_context_length)
        return self.load(spec, context, jit=True, ttl_seconds=ttl_seconds)

    @property
    def free_bytes(self) -> int | None:
        """Memory that is free; ``None`` is unlimited."""
        if self.config.memory_bytes is None:
            return None
        used = sum(instance.spec.size_bytes for instance in self._instances)
        return self.config.memory_bytes - used - self._held_bytes

    def fits(self, spec: ModelSpec) -> bool:
        """Whether there is memory for one more instance of `spec`."""
        return self.free_bytes is None or spec.size_bytes <= self.free_bytes

    def find(self, instance_id: str) -> Loaded | None:
        """The instance with exactly this id."""
        return next((one for one in self._instances if one.id == instance_id), None)

    def touch(self, instance_id: str) -> None:
        """Note that an instance is used now."""
        self._change(instance_id, lambda one: replace(one, last_used=self._now()))

    def hide(self, instance_id: str) -> None:
        """Show an instance to the command line alone."""
        self._change(instance_id, lambda one: replace(one, hidden=True))

    def unload(self, instance_id: str, lingers_for_looks: int, *, holds_memory: bool = False) -> bool:
        """Drop an instance, at once or after so many further looks at the list; false if there is none."""
        instance = self.find(instance_id)
        if instance is None:
            return False
        if holds_memory:
            self._held_bytes += instance.spec.size_bytes
        if lingers_for_looks:
            self._leaving[instance_id] = lingers_for_looks
        else:
            self._drop(instance_id)
        return True

    def clear(self) -> None:
        """Drop everything, as a restart does."""
        for one in self.all:
            self._drop(one.id)

    def set_context(self, instance_id: str, context: int) -> None:
        """Change the context of a loaded instance, as an engine that fits it by itself does."""
        self._change(instance_id, lambda one: replace(one, context=context))

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
        ids = [instance.id for instance in self.shown]
        if self.config.jit:
            ids += [spec.key for spec in self.config.models if spec.key not in ids]
        return tuple(ids)

    def _change(self, instance_id: str, change: Callable[[Loaded], Loaded]) -> None:
        self._instances = [change(one) if one.id == instance_id else one for one in self._instances]

    def _drop(self, instance_id: str) -> None:
        self._leaving.pop(instance_id, None)
        for processes in self._processes.values():
            processes.stop(instance_id)
        self._instances = [one for one in self._instances if one.id != instance_id]

    def _entry(self, spec: ModelSpec) -> Json:
        instances: list[Json] = [
            {"id": one.id, "config": self._config_of(one)} for one in self.shown if one.spec.key == spec.key
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
            entry |= _language_model_fields(spec, self.config.old_server)
        if spec.variants and not self.config.old_server:
            entry |= {"variants": list(spec.variants), "selected_variant": spec.selected_variant}
        return entry

    def _config_of(self, one: Loaded) -> dict[str, Json]:
        return instance_config(one.spec, one.context, with_parallel=not self.config.old_server)


def instance_config(spec: ModelSpec, context: int, *, with_parallel: bool) -> dict[str, Json]:
    """How an instance was loaded; the reply to a load leaves ``parallel`` out, the list has it."""
    config: dict[str, Json] = {"context_length": context}
    if spec.type == "llm":
        offload = spec.engine != LLAMA  # that engine computes on the processor
        config |= {"eval_batch_size": 512, "flash_attention": True, "offload_kv_cache_to_gpu": offload}
        if with_parallel:
            config["parallel"] = spec.parallel
    return config


def _language_model_fields(spec: ModelSpec, old_server: bool) -> dict[str, Json]:
    capabilities: dict[str, Json] = {"vision": False, "trained_for_tool_use": spec.tool_use}
    if spec.reasoning_default is not None and not old_server:
        options = list(spec.reasoning_options)
        capabilities["reasoning"] = {"allowed_options": options, "default": spec.reasoning_default}
    return {
        "architecture": spec.architecture,
        "capabilities": capabilities,
        "description": spec.description,
    }


def _instance_id(name: str, number: int) -> str:
    return name if number == 1 else f"{name}:{number}"
