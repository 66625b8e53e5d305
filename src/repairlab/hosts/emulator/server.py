"""The sockets of the emulated host: the server, which can be stopped, and the application's own channel.

HTTP/1.1 on the loopback interface, one thread a connection.
"""

from __future__ import annotations

import json
import socket
import socketserver
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import cast

from repairlab.hosts.emulator.app import Application
from repairlab.hosts.emulator.bodies import Whole
from repairlab.hosts.emulator.replies import Delayed, Literal, Pending, Reply, Silence, Wait

REQUEST_BYTES = 2**28
_JSON = "application/json; charset=utf-8"
_Answering = Callable[[str, str, str, bytes], Reply]


class EmulatorServer(ThreadingHTTPServer):
    """Serves one function of method, path, authorization and body. Threads never keep the process alive."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, port: int, answer: _Answering, let_go: threading.Event) -> None:
        self.answer = answer
        self.let_go = let_go
        self._open: set[socket.socket] = set()
        self._open_lock = threading.Lock()
        super().__init__(("127.0.0.1", port), Handler)

    def server_bind(self) -> None:
        """Bind without the look-up of a host name that the standard class makes: it can take seconds."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = "127.0.0.1", self.server_address[1]

    def opened(self, connection: socket.socket) -> None:
        """Remember a connection, so that a stop can cut it."""
        with self._open_lock:
            self._open.add(connection)

    def closed(self, connection: socket.socket) -> None:
        """Forget a connection."""
        with self._open_lock:
            self._open.discard(connection)

    def cut(self) -> None:
        """Cut every open connection."""
        with self._open_lock:
            for connection in self._open:
                try:
                    connection.shutdown(socket.SHUT_RDWR)
                except OSError:
                    continue  # the other side was faster


class Host:
    """The whole host: a server that can be stopped and started, and a channel that is always there."""

    def __init__(self, port: int, application: Application) -> None:
        self._application = application
        self._let_go = threading.Event()
        self._server: EmulatorServer | None = None
        self._lock = threading.Lock()
        self._version = 1
        self.port = port
        self._start(port)
        self._channel = EmulatorServer(0, self._command, threading.Event())

    @property
    def url(self) -> str:
        """Base URL of the server."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def channel_url(self) -> str:
        """Where the command line reaches the application, whether the server runs or not."""
        return f"http://127.0.0.1:{self._channel.server_port}"

    def serve_forever(self) -> None:
        """Serve the channel; the server has a thread of its own."""
        self._channel.serve_forever()

    def _start(self, port: int) -> None:
        self._let_go = threading.Event()
        self._server = EmulatorServer(port, self._application.handle, self._let_go)
        self.port = self._server.server_port
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def _stop(self) -> None:
        server, self._server = self._server, None
        if server is None:
            return
        self._let_go.set()
        server.shutdown()
        server.server_close()
        server.cut()
        self._application.restart()

    def _command(self, method: str, path: str, _authorization: str, content: bytes) -> Reply:
        command = f"{method} {path}"
        with self._lock:
            if command == "POST /server/start":
                if self._server is None:
                    self._start(self.port)
                return Whole(200, {"running": True, "port": self.port})
            if command == "POST /server/stop":
                was_running = self._server is not None
                self._stop()
                return Whole(200 if was_running else 409, {"running": False})
            if command == "POST /version":
                self._version = json.loads(content)["version"]
                return Whole(200, {"version": self._version})
        if command == "GET /status":
            return Whole(200, {"running": self._server is not None, "port": self.port})
        if command == "GET /version":
            return Whole(200, {"version": f"emulator-{self._version}"})
        if command in ("GET /ps", "GET /ls", "GET /memory"):
            return Whole(200, self._application.view(path.removeprefix("/")))
        return Whole(404, {"error": f"no command {command}"})


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

    def handle(self) -> None:
        """Serve the connection until either side ends it."""
        server = cast("EmulatorServer", self.server)
        server.opened(self.connection)
        try:
            super().handle()
        except OSError:
            self.close_connection = True  # the client has left, or the server was stopped
        finally:
            server.closed(self.connection)

    def _serve(self) -> None:
        size = self.headers.get("Content-Length", "0")
        if not size.isdecimal() or int(size) > REQUEST_BYTES or "Transfer-Encoding" in self.headers:
            self.close_connection = True
            self._send(Whole(411, {"error": "a body needs a Content-Length"}))
            return
        content = self.rfile.read(int(size))
        path = self.path.partition("?")[0]
        server = cast("EmulatorServer", self.server)
        authorization = self.headers.get("Authorization", "")
        self._send(server.answer(self.command, path, authorization, content))

    def _send(self, reply: Reply) -> None:
        if isinstance(reply, Silence):
            cast("EmulatorServer", self.server).let_go.wait()
            self.close_connection = True
        elif isinstance(reply, Delayed):
            time.sleep(reply.seconds)
            self._send(reply.reply)
        elif isinstance(reply, Pending):
            self._send(reply.make())
        elif isinstance(reply, Whole):
            text = json.dumps(reply.body, ensure_ascii=False, separators=(",", ":"))
            self._send_bytes(reply.status, _JSON, text.encode("utf-8", "replace"), cut=False)
        elif isinstance(reply, Literal):
            self._send_bytes(reply.status, reply.content_type, reply.body, cut=reply.cut)
        else:
            self._send_stream(reply.steps, cut=reply.cut)

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

    def _send_stream(self, steps: tuple[bytes | Wait, ...], *, cut: bool) -> None:
        self._head(200, "text/event-stream", ("Cache-Control", "no-cache"), ("Transfer-Encoding", "chunked"))
        for step in steps:
            if isinstance(step, Wait):
                time.sleep(step.seconds)
            else:
                self.wfile.write(b"%x\r\n%s\r\n" % (len(step), step))
        if cut:
            self.close_connection = True
        else:
            self.wfile.write(b"0\r\n\r\n")
