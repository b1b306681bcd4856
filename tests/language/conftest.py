"""A real embedded model, and a server that lies, both on loopback."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from handrail.language import weights
from handrail.language.embedded import Embedded


@pytest.fixture(scope="session")
def embedded() -> Iterator[Embedded]:
    pytest.importorskip("xllamacpp", reason="the embedded model needs: pip install 'handrail[local]'")
    if weights.locate() is None:
        pytest.skip("the embedded model is not on this machine: handrail model pull")
    model = Embedded()
    yield model
    model.close()


Behaviour = Callable[["Lie"], None]


class Lie(BaseHTTPRequestHandler):
    """Handles each request by the server's next behaviour; the last one goes on for ever."""

    protocol_version = "HTTP/1.1"
    server: LyingServer

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length", 0))
        self.body = json.loads(self.rfile.read(length) or b"{}")
        self.answer()

    def do_GET(self) -> None:
        self.body = {}
        self.answer()

    def answer(self) -> None:
        with self.server.lock:
            self.server.seen.append((self.path, self.body))
            behaviours = self.server.behaviours
            behaviour = behaviours.pop(0) if len(behaviours) > 1 else behaviours[0]
        try:
            behaviour(self)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def send(self, status: int, body: bytes, kind: str = "application/json", **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def json(self, data: Any, status: int = 200, **headers: str) -> None:
        self.send(status, json.dumps(data).encode(), **headers)

    def log_message(self, *args: Any) -> None:
        pass


class LyingServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, behaviours: list[Behaviour]) -> None:
        super().__init__(("127.0.0.1", 0), Lie)
        self.behaviours = behaviours
        self.seen: list[tuple[str, Any]] = []
        self.lock = threading.Lock()
        self.over = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass


@pytest.fixture
def lying() -> Iterator[Callable[..., LyingServer]]:
    servers: list[tuple[LyingServer, threading.Thread]] = []

    def start(*behaviours: Behaviour) -> LyingServer:
        server = LyingServer(list(behaviours))
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        servers.append((server, thread))
        return server

    yield start
    for server, thread in servers:
        server.over.set()
        server.shutdown()
        server.server_close()
        thread.join(timeout=5)
