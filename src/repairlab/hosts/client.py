"""The LM Studio client: native routes for lifecycle, OpenAI-compatible routes for inference.

A success is status 200, no ``error`` key, and the expected shape; nothing less.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import Any, TypeVar

from pydantic import ValidationError

from repairlab.contract.canonical import Json
from repairlab.contract.errors import InfrastructureFailure, RefuseToStart, RepairlabError
from repairlab.hosts.assemble import assemble
from repairlab.hosts.chat import ChatOutcome, ChatReply, ChatRequest, DeadlineReached, UnparsableCall
from repairlab.hosts.completion import read_completion
from repairlab.hosts.facts import Kind
from repairlab.hosts.failures import FailureRules, HostError, error_in, parse_json
from repairlab.hosts.reader import ReplyReader, Unpaid
from repairlab.hosts.transport import Answer, Call, Clock, Exchange, Patience, Transport
from repairlab.hosts.wire import (
    Greeting,
    InferenceListing,
    Listing,
    Loaded,
    Unloaded,
    WireModel,
)

ShapeT = TypeVar("ShapeT", bound=WireModel)

CHAT = "/v1/chat/completions"
EMBEDDINGS = "/v1/embeddings"
_WARM_UP_TOKENS = 16
_AUTHORIZATION = "invalid_api_key"
_QUOTED_CHARACTERS = 600


class LMStudioClient:
    """One host. Requests are made one at a time; nothing is ever sent twice.

    Args:
        base_url: scheme, host and port, such as ``http://127.0.0.1:1234``.
        token: bearer token, or ``None`` where the host asks for none. It is never logged or quoted.
        clock: monotonic seconds; the clock of `chat`'s deadline.
        patience: how long to wait for what.
        on_exchange: called with every request and all that came back, also when it failed.
        rules: the frozen table of failures in its phase.

    Every method raises what the table says: `RefuseToStart` for what no retry can cure (authorization,
    unknown route, a reply of another protocol version), `InfrastructureFailure` for the rest. A request while
    another is under way is refused as ``requests-overlap``: parallel requests would share one context.
    """

    def __init__(
        self,
        base_url: str,
        token: str | None,
        clock: Clock,
        *,
        patience: Patience,
        rules: FailureRules,
        on_exchange: Callable[[Exchange], None] | None = None,
    ) -> None:
        self._clock = clock
        self._patience = patience
        self._rules = rules
        self._busy = threading.Lock()
        self._transport = Transport(base_url, token, clock, patience.connect, on_exchange)

    def __enter__(self) -> LMStudioClient:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Release the sockets."""
        self._transport.close()

    def greet(self) -> None:
        """Return if an LM Studio server answers at the base URL."""
        greeting = self._ask("GET", "/lmstudio-greeting", None, self._patience.call, Greeting)
        if not greeting.lmstudio:
            raise RefuseToStart("GET /lmstudio-greeting: this server is not LM Studio")

    def list_models(self) -> Listing:
        """Every downloaded model with its loaded instances."""
        return self._ask("GET", "/api/v1/models", None, self._patience.call, Listing)

    def load(self, key: str, context_tokens: int) -> Loaded:
        """Load one more instance of `key` and wait for it. A resident key gets a second instance."""
        payload: Json = {"model": key, "context_length": context_tokens, "echo_load_config": True}
        return self._ask("POST", "/api/v1/models/load", payload, self._patience.load, Loaded)

    def unload(self, instance_id: str) -> None:
        """Ask to unload one instance. The reply proves nothing: look at the list."""
        path = "/api/v1/models/unload"
        self._ask("POST", path, {"instance_id": instance_id}, self._patience.call, Unloaded)

    def inference_ids(self) -> tuple[str, ...]:
        """Sorted ids that the inference routes show."""
        listing = self._ask("GET", "/v1/models", None, self._patience.call, InferenceListing)
        return tuple(sorted(model.id for model in listing.data))

    def warm_up(self, instance_id: str, kind: Kind) -> bool:
        """One tiny request to a freshly loaded instance; whether it reasoned.

        It is the same for every load, so no arm inherits more of a prompt cache than another.
        """
        if kind == "embedding":
            self.embed(instance_id, ("warm-up",))
            return False
        request = ChatRequest(
            model=instance_id,
            messages=({"role": "user", "content": "Answer with one word."},),
            tools=(),
            temperature=0.0,
            top_p=1.0,
            seed=0,
            max_tokens=_WARM_UP_TOKENS,
        )
        outcome = self.chat(request, float("inf"))
        return isinstance(outcome, ChatReply) and bool(outcome.reasoning)

    def embed(self, model: str, texts: tuple[str, ...]) -> Mapping[str, Any]:
        """The host's reply for `texts`, as it came; `repairlab.hosts.embedder` checks and orders it."""
        call = Call("POST", EMBEDDINGS, {"model": model, "input": list(texts)}, self._patience.silence)
        return parse_json(self._text_of(call), call.where)

    @property
    def silence_seconds(self) -> float:
        """How long a chat may send nothing."""
        return self._patience.silence

    def chat(self, request: ChatRequest, deadline: float, unpaid: Unpaid | None = None) -> ChatOutcome:
        """One streamed reply.

        Args:
            request: what is asked.
            deadline: reading of the clock at which the agent's time is over.
            unpaid: who is told of the time before the first token, which moves the deadline; ``None`` where
                that time is the agent's own. A reply that is not streamed shows no such time.

        Returns:
            the whole reply; or `DeadlineReached` when bytes still came at or after the deadline (a reply that
            ends after it is late too); or `UnparsableCall`. At a deadline in the middle of a silence the
            host's next byte, or its absence for `Patience.silence` seconds, decides what it was. After a late
            reply the host may go on generating: load the model anew before the next request.

        Raises:
            InfrastructureFailure: ``host-silent``, ``host-stream-lost``, ``host-wrong-model`` and others.
        """
        if self._clock() >= deadline:
            return DeadlineReached(None)
        with self._alone(f"POST {CHAT}"):
            return self._chat(request, deadline, unpaid)

    def _chat(self, request: ChatRequest, deadline: float, unpaid: Unpaid | None) -> ChatOutcome:
        call = Call("POST", CHAT, request.body(), self._patience.silence)
        reader = ReplyReader(call.where, request.model, self._clock, deadline, unpaid)
        answer = self._transport.send(call, reader.take)
        if not reader.streamed:
            return self._unstreamed(call, answer, reader, late=self._clock() >= deadline)
        if not reader.late:
            reader.finish()
        if reader.error is not None:
            return self._failed_chat(reader.error, call, answer)
        raw = assemble(reader.frames)
        return DeadlineReached(raw) if reader.late else read_completion(raw)

    def _unstreamed(self, call: Call, answer: Answer, reader: ReplyReader, *, late: bool) -> ChatOutcome:
        failure = self._failure_of(call, answer)
        if isinstance(failure, HostError):
            return self._failed_chat(failure, call, answer)
        if failure is not None:
            raise failure
        body = parse_json(_text(answer), call.where)
        reader.check_model(body)
        return DeadlineReached(dict(body)) if late else read_completion(body)

    def _failed_chat(self, error: HostError, call: Call, answer: Answer) -> UnparsableCall:
        if "arguments-not-json" in self._rules.match(error).conditions:
            return UnparsableCall(self._transport.scrub(error.message), self._transport.scrub(_text(answer)))
        raise self._told(error, call, answer)

    def _ask(self, method: str, path: str, payload: Json, silence: float, shape: type[ShapeT]) -> ShapeT:
        call = Call(method, path, payload, silence)
        text = self._text_of(call)
        try:
            return shape.model_validate_json(text, strict=True)
        except ValidationError as error:
            first = error.errors()[0]
            field = ".".join(str(part) for part in first["loc"])
            raise RefuseToStart(
                f"{call.where}: the reply has another shape: {field}: {first['msg']}",
                repair=self._rules.of("host-protocol").repair,
            ) from error

    def _text_of(self, call: Call) -> str:
        """Body of a reply that is JSON and no error."""
        with self._alone(call.where):
            answer = self._transport.send(call)
            failure = self._failure_of(call, answer)
            if isinstance(failure, HostError):
                raise self._told(failure, call, answer)
            if failure is not None:
                raise failure
            return _text(answer)

    @contextmanager
    def _alone(self, where: str) -> Iterator[None]:
        """One request at a time, and each failure as the table has it."""
        if not self._busy.acquire(blocking=False):
            raise self._rules.noticed("requests-overlap", where)
        try:
            yield
        except InfrastructureFailure as failure:
            classified = self._rules.reclassified(failure)
            if classified is failure:
                raise
            raise classified from failure
        finally:
            self._busy.release()

    def _failure_of(self, call: Call, answer: Answer) -> HostError | RepairlabError | None:
        """The host's error, or what its status alone says, or ``None`` for a success so far."""
        status = answer.head.status
        if status in (401, 403):
            return self._rules.told(HostError("", "", _AUTHORIZATION), call.where, status)
        text = _text(answer)
        try:
            error = error_in(parse_json(text, call.where))
        except RepairlabError as not_json:
            return not_json if status == 200 else self._bare(call, status, text)
        return self._bare(call, status, text) if error is None and status != 200 else error

    def _bare(self, call: Call, status: int, text: str) -> RepairlabError:
        said = self._transport.scrub(text)[:_QUOTED_CHARACTERS] or "an empty body"
        return self._rules.raised(self._rules.bare(status), f"{call.where}: status {status}: {said}")

    def _told(self, error: HostError, call: Call, answer: Answer) -> RepairlabError:
        scrub = self._transport.scrub
        cleaned = HostError(scrub(error.message), scrub(error.type), scrub(error.code))
        return self._rules.told(cleaned, call.where, answer.head.status)


def _text(answer: Answer) -> str:
    return answer.body.decode("utf-8", "replace")
