"""A host in a process of its own: `python -m handrail.world.serve --factory module:name --socket PATH`.

It outlives the runner. When the runner is killed the lease lapses, the world stops, and the process waits `--linger` seconds for
somebody to come back before it ends.
"""

from __future__ import annotations

import argparse
import importlib
import json
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from handrail.domain.types import Objects
from handrail.errors import ConfigError, HandrailError
from handrail.world import wire
from handrail.world.host import LocalHost
from handrail.world.hosting import LEASE
from handrail.world.protocol import World


def load_factory(text: str) -> Callable[..., Any]:
    """The callable that `module:name` names.

    Raises:
        ConfigError: it can't be imported, or is no callable.
    """
    module, colon, name = text.partition(":")
    if not colon or not module or not name:
        raise ConfigError(f"'{text}' is not of the form module:factory, such as my_robot.world:make")
    try:
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as e:
        raise ConfigError(f"'{text}' can't be loaded: {e}") from e
    if not callable(found):
        raise ConfigError(f"'{text}' is a {type(found).__name__}, not something that makes a world when it is called")
    return found  # type: ignore[no-any-return]


class Server:
    """Serves a host over a Unix socket; each connection has its own thread, so that a stop never waits behind another call.

    Args:
        host: what is served.
        path: of the socket.
        linger: seconds without lease and without connection after which `serve` returns; None for never.
    """

    def __init__(self, host: LocalHost, path: Path, linger: float | None = 600.0) -> None:
        self.host = host
        self.path = path
        self.linger = linger
        self._base: Objects = getattr(host.world, "objects", None) or host.observe().state.objects
        self._quit = threading.Event()
        self._open = 0
        self._used = time.monotonic()
        self._lock = threading.Lock()
        self._do: Mapping[str, Callable[[dict[str, Any]], Any]] = {
            "hello": lambda _: {
                "name": host.name,
                "capabilities": wire.pack_capabilities(host.capabilities),
                "lease": host.lease,
            },
            "time": lambda _: host.time(),
            "acquire": lambda a: host.acquire(a["run"], bytes.fromhex(a["key"])),
            "renew": lambda a: host.renew(a["run"]),
            "release": lambda a: host.release(a["run"]),
            "observe": lambda _: self._observe(),
            "start": lambda a: host.start(wire.unpack_order(a["order"])),
            "poll": lambda a: wire.pack_progress(host.poll(a["goal_id"])),
            "cancel": lambda a: host.cancel(a["goal_id"]),
            "running": lambda _: list(host.running()),
            "stop": lambda a: wire.pack_verdict(host.stop(a["by"])),
            "status": lambda _: wire.pack_status(host.status()),
            "fork": lambda _: wire.pack_fork(host.fork()),
            "quit": lambda _: self._quit.set(),
        }

    def _observe(self) -> dict[str, Any]:
        return wire.pack_observation(self.host.observe(), self._base)

    def serve(self, ready: Callable[[], None] = lambda: None) -> None:
        """Serve until told to quit or left alone for too long; then stop the world and remove the socket."""
        listener = wire.listen(self.path)
        listener.settimeout(0.2)
        ready()
        try:
            while not self._quit.is_set():
                try:
                    connection, _ = listener.accept()
                except TimeoutError:
                    if self._left_alone():
                        break
                    continue
                threading.Thread(target=self._talk, args=(connection,), daemon=True).start()
        finally:
            listener.close()
            self.path.unlink(missing_ok=True)
            self.host.close()

    def _left_alone(self) -> bool:
        with self._lock:
            if self._open:
                self._used = time.monotonic()
            return self.linger is not None and time.monotonic() - self._used > self.linger

    def _talk(self, connection: socket.socket) -> None:
        with self._lock:
            self._open += 1
        try:
            with connection, connection.makefile("rb") as lines:
                for line in iter(lambda: lines.readline(wire.LIMIT), b""):
                    connection.sendall(json.dumps(self._answer(line)).encode() + b"\n")
        except OSError:
            pass  # the other side is gone; the lease says what that means
        finally:
            with self._lock:
                self._open -= 1
                self._used = time.monotonic()

    def _answer(self, line: bytes) -> dict[str, Any]:
        try:
            body = json.loads(line)
            do = self._do[body.pop("do")]
        except (ValueError, KeyError, TypeError, AttributeError) as e:
            return {"error": f"not a question this host knows: {e}", "type": "WorldError"}
        try:
            return {"ok": do(body)}
        except HandrailError as e:
            return {"error": str(e), "type": type(e).__name__}
        except Exception as e:
            return {"error": f"the world failed: {type(e).__name__}: {e}", "type": "WorldError"}

    def quit(self) -> None:
        """Let `serve` return."""
        self._quit.set()


def main(argv: list[str] | None = None) -> int:
    """Make the world, serve it, say `ready` on standard output once it can be reached."""
    parser = argparse.ArgumentParser(prog="handrail.world.serve", description=__doc__)
    parser.add_argument("--factory", required=True, help="module:name of what makes the world")
    parser.add_argument("--args", default="{}", help="JSON object of keyword arguments for it")
    parser.add_argument("--socket", required=True, type=Path)
    parser.add_argument("--lease", type=float, default=LEASE, help="seconds that a renewal lasts")
    parser.add_argument("--linger", type=float, default=600.0, help="seconds to wait for somebody to come back")
    options = parser.parse_args(argv)
    try:
        world: World = load_factory(options.factory)(**json.loads(options.args))
        host = LocalHost(world, options.lease, grace=0.0)
    except (HandrailError, ValueError, TypeError) as e:
        sys.stdout.write(f"error {e}\n")
        return 2
    server = Server(host, options.socket, options.linger)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: server.quit())

    def ready() -> None:
        sys.stdout.write("ready\n")
        sys.stdout.flush()

    try:
        server.serve(ready)
    except HandrailError as e:
        sys.stdout.write(f"error {e}\n")
        return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
