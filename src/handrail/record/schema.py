"""The store's schema, and how older stores are brought up to date.

`PRAGMA user_version` holds the version. Each migration is one transaction, so a crash leaves the old version or the new one.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any

from handrail.errors import StoreError

_V1 = """
CREATE TABLE runs (
  id TEXT PRIMARY KEY,
  created REAL NOT NULL,
  request TEXT NOT NULL DEFAULT '',
  world TEXT NOT NULL DEFAULT '',
  status TEXT NOT NULL DEFAULT 'running',
  closed REAL
) STRICT;
CREATE TABLE events (
  run TEXT NOT NULL REFERENCES runs(id),
  seq INTEGER NOT NULL,
  time REAL NOT NULL,
  kind TEXT NOT NULL,
  version INTEGER NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (run, seq)
) STRICT, WITHOUT ROWID;
CREATE TABLE retention (pruning INTEGER NOT NULL) STRICT;
INSERT INTO retention VALUES (0);
CREATE TRIGGER events_are_final BEFORE UPDATE ON events
BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
CREATE TRIGGER events_stay BEFORE DELETE ON events WHEN (SELECT pruning FROM retention) = 0
BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
"""

_V2 = """
ALTER TABLE runs ADD COLUMN ended TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN domain TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN pid INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN control TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN host TEXT NOT NULL DEFAULT '';
CREATE INDEX runs_by_time ON runs(created);
CREATE INDEX events_by_kind ON events(kind);
"""

MIGRATIONS: tuple[str, ...] = (_V1, _V2)
VERSION = len(MIGRATIONS)


def migrate(db: sqlite3.Connection, path: str) -> int:
    """Bring a store up to date; returns the version it had before.

    Raises:
        StoreError: it was written by a newer handrail, or it is not a run store.
    """
    had = int(db.execute("PRAGMA user_version").fetchone()[0])
    if had > VERSION:
        raise StoreError(
            f"{path} has schema version {had}; this handrail knows {VERSION}. Update handrail, or give another --store."
        )
    if had == 0 and db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        raise StoreError(f"{path} is an SQLite file of something else, not a run store")
    for i in range(had, VERSION):
        try:
            db.executescript(f"BEGIN IMMEDIATE;{MIGRATIONS[i]}PRAGMA user_version={i + 1};COMMIT;")
        except sqlite3.Error:
            if db.in_transaction:
                db.execute("ROLLBACK")
            if int(db.execute("PRAGMA user_version").fetchone()[0]) > i:
                continue  # another process migrated it at the same moment
            raise
    return had


_UPGRADES: dict[tuple[str, int], Callable[[dict[str, Any]], dict[str, Any]]] = {}
"""(kind, version) to a function that makes the next version's body; empty while every body is of version 1."""


def upgrade_body(kind: str, version: int, body: dict[str, Any], to: int) -> dict[str, Any]:
    """A body in the present form.

    Raises:
        StoreError: it is of a newer version.
    """
    if version > to:
        raise StoreError(f"event '{kind}' has version {version}; this handrail knows {to}")
    for v in range(version, to):
        step = _UPGRADES.get((kind, v))
        if step is not None:
            body = step(body)
    return body
