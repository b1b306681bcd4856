"""The run store: one SQLite file in WAL mode that many processes may read while one runner writes.

Runs are found by id or by any prefix of an id that is unique.
"""

from __future__ import annotations

import json
import os
import secrets
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from handrail.errors import StoreError, did_you_mean
from handrail.record.event import EVENT_VERSION, Event
from handrail.record.lock import is_held
from handrail.record.schema import migrate, upgrade_body


@dataclass(frozen=True, slots=True)
class RunInfo:
    """A line of `handrail runs`.

    Attributes:
        id: eight hexadecimal digits.
        created: seconds since the epoch.
        request: what was asked, in the person's words.
        world: name of the world it drives.
        status: "running", "ended", or "broken" (its process is gone and it never ended: `handrail resume`).
        ended: the reason code of its end; "" before.
        closed: seconds since the epoch of its end; None before.
        domain: name of the domain.
        pid: process of the runner.
        control: path of its control channel; "" for none.
        host: path of the world host's socket; "" where the world lives in the runner.
        events: how many it has.
    """

    id: str
    created: float
    request: str
    world: str
    status: str
    ended: str
    closed: float | None
    domain: str
    pid: int
    control: str
    host: str
    events: int = 0


_COLUMNS = "id, created, request, world, status, ended, closed, domain, pid, control, host"
_YOUNG = 2.0
"""Seconds in which a run that was entered may take to open its log."""


def default_path() -> Path:
    """`$HANDRAIL_HOME/runs.sqlite`, or `~/.local/state/handrail/runs.sqlite` (XDG_STATE_HOME is honoured)."""
    home = os.environ.get("HANDRAIL_HOME")
    if home:
        return Path(home) / "runs.sqlite"
    state = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(state) / "handrail" / "runs.sqlite"


def connect(path: Path, durable: bool = True) -> sqlite3.Connection:
    """An open connection, WAL on, for the thread that asks."""
    db = sqlite3.connect(path, timeout=10.0, isolation_level=None)
    try:
        db.execute("PRAGMA journal_mode=WAL")
        # In WAL mode only FULL makes a commit survive the machine's crash, not just the process's.
        db.execute(f"PRAGMA synchronous={'FULL' if durable else 'OFF'}")
        db.execute("PRAGMA foreign_keys=ON")
    except sqlite3.Error:  # a file that is no database is found out only here
        db.close()
        raise
    return db


