"""The wire between a runner and a host in another process: one JSON object per line over a Unix socket.

Unknown facts travel as `{"unknown": true}`, atoms as lists. Only a fork travels as a pickle; the socket lies in a folder that only
its owner can enter, and both ends are handrail of the same user.
"""

from __future__ import annotations

import base64
import json
import os
import pickle
import socket
import tempfile
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from handrail.domain.plan import Step
from handrail.domain.state import Observation, State
from handrail.domain.types import Obj, Objects
from handrail.domain.values import UNKNOWN, Atom, Value
from handrail.errors import HandrailError, UnprovenError, WorldError
from handrail.world.hosting import HostStatus, Order
from handrail.world.protocol import Capabilities, Progress, Status, Stopped, StopVerdict

LIMIT = 64 * 1024 * 1024
"""Bytes of one line at most."""


def pack_values(values: Mapping[Atom, Value]) -> list[list[Any]]:
    """Facts as `[[atom], value]` pairs."""
    return [[list(a), {"unknown": True} if v is UNKNOWN else v] for a, v in values.items()]


def unpack_values(packed: list[list[Any]]) -> dict[Atom, Value]:
    """What `pack_values` wrote."""
    return {tuple(a): (UNKNOWN if isinstance(v, dict) else v) for a, v in packed}


def pack_object(o: Obj) -> dict[str, Any]:
    """An object as a plain dict."""
    return {"name": o.name, "type": o.type, "attributes": dict(o.attributes), "words": list(o.words)}


def unpack_object(body: Mapping[str, Any]) -> Obj:
    """What `pack_object` wrote."""
    return Obj(body["name"], body["type"], dict(body["attributes"]), tuple(body["words"]))


def pack_observation(o: Observation, known: Objects) -> dict[str, Any]:
    """An observation; objects that the other side does not know yet travel with it."""
    new = [pack_object(x) for x in o.state.objects if x.name not in known]
    return {
        "values": pack_values(o.state.values),
        "objects": new,
        "time": o.time,
        "source": o.source,
        "ages": [[list(a), age] for a, age in (o.ages or {}).items()],
    }


def unpack_observation(body: Mapping[str, Any], known: Objects) -> Observation:
    """What `pack_observation` wrote."""
    new = [unpack_object(x) for x in body["objects"] if x["name"] not in known]
    objects = known.with_(*new) if new else known
    ages: dict[Atom, float] = {tuple(a): float(v) for a, v in body["ages"]}
    return Observation(State(objects, unpack_values(body["values"])), body["time"], body["source"], ages or None)


def pack_progress(p: Progress) -> dict[str, Any]:
    """A plain dict."""
    return {
        "status": str(p.status),
        "code": str(p.code),
        "sentence": p.sentence,
        "time": p.time,
        "fraction": p.fraction,
        "details": dict(p.details),
    }


def unpack_progress(body: Mapping[str, Any]) -> Progress:
    """What `pack_progress` wrote."""
    return Progress(
        Status(body["status"]), body["code"], body["sentence"], body["time"], body["fraction"], body["details"]
    )


def pack_verdict(v: StopVerdict | None) -> dict[str, Any] | None:
    """A plain dict, or None."""
    if v is None:
        return None
    return {"robots": {r: str(s) for r, s in v.robots.items()}, "sentence": v.sentence, "time": v.time}


def unpack_verdict(body: Mapping[str, Any] | None) -> StopVerdict | None:
    """What `pack_verdict` wrote."""
    if body is None:
        return None
    return StopVerdict({r: Stopped(s) for r, s in body["robots"].items()}, body["sentence"], body["time"])


def pack_status(s: HostStatus) -> dict[str, Any]:
    """A plain dict."""
    return {
        "world": s.world,
        "run": s.run,
        "lease_left": s.lease_left,
        "stop": s.stop,
        "verdict": pack_verdict(s.verdict),
        "moving": list(s.moving),
        "instance": s.instance,
    }


def unpack_status(b: Mapping[str, Any]) -> HostStatus:
    """What `pack_status` wrote."""
    return HostStatus(
        b["world"],
        b["run"],
        b["lease_left"],
        b["stop"],
        unpack_verdict(b["verdict"]),
        tuple(b["moving"]),
        b["instance"],
    )


def pack_order(o: Order) -> dict[str, Any]:
    """A plain dict."""
    return {
        "run": o.run,
        "goal_id": o.goal_id,
        "step": list(o.step.key),
        "proof_id": o.proof_id,
        "index": o.index,
        "token": o.token,
    }


