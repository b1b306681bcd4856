"""The runner's end of a host in another process.

Three connections: one for steps and observations, one for the lease, one for stop. So neither a renewal nor a stop ever waits behind
an acknowledgement that is still pending.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from handrail.domain.state import Observation
from handrail.domain.types import Objects
from handrail.errors import WorldError
from handrail.world import wire
from handrail.world.hosting import LEASE, HostStatus, Order
from handrail.world.protocol import Capabilities, Progress, Stopped, StopVerdict
from handrail.world.wire import Line


class RemoteHost:
    """A host behind a socket; see `handrail.world.host.Host`.

    Args:
        path: of the host's socket.
        objects: of the scene; only needed to observe.
        timeout: seconds for an answer to anything but a stop.

    Raises:
        WorldError: nobody listens there.
    """

    def __init__(self, path: Path | str, objects: Objects | None = None, timeout: float = 10.0) -> None:
        self.path = str(path)
        self.objects = objects
        self._work = Line(path, timeout)
        self._lease = Line(path, timeout)
        self._stop = Line(path, 2.0)
        self._stopping = threading.Lock()
        hello = self._work.ask("hello")
        self.name: str = hello["name"]
        self.capabilities: Capabilities = wire.unpack_capabilities(hello["capabilities"])

    def time(self) -> float:
        """See `World.time`."""
        return float(self._lease.ask("time"))

    def acquire(self, run: str, key: bytes) -> None:
        """See `LocalHost.acquire`."""
        self._work.ask("acquire", run=run, key=key.hex())

    def renew(self, run: str) -> None:
        """See `LocalHost.renew`."""
        self._lease.ask("renew", run=run)

    def release(self, run: str) -> None:
        """See `LocalHost.release`."""
        self._work.ask("release", run=run)

    def observe(self) -> Observation:
        """See `World.observe`.

        Raises:
            WorldError: no answer, or this end was made without the scene's objects.
        """
        if self.objects is None:
            raise WorldError("this connection was made without the scene's objects, so it can't observe")
        seen = wire.unpack_observation(self._work.ask("observe"), self.objects)
        self.objects = seen.state.objects
        return seen

    def start(self, order: Order) -> None:
        """See `LocalHost.start`."""
        self._work.ask("start", order=wire.pack_order(order))

    def poll(self, goal_id: str) -> Progress:
        """See `LocalHost.poll`."""
        return wire.unpack_progress(self._work.ask("poll", goal_id=goal_id))

    def cancel(self, goal_id: str) -> None:
        """See `LocalHost.cancel`."""
        self._work.ask("cancel", goal_id=goal_id)

    def running(self) -> tuple[str, ...]:
        """See `World.running`."""
        return tuple(self._lease.ask("running"))

    def stop(self, by: str) -> StopVerdict:
        """See `LocalHost.stop`. A host that does not answer gives the verdict UNKNOWN, never an exception."""
        with self._stopping:
            for line in (self._stop, None):  # a broken connection is tried once more on a fresh one
                fresh: Line | None = None
                try:
                    fresh = Line(self.path, 2.0) if line is None else None
                    found = wire.unpack_verdict((fresh or self._stop).ask("stop", by=by))
                    if found is not None:
                        return found
                except WorldError as e:
                    problem = e
                finally:
                    if fresh is not None:
                        fresh.close()
        text = f"the world host does not answer ({problem}); use the robot's own stop"
        return StopVerdict.every(self.capabilities.robots, Stopped.UNKNOWN, text)

    def status(self) -> HostStatus:
        """See `LocalHost.status`."""
        return wire.unpack_status(self._lease.ask("status"))

    def fork(self) -> Any:
        """See `Forks.fork`."""
        return wire.unpack_fork(self._work.ask("fork"))

    def quit(self) -> None:
        """Let the host's process end; what moves is stopped first. No error where it has ended already."""
        with contextlib.suppress(WorldError):
            self._work.ask("quit")
        self.close()

    def close(self) -> None:
        """End the connections; the host goes on."""
        for line in (self._work, self._lease, self._stop):
            line.close()


class HostProcess:
    """Starts a host in a process of its own and ends it again.

    It runs in its own session, so that Ctrl-C in a terminal reaches the runner and not the host: the robot stops in order.

    Args:
        factory: `module:name` of what makes the world.
        args: keyword arguments for it; plain JSON values.
        lease: seconds that a renewal lasts.
        linger: seconds that it waits for a runner to come back.
        socket: of the host; a fresh private path by default. Its error output goes to a file of the same name with `.log`.
        wait: seconds for the world to be ready.

    Raises:
        WorldError: the world can't be made; its own words are in the message.
    """

    def __init__(
        self,
        factory: str,
        args: Mapping[str, Any] | None = None,
        lease: float = LEASE,
        linger: float = 600.0,
        socket: Path | None = None,
        wait: float = 60.0,
    ) -> None:
        self.socket = socket or wire.socket_path("host")
        command = [sys.executable, "-m", "handrail.world.serve", "--factory", factory, "--args", json.dumps(args or {})]
        command += ["--socket", str(self.socket), "--lease", str(lease), "--linger", str(linger)]
        # Not the runner's own error output: whoever waits for its end would wait for a host that lingers on.
        self.log = self.socket.with_suffix(".log")
        with self.log.open("wb") as errors:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,
                text=True,
                env={**os.environ},
            )
        said: list[str] = []
        assert self._process.stdout is not None
        reader = threading.Thread(target=lambda: said.append(self._process.stdout.readline()), daemon=True)  # type: ignore[union-attr]
        reader.start()
        reader.join(wait)
        first = said[0].strip() if said else ""
        if first != "ready":
            self.close()
            raise WorldError(
                f"the world host of {factory} did not get ready: {first.removeprefix('error ') or 'no word'}"
            )

    def _last_words(self) -> str:
        """The last line of its error output."""
        lines = self.log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        return lines[-1] if lines else ""

    @property
    def pid(self) -> int:
        """Of the process."""
        return self._process.pid

    def connect(self, objects: Objects | None = None) -> RemoteHost:
        """A connection to it."""
        return RemoteHost(self.socket, objects)

    def close(self) -> None:
        """End it: the world stops first. May be called twice."""
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(5.0)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
        self.socket.unlink(missing_ok=True)
        self.log.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()