class RunStore:
    """Runs and their events.

    Args:
        path: the SQLite file; made, with its folder, where it is missing.
        durable: False gives up crash safety of the machine for speed; for evaluations.

    Raises:
        StoreError: the file can't be opened, is damaged, not a store, or of a newer version.
    """

    def __init__(self, path: Path | str | None = None, durable: bool = True) -> None:
        self.path = Path(path) if path is not None else default_path()
        self.durable = durable
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.open() as db:
                migrate(db, str(self.path))
        except (sqlite3.Error, OSError) as e:
            raise StoreError(f"the run store {self.path} can't be opened: {e}") from e

    @contextmanager
    def open(self) -> Iterator[sqlite3.Connection]:
        """A connection for one piece of work; closed at its end.

        Raises:
            StoreError: SQLite refused something.
        """
        try:
            db = connect(self.path, self.durable)
        except sqlite3.Error as e:
            raise StoreError(f"the run store {self.path} can't be opened: {e}") from e
        try:
            yield db
        except sqlite3.Error as e:
            raise StoreError(f"the run store {self.path}: {e}") from e
        finally:
            db.close()

    def new_run(self, request: str = "", world: str = "", domain: str = "", run: str | None = None) -> str:
        """Enter a new run; returns its id."""
        made = run or secrets.token_hex(4)
        with self.open() as db:
            db.execute(
                "INSERT INTO runs (id, created, request, world, domain, pid) VALUES (?, ?, ?, ?, ?, ?)",
                (made, time.time(), request, world, domain, os.getpid()),
            )
        return made

    def update_run(self, run: str, **fields: Any) -> None:
        """Change what `handrail runs` shows of a run: status, ended (which also notes the time), pid, control, host, request.

        Raises:
            StoreError: another field.
        """
        allowed = {"status", "ended", "pid", "control", "host", "request"}
        wrong = set(fields) - allowed
        if wrong:
            raise StoreError(f"a run has no changeable field {sorted(wrong)[0]!r}; valid: {', '.join(sorted(allowed))}")
        if "ended" in fields:
            fields["closed"] = time.time()
        with self.open() as db:
            sets = ", ".join(f"{k} = ?" for k in fields)
            db.execute(f"UPDATE runs SET {sets} WHERE id = ?", (*fields.values(), run))  # noqa: S608 - names from the set above

    def lock_path(self, run: str) -> Path:
        """The lock that a run's writer holds."""
        return self.path.parent / "locks" / f"run-{run}.lock"

    def _info(self, row: tuple[Any, ...]) -> RunInfo:
        made = RunInfo(*row)
        gone = made.status == "running" and time.time() - made.created > _YOUNG and not is_held(self.lock_path(made.id))
        return replace(made, status="broken") if gone else made

    def find(self, prefix: str) -> RunInfo:
        """The run whose id begins so; "last" is the newest.

        Raises:
            StoreError: none, or several.
        """
        with self.open() as db:
            if prefix == "last":
                rows = db.execute(f"SELECT {_COLUMNS} FROM runs ORDER BY created DESC, id LIMIT 1").fetchall()  # noqa: S608
            else:
                rows = db.execute(
                    f"SELECT {_COLUMNS} FROM runs WHERE substr(id, 1, ?) = ? ORDER BY id LIMIT 5",  # noqa: S608
                    (len(prefix), prefix),
                ).fetchall()
            if not rows:
                ids = [r[0] for r in db.execute("SELECT id FROM runs ORDER BY created DESC LIMIT 200")]
                raise StoreError(
                    f"no run '{prefix}' in {self.path}.{did_you_mean(prefix, ids) if ids else ' It is empty.'}"
                )
            if len(rows) > 1 and not any(r[0] == prefix for r in rows):
                raise StoreError(f"'{prefix}' is the beginning of several runs: {', '.join(r[0] for r in rows)}")
            row = next((r for r in rows if r[0] == prefix), rows[0])
            count = db.execute("SELECT count(*) FROM events WHERE run = ?", (row[0],)).fetchone()[0]
        return self._info((*row, count))

    def runs(self, limit: int = 50, world: str | None = None, status: str | None = None) -> list[RunInfo]:
        """The newest runs first."""
        where = " AND ".join(c for c, v in (("world = ?", world), ("status = ?", status)) if v is not None)
        given = [v for v in (world, status) if v is not None]
        with self.open() as db:
            rows = db.execute(
                f"SELECT {_COLUMNS}, (SELECT count(*) FROM events WHERE run = runs.id) FROM runs"  # noqa: S608
                + (f" WHERE {where}" if where else "")
                + " ORDER BY created DESC, id LIMIT ?",
                (*given, limit),
            ).fetchall()
        return [self._info(r) for r in rows]

    def events(self, run: str, since: int = 0) -> list[Event]:
        """A run's events in order, from a sequence number on.

        Raises:
            StoreError: an event is missing or damaged.
        """
        with self.open() as db:
            rows = db.execute(
                "SELECT seq, time, kind, version, body FROM events WHERE run = ? AND seq >= ? ORDER BY seq",
                (run, since),
            ).fetchall()
        out: list[Event] = []
        for expected, (seq, when, kind, version, text) in enumerate(rows, start=since):
            if seq != expected:
                raise StoreError(f"run {run} lacks event {expected}; the store {self.path} is damaged")
            try:
                body = json.loads(text)
            except ValueError as e:
                raise StoreError(f"event {seq} of run {run} is damaged: {e}") from e
            out.append(Event(run, seq, when, kind, upgrade_body(kind, version, body, EVENT_VERSION)))
        return out
