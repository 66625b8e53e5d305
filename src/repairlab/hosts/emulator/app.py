"""The emulated host without its socket: one request in, one reply out."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from repairlab.contract.canonical import Json
from repairlab.contract.errors import BadInput
from repairlab.hosts.emulator import routes
from repairlab.hosts.emulator.bodies import Whole, compatible_error, native_error, text_error, unknown_route
from repairlab.hosts.emulator.catalog import HostConfig
from repairlab.hosts.emulator.chat_request import read_request
from repairlab.hosts.emulator.engines.protocol import Engine
from repairlab.hosts.emulator.faults import (
    CHAT_ROUTE,
    LOAD_ROUTE,
    UNLOAD_ROUTE,
    Action,
    ContextDrift,
    CutStream,
    ErrorFrame,
    Pace,
    ReplyInstead,
    Scenario,
    WrongModel,
    parse_scenario,
)
from repairlab.hosts.emulator.generation import complete, event, frames, prompt_tokens, whole_body
from repairlab.hosts.emulator.state import Loaded, Residents

LIST_ROUTE = "GET /api/v1/models"
INFERENCE_LIST_ROUTE = "GET /v1/models"
GREETING_ROUTE = "GET /lmstudio-greeting"
CONTROL_ROUTE = "POST /emulator/control"


@dataclass(frozen=True, slots=True)
class Wait:
    """Send nothing for so many seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Stream:
    """A streamed reply: bytes to send and waits between them."""

    steps: tuple[bytes | Wait, ...]
    cut: bool = False
    """The connection closes without a proper end."""


@dataclass(frozen=True, slots=True)
class Literal:
    """Bytes of a scenario's own."""

    status: int
    content_type: str
    body: bytes
    cut: bool


@dataclass(frozen=True, slots=True)
class Delayed:
    """A whole reply after some seconds."""

    seconds: float
    reply: Whole


Reply: TypeAlias = Whole | Stream | Literal | Delayed


class Application:
    """State and routes of one emulated host. `handle` may be called from several threads.

    Args:
        config: models and settings.
        engines: by name, as the models of `config` name them.
        scenario: faults.
        control: serve a route by which a test exchanges the scenario and empties the table.
    """

    def __init__(
        self, config: HostConfig, engines: Mapping[str, Engine], scenario: Scenario, *, control: bool
    ) -> None:
        self._config = config
        self._engines = engines
        self._scenario = scenario
        self._control = control
        self._residents = Residents(config)
        self._counts: dict[str, int] = {}
        self._lock = threading.Lock()

    def handle(self, method: str, path: str, authorization: str, content: bytes) -> Reply:
        """Answer one request. `path` comes without its query."""
        route = f"{method} {path}"
        with self._lock:
            if self._control and route == CONTROL_ROUTE:
                return self._reconfigure(content)
            if route == GREETING_ROUTE:
                return Whole(200, {"lmstudio": True, "emulator": "repairlab"})
            if self._config.token is not None and authorization != f"Bearer {self._config.token}":
                return _unauthorized(authorization)
            self._counts[route] = self._counts.get(route, 0) + 1
            action = self._scenario.action(route, self._counts[route])
            if isinstance(action, ReplyInstead):
                return Literal(action.status, action.content_type, action.body.encode(), action.cut)
            return self._route(method, path, content, action)

    def _route(self, method: str, path: str, content: bytes, action: Action | None) -> Reply:
        route = f"{method} {path}"
        if route == LIST_ROUTE:
            return Whole(200, self._residents.listing())
        if route == INFERENCE_LIST_ROUTE:
            return routes.inference_list(self._residents)
        if route not in (LOAD_ROUTE, UNLOAD_ROUTE, CHAT_ROUTE):
            return unknown_route(method, path)
        body = _json_object(content)
        if body is None:
            message = "The request's body is no JSON object"
            if route == CHAT_ROUTE:
                return text_error(400, message)
            return native_error(400, "invalid_request", message, "invalid_json")
        if route == LOAD_ROUTE:
            return self._load(body, action)
        if route == UNLOAD_ROUTE:
            return routes.unload(self._residents, body, action)
        return self._chat(body, action)

    def _load(self, body: Mapping[str, Any], action: Action | None) -> Reply:
        reply = routes.load(self._residents, body, action)
        spec = self._config.model(str(body.get("model")))
        seconds = spec.load_seconds if spec and reply.status == 200 else 0.0
        return Delayed(seconds, reply) if seconds else reply

    def _chat(self, body: Mapping[str, Any], action: Action | None) -> Reply:
        call = read_request(body)
        if isinstance(call, Whole):
            return call
        instance = self._resolve(call.model)
        if isinstance(instance, Whole):
            return instance
        engine = self._engines.get(instance.spec.engine or "")
        if engine is None:
            message = f"Model {instance.spec.key} is not an llm"
            return compatible_error(400, message, "model_not_found", "model")
        asked = prompt_tokens(body)
        if asked >= instance.context:
            return text_error(
                400,
                "The number of tokens to keep from the initial prompt is greater than the context length "
                f"(n_keep: {asked}>= n_ctx: {instance.context})",
            )
        completion = complete(call, engine.reply(call.asked), instance.id, instance.context)
        if isinstance(action, ContextDrift):
            self._residents.set_context(instance.id, action.context)
        if isinstance(action, WrongModel):
            completion = replace(completion, model=action.model)
        if not call.stream:
            return Whole(200, whole_body(completion))
        return _shape(frames(completion, include_usage=call.include_usage), action)

    def _resolve(self, model: str) -> Loaded | Whole:
        instance = self._residents.find(model)
        if instance is not None:
            return instance
        spec = self._config.model(model)
        if spec is not None and self._config.jit:
            return self._residents.load(spec, min(self._config.default_context, spec.max_context_length))
        if self._residents.empty:
            return compatible_error(400, "No models loaded. Load one first.", None, "model")
        return compatible_error(404, f"Model {model} is not loaded", "model_not_found", "model")

    def _reconfigure(self, content: bytes) -> Reply:
        body = _json_object(content)
        if body is None:
            return Whole(400, {"error": "no JSON object"})
        try:
            self._scenario = parse_scenario(body.get("faults", []), "faults")
        except BadInput as error:
            return Whole(400, {"error": str(error)})
        if "jit" in body:
            self._config = replace(self._config, jit=bool(body["jit"]))
        self._residents = Residents(self._config)
        self._counts.clear()
        done: dict[str, Json] = {"reset": True}
        return Whole(200, done)


def _shape(parts: tuple[bytes, ...], action: Action | None) -> Stream:
    if isinstance(action, CutStream):
        return Stream(parts[: action.after_frames], cut=True)
    if isinstance(action, ErrorFrame):
        return Stream((*parts[: action.after_frames], event(action.body)))
    if isinstance(action, Pace):
        steps: list[bytes | Wait] = []
        for number, part in enumerate(parts):
            silent = action.silent_seconds if number == action.silent_before_frame else 0.0
            steps += [Wait(action.frame_seconds + silent), part]
        return Stream(tuple(steps))
    return Stream((b"".join(parts),))


def _unauthorized(authorization: str) -> Whole:
    offered = authorization.removeprefix("Bearer ")
    message = (
        f"An LM Studio API token is required; {offered[:6]}... is none" if offered else "A token is needed"
    )
    return Whole(401, {"error": {"message": message, "type": "invalid_request", "code": "invalid_api_key"}})


def _json_object(content: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
