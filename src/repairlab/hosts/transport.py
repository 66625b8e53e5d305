"""HTTP to one host: HTTP/1.1, one connection a request, no environment, every exchange told.

A connection of its own for each request costs little beside a model's reply and removes a whole class of
failures: a request on an idle connection that the host is just closing.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import httpx

from repairlab.contract.canonical import Json
from repairlab.contract.errors import BadInput, InfrastructureFailure, IntegrityViolation

Clock: TypeAlias = Callable[[], float]
"""Monotonic seconds."""

REPLY_BYTES = 2**28
MASK = "(removed)"


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds that the client waits. Reading limits count from the last byte that came."""

    silence: float
    """Chat: no byte for so long is a failure of the host (a frozen control)."""
    connect: float = 10.0
    call: float = 60.0
    """Listing and unloading."""
    load: float = 1800.0
    """Loading sends nothing until it is done."""


@dataclass(frozen=True, slots=True)
class Call:
    """One request. `silence` is in seconds."""

    method: str
    path: str
    payload: Json
    silence: float

    @property
    def where(self) -> str:
        """For messages: method and route."""
        return f"{self.method} {self.path}"


@dataclass(frozen=True, slots=True)
class Head:
    """Status and content type (lower case) of a reply."""

    status: int
    content_type: str


@dataclass(frozen=True, slots=True)
class Answer:
    """A reply whose body ended properly, or that the taker left early."""

    head: Head
    body: bytes


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request and all that came back, for the journal. No header stands here, so no token either."""

    method: str
    path: str
    request: Json
    status: int | None
    """``None`` when no reply began."""
    reply: str
    """The body as it came, whole. Of a rejected authorization nothing is kept."""
    failure: str
    """Kind of the failure that ended the reading, or empty. An error that the host tells is in `reply`."""
    seconds: float


Take: TypeAlias = Callable[[Head, bytes], bool]
"""Given the reply's head and the next bytes (first none); true to stop reading."""


def keep_reading(_head: Head, _data: bytes) -> bool:
    """Takes the whole body."""
    return False


class Transport:
    """Sends requests to one base URL."""

    def __init__(
        self,
        base_url: str,
        token: str | None,
        clock: Clock,
        connect_seconds: float,
        on_exchange: Callable[[Exchange], None] | None,
    ) -> None:
        self._token = _checked_token(token)
        self._clock = clock
        self._connect_seconds = connect_seconds
        self._on_exchange = on_exchange
        headers = {"Accept-Encoding": "identity", "User-Agent": "repairlab"}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        self._http = httpx.Client(
            base_url=_checked_url(base_url),
            headers=headers,
            http1=True,
            http2=False,
            trust_env=False,
            follow_redirects=False,
            limits=httpx.Limits(max_keepalive_connections=0),
        )

    def close(self) -> None:
        """Release the sockets."""
        self._http.close()

    def send(self, call: Call, take: Take = keep_reading) -> Answer:
        """Send `call`, hand each piece of the reply to `take`, and journal what came, however it ends.

        Raises:
            InfrastructureFailure: ``host-unreachable``, ``host-silent``, ``host-connection-lost`` or
                ``host-protocol``.
            IntegrityViolation: the request holds what JSON in UTF-8 cannot hold.
        """
        content = _encode(call)
        body = bytearray()
        head: Head | None = None
        failure = ""
        started = self._clock()
        try:
            with self._http.stream(
                call.method,
                call.path,
                content=content,
                headers={"Content-Type": "application/json"} if content is not None else {},
                timeout=httpx.Timeout(call.silence, connect=self._connect_seconds),
            ) as response:
                head = Head(response.status_code, response.headers.get("content-type", "").lower())
                _read(response, head, body, take, call)
            return Answer(head, bytes(body))
        except (httpx.HTTPError, httpx.StreamError) as error:
            translated = _translate(error, call)
            failure = translated.kind
            raise translated from error
        except InfrastructureFailure as error:
            failure = error.kind
            raise
        finally:
            self._tell(call, head, bytes(body), failure, self._clock() - started)

    def scrub(self, text: str) -> str:
        """`text` of a failure with the token taken out, should the host have echoed it."""
        return text.replace(self._token, MASK) if self._token else text

    def _tell(self, call: Call, head: Head | None, body: bytes, failure: str, seconds: float) -> None:
        if self._on_exchange is None:
            return
        text = body.decode("utf-8", "backslashreplace")
        status = head.status if head else None
        if status in (401, 403):
            text = MASK
        elif head is not None and (head.status != 200 or '"error"' in text):
            text = self.scrub(text)
        self._on_exchange(Exchange(call.method, call.path, call.payload, status, text, failure, seconds))


def _read(response: httpx.Response, head: Head, body: bytearray, take: Take, call: Call) -> None:
    if take(head, b""):
        return
    for piece in response.iter_raw():
        body += piece
        if len(body) > REPLY_BYTES:
            raise InfrastructureFailure(
                f"{call.where}: a reply of more than {REPLY_BYTES} bytes", kind="host-protocol"
            )
        if take(head, piece):
            return


def _encode(call: Call) -> bytes | None:
    if call.payload is None:
        return None
    try:
        text = json.dumps(call.payload, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return text.encode("utf-8")
    except ValueError as error:  # UnicodeEncodeError is one
        raise IntegrityViolation(f"{call.where}: the request cannot be written as JSON: {error}") from error


def _translate(error: httpx.HTTPError | httpx.StreamError, call: Call) -> InfrastructureFailure:
    name = type(error).__name__
    if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
        return InfrastructureFailure(
            f"{call.where}: the host cannot be reached ({name})",
            kind="host-unreachable",
            repair="Start the server (`lms server start`) and check the base URL.",
        )
    if isinstance(error, httpx.TimeoutException):
        return InfrastructureFailure(
            f"{call.where}: no byte for {call.silence:g} seconds ({name})", kind="host-silent"
        )
    return InfrastructureFailure(
        f"{call.where}: the connection was lost ({name})", kind="host-connection-lost"
    )


def _checked_token(token: str | None) -> str:
    if token is None:
        return ""
    if not token or not all("!" <= character <= "~" for character in token):
        raise BadInput("the host's token is empty or holds blanks or characters outside ASCII")
    return token


def _checked_url(base_url: str) -> httpx.URL:
    try:
        url = httpx.URL(base_url)
    except httpx.InvalidURL as error:
        raise BadInput("the host's base URL cannot be read") from error
    if url.scheme not in ("http", "https") or not url.host:
        raise BadInput("the host's base URL must begin with http:// or https:// and name a host")
    if url.userinfo or url.query or url.fragment:
        raise BadInput("the host's base URL must hold no credentials, query or fragment")
    if url.path not in ("", "/"):
        raise BadInput(
            f"the host's base URL must end after the port, not in {url.path!r}",
            repair="Both route families are used: /api/v1 and /v1.",
        )
    return url
