"""A trace of a server's answers, and what the emulated host must do to repeat it.

A trace has one JSON object a line: first what the server is, then every exchange as it came, in order. A chat
exchange is followed by ``request`` and ``reply`` in the form of a transcript, which the engine ``recorded``
reads. Tokens, the server's name and this machine's names are taken out before anything is written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import JsonValue

from repairlab.contract.canonical import Json
from repairlab.contract.errors import BadInput, RepairlabError
from repairlab.contract.strict import StrictModel, parse_json
from repairlab.hosts.assemble import assemble, is_object
from repairlab.hosts.client import CHAT
from repairlab.hosts.sse import EventDecoder
from repairlab.hosts.transport import MASK, Exchange
from repairlab.hosts.wire import ListedModel, Listing

LIST = "/api/v1/models"
_END = "[DONE]"
_UNPARSABLE = "failed to parse tool call arguments"


@dataclass(frozen=True, slots=True)
class Secrets:
    """What may not stand in a trace."""

    tokens: tuple[str, ...]
    """Removed wherever they stand."""
    names: tuple[str, ...]
    """Names of machines and folders; removed where they stand as a word of their own."""


def trace_lines(exchanges: Sequence[Exchange], host: Json, secrets: Secrets) -> Iterator[str]:
    """The lines of a trace, without line ends. `host` says what the server is, as far as it is known."""
    clean = _cleaner(secrets)
    yield _line({"type": "trace", "schema_version": 1, "host": clean(host)})
    for exchange in exchanges:
        for record in _records(exchange):
            yield _line(clean(record))


def _records(exchange: Exchange) -> Iterator[dict[str, Json]]:
    yield {
        "type": "exchange",
        "method": exchange.method,
        "path": exchange.path,
        "request": exchange.request,
        "status": exchange.status,
        "reply": exchange.reply,
        "failure": exchange.failure,
        "seconds": round(exchange.seconds, 3),
    }
    answer = _recorded(exchange) if exchange.path == CHAT else None
    if answer is not None:
        yield {"type": "request", "body": exchange.request}
        yield answer


def _recorded(exchange: Exchange) -> dict[str, Json] | None:
    """What the engine ``recorded`` can give back: a whole reply, or the refusal of a call."""
    if exchange.failure:
        return None
    if exchange.status == 200:
        body = _whole(exchange.reply)
        return None if body is None else {"type": "reply", "body": body}
    refused = _UNPARSABLE in exchange.reply.lower()
    return {"type": "unparsable-call", "body": exchange.reply} if refused else None


def _whole(text: str) -> Json:
    """The reply in `text`, streamed or not; ``None`` where it holds an error or is cut."""
    try:
        if not text.lstrip().startswith(("data:", "event:", ":")):
            body = json.loads(text)
            return body if is_object(body) and "error" not in body else None
        decoder = EventDecoder()
        events = [event.data for event in (*decoder.feed(text.encode()), *decoder.end())]
        frames = [json.loads(data) for data in events if data != _END]
        if _END not in events or any("error" in frame for frame in frames):
            return None
        return assemble(frames)
    except (ValueError, TypeError, RepairlabError):
        return None  # not an answer of the protocol; the exchange itself stands in the trace


def _cleaner(secrets: Secrets) -> Callable[[Json], Json]:
    words = "|".join(re.escape(name) for name in sorted(secrets.names, key=len, reverse=True) if name)
    named = re.compile(rf"(?<![A-Za-z0-9])(?:{words})(?![A-Za-z0-9])", re.IGNORECASE) if words else None
    tokens = sorted({form for token in secrets.tokens if token for form in _quoted(token)}, key=len)[::-1]

    def clean(value: Json) -> Json:
        if isinstance(value, str):
            for token in tokens:
                value = value.replace(token, MASK)
            return named.sub(MASK, value) if named else value
        if isinstance(value, Mapping):
            return {key: clean(one) for key, one in value.items()}
        if isinstance(value, Sequence):
            return [clean(one) for one in value]
        return value

    return clean


def _quoted(token: str) -> Iterator[str]:
    """The token as it is, and as it stands in JSON, and in JSON inside of JSON."""
    for _ in range(3):
        yield token
        token = json.dumps(token)[1:-1]


def _line(record: Json) -> str:
    return json.dumps(record, ensure_ascii=True, separators=(",", ":"))


class _Head(StrictModel):
    """The first line of a trace."""

    type: Literal["trace"]
    schema_version: Literal[1]
    host: JsonValue


class TracedExchange(StrictModel):
    """One exchange of a trace; see `repairlab.hosts.transport.Exchange`."""

    type: Literal["exchange"]
    method: str
    path: str
    request: JsonValue
    status: int | None
    reply: str
    failure: str
    seconds: float


def read_trace(path: Path) -> tuple[TracedExchange, ...]:
    """The exchanges of a trace, in order.

    Raises:
        BadInput: it cannot be read, or is no trace; the message names the line.
    """
    try:
        lines = path.read_bytes().rstrip(b"\n").split(b"\n")
    except OSError as error:
        raise BadInput(f"{path}: cannot be read ({error.strerror})") from error
    parse_json(_Head, lines[0], f"{path}:1")
    mark = b'{"type":"exchange",'
    numbered = [(number, line) for number, line in enumerate(lines, start=1) if line.startswith(mark)]
    return tuple(parse_json(TracedExchange, line, f"{path}:{number}") for number, line in numbered)


def emulated_models(exchanges: Sequence[TracedExchange]) -> dict[str, Json]:
    """Configuration of an emulated host that has the models of a trace.

    Its chat models repeat recorded replies. Its embedders are the feature-hashing one: their vectors differ.

    Raises:
        BadInput: the trace holds no list of models.
    """
    listed = [one.reply for one in exchanges if one.path == LIST and one.status == 200]
    if not listed:
        raise BadInput("the trace holds no list of models")
    listing = Listing.model_validate_json(listed[0], strict=True)
    return {"schema_version": 1, "models": [_emulated(model) for model in listing.models]}


def _emulated(model: ListedModel) -> Json:
    known: dict[str, Json] = {
        "key": model.key,
        "type": model.type,
        "engine": "recorded" if model.type == "llm" else "hashing",
        "max_context_length": model.max_context_length,
    }
    optional: dict[str, Json] = {
        "display_name": model.display_name,
        "publisher": model.publisher,
        "architecture": model.architecture,
        "format": model.format,
        "quantization": model.quantization_name,
        "params_string": model.params_string,
        "description": model.description,
        "selected_variant": model.selected_variant,
        "variants": list(model.variants) if model.variants else None,
        "reasoning_default": model.reasoning_default,
    }
    reasoning = model.capabilities.reasoning if model.capabilities else None
    if reasoning:
        optional["reasoning_options"] = list(reasoning.allowed_options)
    return known | {name: value for name, value in optional.items() if value is not None}


def shape(value: Json) -> Json:
    """The form of a JSON value: keys and types; of a list the distinct forms of its items."""
    if isinstance(value, Mapping):
        return {key: shape(one) for key, one in sorted(value.items())}
    if isinstance(value, str) or not isinstance(value, Sequence):
        return (
            "number"
            if isinstance(value, int | float) and not isinstance(value, bool)
            else type(value).__name__
        )
    forms = {json.dumps(shape(one), sort_keys=True) for one in value}
    return [json.loads(form) for form in sorted(forms)]


def differences(
    exchanges: Sequence[TracedExchange], ask: Callable[[str, str, Json], tuple[int, str]]
) -> Iterator[str]:
    """Send what a trace sent, in its order, and say where another host answers in another form.

    Args:
        exchanges: of the trace.
        ask: sends method, path and body; gives status and text.
    """
    for number, one in enumerate(exchanges):
        if one.failure:
            continue
        status, text = ask(one.method, one.path, one.request)
        where = f"{number}: {one.method} {one.path}"
        if status != one.status:
            yield f"{where}: status {status} where {one.status} was recorded"
        elif _form(text) != _form(one.reply):
            yield f"{where}: another form: {json.dumps(_form(text))[:300]}"


def _form(text: str) -> Json:
    """Form of a reply; of a stream the form of the reply that it amounts to."""
    whole = _whole(text)
    if whole is not None:
        return shape(whole)
    try:
        return shape(json.loads(text))
    except ValueError:
        return "no JSON"
