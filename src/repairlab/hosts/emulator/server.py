"""The socket of the emulated host: HTTP/1.1 on the loopback interface, one thread a connection."""

from __future__ import annotations

import json
import socketserver
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import cast

from repairlab.hosts.emulator.app import Application, Delayed, Literal, Reply, Stream, Wait
from repairlab.hosts.emulator.bodies import Whole

REQUEST_BYTES = 2**28
_JSON = "application/json; charset=utf-8"


class EmulatorServer(ThreadingHTTPServer):
    """Serves one application. Threads never keep the process alive."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, port: int, application: Application) -> None:
        self.application = application
        super().__init__(("127.0.0.1", port), Handler)

    def server_bind(self) -> None:
        """Bind without the look-up of a host name that the standard class makes: it can take seconds."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = "127.0.0.1", self.server_address[1]

    @property
    def url(self) -> str:
        """Base URL."""
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    """Reads a request, asks the application, writes the reply.

    Headers hold no date, so that equal requests get equal bytes.
    """

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def __getattr__(self, name: str) -> Callable[[], None]:
        """The base class looks for ``do_GET`` and its like: every method goes to one place."""
        if name.startswith("do_"):
            return self._serve
        raise AttributeError(name)

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Say nothing: the client journals every exchange."""

    def _serve(self) -> None:
        size = self.headers.get("Content-Length", "0")
        if not size.isdecimal() or int(size) > REQUEST_BYTES or "Transfer-Encoding" in self.headers:
            self.close_connection = True
            self._send(Whole(411, {"error": "a body needs a Content-Length"}))
            return
        content = self.rfile.read(int(size))
        path = self.path.partition("?")[0]
        application = cast("EmulatorServer", self.server).application
        authorization = self.headers.get("Authorization", "")
        try:
            self._send(application.handle(self.command, path, authorization, content))
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True  # the client has left; that is its right

    def _send(self, reply: Reply) -> None:
        if isinstance(reply, Delayed):
            time.sleep(reply.seconds)
            reply = reply.reply
        if isinstance(reply, Whole):
            text = json.dumps(reply.body, ensure_ascii=False, separators=(",", ":"))
            self._send_bytes(reply.status, _JSON, text.encode("utf-8", "replace"), cut=False)
        elif isinstance(reply, Literal):
            self._send_bytes(reply.status, reply.content_type, reply.body, cut=reply.cut)
        else:
            self._send_stream(reply)

    def _head(self, status: int, content_type: str, *more: tuple[str, str]) -> None:
        self.send_response_only(status)
        for name, value in (("Content-Type", content_type), *more):
            self.send_header(name, value)
        self.end_headers()

    def _send_bytes(self, status: int, content_type: str, body: bytes, *, cut: bool) -> None:
        promised = len(body) + 1 if cut else len(body)
        self._head(status, content_type, ("Content-Length", str(promised)))
        self.wfile.write(body)
        self.close_connection = self.close_connection or cut

    def _send_stream(self, stream: Stream) -> None:
        self._head(200, "text/event-stream", ("Cache-Control", "no-cache"), ("Transfer-Encoding", "chunked"))
        for step in stream.steps:
            if isinstance(step, Wait):
                time.sleep(step.seconds)
            else:
                self.wfile.write(b"%x\r\n%s\r\n" % (len(step), step))
        if stream.cut:
            self.close_connection = True
        else:
            self.wfile.write(b"0\r\n\r\n")
