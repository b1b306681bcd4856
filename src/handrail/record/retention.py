"""Retention: the one way in which events ever leave a store, and never those of a run that is still going on."""

from __future__ import annotations

import time
from dataclasses import dataclass

from handrail.errors import ConfigError
from handrail.record.lock import is_held
from handrail.record.store import RunStore


@dataclass(frozen=True, slots=True)
class Pruned:
    """What a retention run removed.

    Attributes:
        runs: ids of the runs removed, oldest first.
        events: how many events went with them.
        kept_running: ids that would have gone but are still being written.
    """

    runs: tuple[str, ...]
    events: int
    kept_running: tuple[str, ...]


def prune(store: RunStore, older_than: float | None = None, keep: int | None = None, dry: bool = False) -> Pruned:
    """Remove old runs with all their events.

    Args:
        store: the store.
        older_than: days; runs that began earlier go.
        keep: how many of the newest runs stay in any case; alone: all others go.
        dry: only say what would go.

    Raises:
        ConfigError: neither bound was given, or one is negative.
    """
    if older_than is None and keep is None:
        raise ConfigError("say what may go: --older-than DAYS, or --keep N for all but the newest N")
    if older_than is not None and not 0 <= older_than < float("inf"):
        raise ConfigError(f"--older-than is a number of days, at least 0, not {older_than!r}")
    if keep is not None and keep < 0:
        raise ConfigError(f"--keep is a number of runs, at least 0, not {keep}")
    limit = time.time() - older_than * 86400 if older_than is not None else float("inf")
    with store.open() as db:
        rows = db.execute("SELECT id, created FROM runs ORDER BY created DESC, id").fetchall()
        old = [run for i, (run, created) in enumerate(rows) if i >= (keep or 0) and created < limit][::-1]
        busy = tuple(r for r in old if is_held(store.lock_path(r)))
        going = tuple(r for r in old if r not in busy)
        marks = ",".join("?" * len(going))
        (events,) = db.execute(f"SELECT count(*) FROM events WHERE run IN ({marks})", going).fetchone()  # noqa: S608 - marks only
        if going and not dry:
            # The flag and the deletions are one transaction: nobody else ever sees the store unguarded.
            db.execute("BEGIN IMMEDIATE")
            db.execute("UPDATE retention SET pruning = 1")
            db.execute(f"DELETE FROM events WHERE run IN ({marks})", going)  # noqa: S608
            db.execute(f"DELETE FROM runs WHERE id IN ({marks})", going)  # noqa: S608
            db.execute("UPDATE retention SET pruning = 0")
            db.execute("COMMIT")
            db.execute("VACUUM")
    for run in going if not dry else ():
        store.lock_path(run).unlink(missing_ok=True)
    return Pruned(going, events, busy)
