"""The log of a run: a writer thread that commits events in groups.

`append` numbers an event and hands it over; the writer takes whatever has gathered and commits it in one transaction. A durable
append waits for its commit. When a commit fails nothing is acknowledged any more: every waiting and every later append raises.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from typing import Any, Self

from handrail.errors import StoreError
from handrail.record.event import EVENT_VERSION, Event, encode
from handrail.record.lock import FileLock
from handrail.record.store import RunStore, connect

_Row = tuple[str, int, float, str, int, str]


class RunLog:
    """Appends to one run of a store; the only writer that run has.

    Args:
        store: where the run was entered.
        run: its id.

    Raises:
        StoreError: another process is writing this run.
    """

    def __init__(self, store: RunStore, run: str) -> None:
        self.run = run
        self.store = store
        self._lock = FileLock(store.lock_path(run))
        if not self._lock.take():
            raise StoreError(f"run {run} is being written by another process{self._lock.holder()}")
        with store.open() as db:
            (last,) = db.execute("SELECT max(seq) FROM events WHERE run = ?", (run,)).fetchone()
        self._next = 0 if last is None else last + 1
        self._written = self._next
        self._waiting: list[_Row] = []
        self._change = threading.Condition()
        self._broken: Exception | None = None
        self._closing = False
        self._thread = threading.Thread(target=self._write, name=f"handrail-log-{run}", daemon=True)
        self._thread.start()

    def append(self, kind: str, body: dict[str, Any], durable: bool = False) -> Event:
        """Add an event; see `handrail.record.event.Log`."""
        text = encode(kind, body)
        with self._change:
            self._check()
            event = Event(self.run, self._next, time.time(), kind, dict(body))
            self._next += 1
            self._waiting.append((self.run, event.seq, event.time, kind, EVENT_VERSION, text))
            self._change.notify_all()
        if durable:
            self.flush(event.seq)
        return event

    def flush(self, seq: int | None = None) -> None:
        """Wait until the event of that number, or everything so far, is on disk.

        Raises:
            StoreError: it can't be written.
        """
        with self._change:
            target = self._next if seq is None else seq + 1
            while self._written < target:
                if self._broken is not None:
                    self._check()
                self._change.wait(1.0)
                if not self._thread.is_alive() and self._written < target:
                    raise StoreError(f"the writer of run {self.run} has ended; event {target - 1} was not written")

    def _check(self) -> None:
        if self._broken is not None:
            raise StoreError(f"run {self.run} can't be recorded any more: {self._broken}") from self._broken
        if self._closing:
            raise StoreError(f"the log of run {self.run} is closed")

    def _write(self) -> None:
        db: sqlite3.Connection | None = None
        try:
            db = connect(self.store.path, self.store.durable)
            while True:
                with self._change:
                    while not self._waiting and not self._closing:
                        self._change.wait()
                    rows, self._waiting = self._waiting, []
                    if not rows:
                        return
                db.execute("BEGIN IMMEDIATE")
                db.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)", rows)
                db.execute("COMMIT")
                with self._change:
                    self._written = rows[-1][1] + 1
                    self._change.notify_all()
        except Exception as e:  # whatever it was, nobody may believe that something was written
            with self._change:
                self._broken = e
                self._change.notify_all()
        finally:
            if db is not None:
                db.close()

    def close(self) -> None:
        """Write what is left and end the writer. May be called twice."""
        with self._change:
            self._closing = True
            self._change.notify_all()
        self._thread.join()
        self._lock.release()
        if self._broken is not None:
            raise StoreError(f"run {self.run} was not recorded to its end: {self._broken}") from self._broken

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()
