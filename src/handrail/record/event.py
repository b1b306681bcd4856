"""Events: what a run writes down, one frozen record per happening."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Protocol

from handrail.errors import StoreError

EVENT_VERSION = 1
"""Version of the bodies written now; readers of older ones bring them up to date (`schema.upgrade_body`)."""


@dataclass(frozen=True, slots=True)
class Event:
    """One happening of a run.

    Attributes:
        run: the run's id.
        seq: from 0, without gaps within a run.
        time: seconds since the epoch when the runner noted it.
        kind: `part.what`, such as "step.intent" or "model.answer".
        body: plain JSON values.
        version: of the body's form.
    """

    run: str
    seq: int
    time: float
    kind: str
    body: dict[str, Any] = field(default_factory=dict)
    version: int = EVENT_VERSION

    def to_json(self) -> dict[str, Any]:
        """A plain dict with all fields."""
        return {
            "run": self.run,
            "seq": self.seq,
            "time": self.time,
            "kind": self.kind,
            "version": self.version,
            "body": self.body,
        }


def encode(kind: str, body: dict[str, Any]) -> str:
    """A body as canonical JSON text.

    Raises:
        StoreError: it holds something that JSON has no word for, such as NaN or an object; the kind is named.
    """
    try:
        return json.dumps(body, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))
    except (TypeError, ValueError) as e:
        raise StoreError(f"event '{kind}' can't be written: {e}") from e


class Log(Protocol):
    """Where a runner appends its events."""

    run: str

    def append(self, kind: str, body: dict[str, Any], durable: bool = False) -> Event:
        """Add an event.

        Args:
            kind: see `Event`.
            body: plain JSON values; copied at once.
            durable: return only once the event would survive a crash of the process and of the machine.

        Raises:
            StoreError: the body is not JSON, or the store can't be written.
        """


class MemoryLog:
    """A log that keeps its events in a list: for tests and evaluations. It survives nothing."""

    def __init__(self, run: str = "run") -> None:
        import threading

        self.run = run
        self.events: list[Event] = []
        self._lock = threading.Lock()

    def append(self, kind: str, body: dict[str, Any], durable: bool = False) -> Event:  # noqa: ARG002 - nothing is durable
        """Add an event; see `Log`."""
        import time

        copied = json.loads(encode(kind, body))
        with self._lock:
            event = Event(self.run, len(self.events), time.time(), kind, copied)
            self.events.append(event)
        return event