def unpack_order(b: Mapping[str, Any]) -> Order:
    """What `pack_order` wrote."""
    return Order(
        b["run"], b["goal_id"], Step(b["step"][0], tuple(b["step"][1:])), b["proof_id"], b["index"], b["token"]
    )


def pack_capabilities(c: Capabilities) -> dict[str, Any]:
    """A plain dict."""
    return {
        "robots": list(c.robots),
        "skills": list(c.skills),
        "forks": c.forks,
        "real": c.real,
        "partial": c.partial,
    }


def unpack_capabilities(b: Mapping[str, Any]) -> Capabilities:
    """What `pack_capabilities` wrote."""
    return Capabilities(tuple(b["robots"]), tuple(b["skills"]), b["forks"], b["real"], b["partial"])


def pack_fork(snapshot: Any) -> str:
    """A snapshot as text."""
    return base64.b64encode(pickle.dumps(snapshot, protocol=5)).decode()


def unpack_fork(text: str) -> Any:
    """What `pack_fork` wrote; only ever from the user's own host."""
    return pickle.loads(base64.b64decode(text))  # noqa: S301 - our own process, behind a 0700 folder


def socket_path(name: str) -> Path:
    """A path for a socket in a fresh folder that only this user can enter; short enough for the 108 bytes of a Unix address."""
    return Path(tempfile.mkdtemp(prefix="handrail-")) / f"{name[:24]}.sock"


def private_path(folder: Path, name: str) -> Path:
    """The path of a socket in a folder, absolute, so that it is found from everywhere; elsewhere where it would be too long."""
    path = folder.resolve() / f"{name}.sock"
    return path if len(os.fsencode(path)) < 104 else socket_path(name)


def listen(path: Path) -> socket.socket:
    """A listening Unix socket.

    Raises:
        WorldError: the folder is open to others, or the address is in use.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    info = path.parent.stat()
    if info.st_uid != os.getuid() or info.st_mode & 0o077:
        raise WorldError(f"the folder {path.parent} must belong to you alone (chmod 700) to hold a control socket")
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        if path.exists() and not _answers(path):
            path.unlink()  # left behind by a process that was killed
        made.bind(str(path))
    except OSError as e:
        made.close()
        raise WorldError(f"can't listen on {path}: {e}") from e
    made.listen(32)
    return made


def _answers(path: Path) -> bool:
    """Whether somebody listens on a socket."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(1.0)
        try:
            probe.connect(str(path))
        except TimeoutError:
            return True
        except OSError:
            return False
    return True


class Line:
    """One connection that carries one question and its answer at a time.

    Args:
        path: the other side's socket.
        timeout: seconds for an answer; None waits without end.

    Raises:
        WorldError: nobody listens there.
    """

    def __init__(self, path: Path | str, timeout: float | None = None) -> None:
        self.path = str(path)
        self.timeout = timeout
        self._lock = threading.Lock()
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._socket.settimeout(timeout if timeout is not None else 10.0)
            self._socket.connect(self.path)
        except OSError as e:
            self._socket.close()
            raise WorldError(f"nobody answers on {self.path}: {e}") from e
        self._socket.settimeout(timeout)
        self._file = self._socket.makefile("rb")

    def ask(self, do: str, **args: Any) -> Any:
        """Send a question and wait for its answer.

        Raises:
            WorldError: no answer in time, the connection broke, or the other side refused.
            UnprovenError: the other side refused for want of a proof.
        """
        with self._lock:
            try:
                self._socket.sendall(json.dumps({"do": do, **args}, allow_nan=False).encode() + b"\n")
                line = self._file.readline(LIMIT)
            except (OSError, ValueError) as e:
                self.close()
                raise WorldError(f"no answer to '{do}' on {self.path}: {e or 'timed out'}") from e
        if not line.endswith(b"\n"):
            self.close()
            raise WorldError(f"the connection to {self.path} broke before '{do}' was answered")
        body = json.loads(line)
        if "error" in body:
            made: type[HandrailError] = UnprovenError if body.get("type") == "UnprovenError" else WorldError
            raise made(body["error"])
        return body.get("ok")

    def close(self) -> None:
        """End the connection. May be called twice, and from another thread than the one that asks."""
        with suppress(OSError):  # it was closed already
            self._socket.shutdown(socket.SHUT_RDWR)
        for end in (self._file, self._socket):
            with suppress(OSError):
                end.close()
