"""What the emulated host has downloaded, and its settings."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, cast

from repairlab.contract.errors import BadInput
from repairlab.hosts.emulator.fields import Fields, read_json

FLOOR = "floor"
NAVIGATOR = "navigator"
STATEMENT = "statement"
RECORDED = "recorded"
HASHING = "hashing"
LLAMA = "llama"
MINILM = "minilm"


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """One downloaded model. `engine` names what answers for it."""

    key: str
    type: Literal["llm", "embedding"]
    engine: str | None
    display_name: str
    publisher: str = "repairlab"
    architecture: str | None = None
    format: str | None = None
    quantization: str | None = None
    size_bytes: int = 0
    params_string: str | None = None
    max_context_length: int = 131_072
    tool_use: bool = True
    reasoning_options: tuple[str, ...] = ()
    reasoning_default: str | None = None
    description: str | None = None
    variants: tuple[str, ...] = ()
    selected_variant: str | None = None
    load_seconds: float = 0.0
    """A load takes so long, and says so."""
    parallel: int = 4
    """Slots of an instance, as its configuration shows them."""
    instance_name: str | None = None
    """What its instances are called; ``None`` calls them by the key, as the real host does."""


@dataclass(frozen=True, slots=True)
class HostConfig:
    """Models and settings of one emulated host."""

    models: tuple[ModelSpec, ...]
    jit: bool = False
    """Just-in-time loading: off, unlike the real server's default, because the study needs it off."""
    auto_evict: bool = True
    """A just-in-time load first unloads what was loaded so before."""
    jit_ttl_seconds: float = 3600.0
    """Idle limit of a model loaded just in time, unless the request names another."""
    default_context: int = 4096
    memory_bytes: int | None = None
    """Models together larger than this are refused at load; ``None`` is unlimited."""
    token: str | None = None
    """Bearer token that every request but the greeting must carry."""
    unknown_route_status: int = 200
    """Versions differ: 200 or 404, with an error in the body."""
    error_form: Literal["object", "text"] = "object"
    """Form of the errors of the compatible routes, where versions differ."""
    auth_form: Literal["object", "text"] = "object"
    """Form of the error for a missing or wrong token."""
    answers_any_model: bool = False
    """A request for an unknown model is answered by whatever is loaded."""
    old_server: bool = False
    """Leave out what older servers do not report: variants, reasoning switch, parallel slots."""
    virtual_clock: bool = False
    """Time passes only by loads and by what a test sets forward; nothing sleeps for a load."""

    def model(self, key: str) -> ModelSpec | None:
        """The model with exactly this key."""
        return next((spec for spec in self.models if spec.key == key), None)


def builtin() -> HostConfig:
    """The calibration models and the hashing embedder."""
    return HostConfig(
        models=(
            _calibration(FLOOR, "looks around and finishes without an edit"),
            _calibration(NAVIGATOR, "it was told the true fix and applies it"),
            _calibration(
                STATEMENT, "it searches by the statement's words and applies the true fix once that was shown"
            ),
            ModelSpec(
                key="repairlab/hashing-embedder",
                type="embedding",
                engine=HASHING,
                display_name="Feature-hashing embedder (no language model)",
                architecture="calibration",
                description="A program, no language model: signed hashing of the parts of identifiers.",
                max_context_length=32_768,
            ),
        )
    )


def _calibration(name: str, does: str) -> ModelSpec:
    return ModelSpec(
        key=f"repairlab/calibration-{name}",
        type="llm",
        engine=name,
        display_name=f"Calibration model: {name} (no language model)",
        architecture="calibration",
        description=f"A program, no language model: {does}.",
    )


def load_config(path: Path, known_engines: frozenset[str]) -> HostConfig:
    """Read a host's configuration.

    The file is ``{"schema_version": 1, "models": [...]}`` and may hold any setting of `HostConfig` beside.

    Raises:
        BadInput: naming file and key.
    """
    fields = Fields(read_json(path), str(path))
    if fields.integer("schema_version") != 1:
        raise BadInput(f"{path}: schema_version: only 1 is known")
    models = tuple(
        _model(item, f"{path}: models[{index}]", known_engines)
        for index, item in enumerate(fields.items("models"))
    )
    keys = [spec.key for spec in models]
    if len(set(keys)) != len(keys):
        raise BadInput(f"{path}: models: two models have the same key")
    config = changed(HostConfig(models), fields)
    fields.close()
    return config


def changed(config: HostConfig, fields: Fields) -> HostConfig:
    """`config` with those settings that `fields` holds."""
    return replace(
        config,
        jit=fields.flag("jit", config.jit),
        auto_evict=fields.flag("auto_evict", config.auto_evict),
        jit_ttl_seconds=fields.seconds("jit_ttl_seconds", config.jit_ttl_seconds),
        default_context=fields.integer("default_context", config.default_context, at_least=1),
        memory_bytes=fields.optional_integer("memory_bytes", at_least=1) or config.memory_bytes,
        token=fields.optional_text("token") or config.token,
        unknown_route_status=fields.integer(
            "unknown_route_status", config.unknown_route_status, at_least=200
        ),
        error_form=_form(fields, "error_form", config.error_form),
        auth_form=_form(fields, "auth_form", config.auth_form),
        answers_any_model=fields.flag("answers_any_model", config.answers_any_model),
        old_server=fields.flag("old_server", config.old_server),
        virtual_clock=fields.flag("virtual_clock", config.virtual_clock),
    )


def _form(fields: Fields, key: str, default: Literal["object", "text"]) -> Literal["object", "text"]:
    value = fields.text(key, default)
    if value not in ("object", "text"):
        raise BadInput(f"{fields.where}: {key}: object or text belongs here")
    return cast("Literal['object', 'text']", value)


def _model(item: object, where: str, known_engines: frozenset[str]) -> ModelSpec:
    fields = Fields(item, where)
    kind = fields.text("type", "llm")
    if kind not in ("llm", "embedding"):
        raise BadInput(f"{where}: type: llm or embedding belongs here")
    engine = fields.optional_text("engine")
    fitting = (HASHING,) if kind == "embedding" else tuple(sorted(known_engines - {HASHING}))
    if engine not in fitting and not (kind == "embedding" and engine is None):
        raise BadInput(f"{where}: engine: one of {', '.join(fitting)} belongs here")
    key = fields.text("key")
    spec = ModelSpec(
        key=key,
        type=cast("Literal['llm', 'embedding']", kind),
        engine=engine,
        display_name=fields.text("display_name", key),
        publisher=fields.text("publisher", "repairlab"),
        architecture=fields.optional_text("architecture"),
        format=fields.optional_text("format"),
        quantization=fields.optional_text("quantization"),
        size_bytes=fields.integer("size_bytes", 0),
        params_string=fields.optional_text("params_string"),
        max_context_length=fields.integer("max_context_length", 131_072, at_least=1),
        tool_use=fields.flag("tool_use", True),
        reasoning_options=fields.texts("reasoning_options", ()),
        reasoning_default=fields.optional_text("reasoning_default"),
        description=fields.optional_text("description"),
        variants=fields.texts("variants", ()),
        selected_variant=fields.optional_text("selected_variant"),
        load_seconds=fields.seconds("load_seconds", 0.0),
        instance_name=fields.optional_text("instance_name"),
    )
    fields.close()
    if (spec.selected_variant is None) != (not spec.variants):
        raise BadInput(f"{where}: variants and selected_variant stand together or not at all")
    return spec
