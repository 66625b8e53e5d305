"""The emulated host without its socket: one request in, one reply out."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from typing import Any

from repairlab.contract.canonical import Json
from repairlab.contract.errors import BadInput, InfrastructureFailure
from repairlab.hosts.emulator import chatting, embedding, listing, routes
from repairlab.hosts.emulator.actions import (
    CHAT_ROUTE,
    EMBEDDINGS_ROUTE,
    LOAD_ROUTE,
    UNLOAD_ROUTE,
    Action,
    Delay,
    Hang,
    ReplyInstead,
    StrayLoad,
    StrayUnload,
)
from repairlab.hosts.emulator.bodies import (
    Whole,
    compatible_error,
    native_error,
    text_error,
    unauthorized,
    unknown_route,
)
from repairlab.hosts.emulator.catalog import LLAMA, MINILM, RECORDED, HostConfig, changed
from repairlab.hosts.emulator.chat_request import ChatCall, read_request
from repairlab.hosts.emulator.chatting import LanguageModels
from repairlab.hosts.emulator.clock import HostClock
from repairlab.hosts.emulator.embedding import TextModels
from repairlab.hosts.emulator.engines.protocol import Engine
from repairlab.hosts.emulator.engines.recorded import Recorded
from repairlab.hosts.emulator.faults import Request, Scenario, parse_scenario
from repairlab.hosts.emulator.fields import Fields
from repairlab.hosts.emulator.replies import Delayed, Literal, Pending, Reply, Silence
from repairlab.hosts.emulator.state import Loaded, Processes, Residents

LIST_ROUTE = "GET /api/v1/models"
INFERENCE_LIST_ROUTE = "GET /v1/models"
GREETING_ROUTE = "GET /lmstudio-greeting"
CONTROL_ROUTE = "POST /emulator/control"
LOG_ROUTE = "GET /emulator/log"
_POSTS = (LOAD_ROUTE, UNLOAD_ROUTE, CHAT_ROUTE, EMBEDDINGS_ROUTE)


class Application:
    """State and routes of one emulated host. `handle` may be called from several threads.

    Args:
        config: models and settings.
        engines: what talks, by name, as the models of `config` name it.
        scenario: faults.
        real_clock: monotonic seconds.
        recorded: recorded replies, for models of that engine.
        language_models: what runs models of the engine ``llama``.
        text_models: what runs models of the engine ``minilm``.
        control: serve the routes by which a test exchanges the scenario, empties the table, and reads which
            request met which loaded models.
    """

    def __init__(
        self,
        config: HostConfig,
        engines: Mapping[str, Engine],
        scenario: Scenario,
        real_clock: Callable[[], float],
        *,
        recorded: Recorded | None = None,
        language_models: LanguageModels | None = None,
        text_models: TextModels | None = None,
        control: bool = False,
    ) -> None:
        self._base = config
        self._engines = engines
        self._real_clock = real_clock
        self._recorded = recorded or Recorded({})
        self._language_models = language_models
        self._text_models = text_models
        running = {LLAMA: language_models, MINILM: text_models}
        self._processes: dict[str, Processes] = {name: one for name, one in running.items() if one}
        self._control = control
        self._lock = threading.Lock()
        self.stopped = threading.Event()
        """Set while the server is stopped: whatever hangs is let go."""
        self._begin(config, scenario)

    def _begin(self, config: HostConfig, scenario: Scenario) -> None:
        self._scenario = scenario
        self._clock = HostClock(None if config.virtual_clock else self._real_clock)
        self._residents = Residents(config, self._clock.now, self._processes)
        self._counts: dict[str, int] = {}
        self._total = 0
        self._log: list[Json] = []
        self._hung = False
        self._recorded.rewind()

    @property
    def _config(self) -> HostConfig:
        return self._residents.config

    def restart(self) -> None:
        """What a stop of the server ends: a hang."""
        with self._lock:
            self._hung = False

    def handle(self, method: str, path: str, authorization: str, content: bytes) -> Reply:
        """Answer one request. `path` comes without its query."""
        route = f"{method} {path}"
        with self._lock:
            if self._control and route == CONTROL_ROUTE:
                return self._reconfigure(content)
            if self._control and route == LOG_ROUTE:
                return Whole(200, {"log": list(self._log)})
            if self._hung:
                return Silence()
            token = self._config.token
            if route != GREETING_ROUTE and token is not None and authorization != f"Bearer {token}":
                return unauthorized(authorization, self._config.auth_form)
            action = self._action(route)
            self._residents.expire()
            if isinstance(action, Hang):
                self._hung = True
                return Silence()
            reply = self._answer(method, path, content, action)
        return Delayed(action.seconds, reply) if isinstance(action, Delay) else reply

    def view(self, name: str) -> Json:
        """What the command line shows: ``ps``, ``ls`` or ``memory`` (bytes that are free)."""
        with self._lock:
            self._residents.expire()
            if name == "ps":
                return listing.ps(self._residents)
            return listing.ls(self._residents) if name == "ls" else self._residents.free_bytes

    def _action(self, route: str) -> Action | None:
        self._total += 1
        self._counts[route] = self._counts.get(route, 0) + 1
        request = Request(route, self._counts[route], self._total, self._clock.now())
        return self._scenario.action(request)

    def _answer(self, method: str, path: str, content: bytes, action: Action | None) -> Reply:
        if isinstance(action, StrayLoad):
            spec = self._config.model(action.key)
            if spec is not None:
                self._residents.load(spec, action.context)
        if isinstance(action, StrayUnload):
            self._residents.clear()
        if isinstance(action, ReplyInstead):
            return Literal(action.status, action.content_type, action.body.encode(), action.cut)
        return self._route(method, path, content, action)

    def _route(self, method: str, path: str, content: bytes, action: Action | None) -> Reply:
        route = f"{method} {path}"
        if route == GREETING_ROUTE:
            return Whole(200, {"lmstudio": True, "emulator": "repairlab"})
        if route == LIST_ROUTE:
            return Whole(200, self._residents.listing())
        if route == INFERENCE_LIST_ROUTE:
            return routes.inference_list(self._residents)
        if route == f"GET {listing.V0_PREFIX}":
            return listing.older_list(self._residents)
        if method == "GET" and path.startswith(f"{listing.V0_PREFIX}/"):
            return listing.older_model(self._residents, path.removeprefix(f"{listing.V0_PREFIX}/"))
        if route not in _POSTS:
            return unknown_route(self._config.unknown_route_status, method, path)
        return self._post(route, content, action)

    def _post(self, route: str, content: bytes, action: Action | None) -> Reply:
        body = _json_object(content)
        if body is None:
            message = "The request's body is no JSON object"
            if route in (CHAT_ROUTE, EMBEDDINGS_ROUTE):
                return text_error(400, message)
            return native_error(400, "invalid_request", message, "invalid_json")
        if route == LOAD_ROUTE:
            return self._load(body, action)
        if route == UNLOAD_ROUTE:
            return routes.unload(self._residents, body, action)
        if route == EMBEDDINGS_ROUTE:
            return self._embed(body, action)
        return self._chat(body, action)

    def _load(self, body: Mapping[str, Any], action: Action | None) -> Reply:
        try:
            reply = routes.load(self._residents, body, action)
        except InfrastructureFailure as failure:  # a language model's process; the host itself goes on
            return native_error(500, "unknown", f"Model loading was stopped: {failure.message}")
        spec = self._config.model(str(body.get("model")))
        seconds = spec.load_seconds if spec and reply.status == 200 else 0.0
        if self._clock.is_virtual:
            self._clock.advance(seconds)
            return reply
        return Delayed(seconds, reply) if seconds else reply

    def _chat(self, body: Mapping[str, Any], action: Action | None) -> Reply:
        call = read_request(body)
        if isinstance(call, Whole):
            return call
        instance = self._resolve(CHAT_ROUTE, call.model, body)
        if isinstance(instance, Whole):
            return instance
        if instance.spec.engine == RECORDED:
            return chatting.replay(instance, call, self._recorded)
        number = self._counts[CHAT_ROUTE]
        if instance.spec.engine == LLAMA and self._language_models:
            return self._ask_model(self._language_models, instance, call, action)
        engine = self._engines.get(instance.spec.engine or "")
        if engine is None or instance.spec.type != "llm":
            message = f"Model {instance.spec.key} is not an llm"
            return compatible_error(400, message, "model_not_found", "model")
        return chatting.chat(self._residents, instance, call, engine, action, number)

    def _ask_model(
        self, models: LanguageModels, instance: Loaded, call: ChatCall, action: Action | None
    ) -> Reply:
        """The reply of a real language model, made without the lock. A dead process takes its instance."""
        number = self._counts[CHAT_ROUTE]

        def make() -> Reply:
            try:
                answered = models.answer(instance.id, call)
            except InfrastructureFailure as failure:
                with self._lock:
                    if not models.runs(instance.id):
                        self._residents.unload(instance.id, 0)
                return text_error(500, f"The model has crashed: {failure.message}")
            with self._lock:
                return chatting.told(self._residents, instance, call, answered, action, number)

        return Pending(make)

    def _embed(self, body: Mapping[str, Any], action: Action | None) -> Reply:
        texts = embedding.texts_of(body)
        if isinstance(texts, Whole):
            return texts
        instance = self._resolve(EMBEDDINGS_ROUTE, body["model"], body)
        if isinstance(instance, Whole):
            return instance
        number = self._counts[EMBEDDINGS_ROUTE]
        if instance.spec.engine == MINILM and self._text_models:
            return self._ask_embedder(self._text_models, instance, texts, action)
        return embedding.hashed(self._residents, instance, texts, action, number)

    def _ask_embedder(
        self, models: TextModels, instance: Loaded, texts: tuple[str, ...], action: Action | None
    ) -> Reply:
        """The reply of a real embedder, made without the lock."""
        number = self._counts[EMBEDDINGS_ROUTE]

        def make() -> Reply:
            try:
                vectors = models.embed(instance.id, texts, instance.context)
            except InfrastructureFailure as failure:
                return text_error(500, f"The model has crashed: {failure.message}")
            with self._lock:
                return embedding.told(self._residents, instance, vectors, action, number)

        return Pending(make)

    def _resolve(self, route: str, model: str, body: Mapping[str, Any]) -> Loaded | Whole:
        """The instance that answers; loaded just in time where the host does that. Each use is logged."""
        found = self._residents.find(model)
        instance = found if found and not found.hidden else self._unlisted(model, body)
        if isinstance(instance, Loaded):
            self._residents.touch(instance.id)
        beside: list[Json] = [{"id": one.id, "type": one.spec.type} for one in self._residents.all]
        self._log.append({"route": route, "model": model, "residents": beside})
        return instance

    def _unlisted(self, model: str, body: Mapping[str, Any]) -> Loaded | Whole:
        spec = self._config.model(model)
        if spec is not None and self._config.jit:
            ttl = body.get("ttl", self._config.jit_ttl_seconds)
            try:
                loaded = self._residents.load_just_in_time(spec, float(ttl))
            except InfrastructureFailure as failure:
                return self._error(500, f"Model loading was stopped: {failure.message}", None)
            return loaded or self._error(500, "insufficient system resources", None)
        shown = self._residents.shown
        if shown and self._config.answers_any_model:
            return shown[0]
        if not shown:
            return self._error(400, "No models loaded. Load one first.", None)
        return self._error(404, f"Model {model} is not loaded", "model_not_found")

    def _error(self, status: int, message: str, code: str | None) -> Whole:
        if self._config.error_form == "text":
            return text_error(status, message)
        return compatible_error(status, message, code, "model")

    def _reconfigure(self, content: bytes) -> Reply:
        """Set the clock forward; or, with a scenario, begin anew with it and with settings of its own."""
        body = _json_object(content)
        if body is None:
            return Whole(400, {"error": "no JSON object"})
        try:
            fields = Fields(body, "control")
            ahead = fields.seconds("advance_seconds", 0.0)
            if "faults" in body:
                scenario = parse_scenario(fields.anything("faults"), "faults")
                self._residents.clear()
                self._begin(changed(self._base, fields), scenario)
            self._clock.advance(ahead)
            fields.close()
        except BadInput as error:
            return Whole(400, {"error": str(error)})
        done: dict[str, Json] = {"reset": "faults" in body}
        return Whole(200, done)


def _json_object(content: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
