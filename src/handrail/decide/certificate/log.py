"""The episode log: every started run is in it, and none can be taken out unnoticed.

A JSON Lines file that is only ever appended to. A run is written when it *starts*, so a run that is never heard
of again still counts; its end and its judgements are further lines. Each line carries the hash of the line
before it, so a removed or edited line is found when the log is read.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from handrail.decide.certificate.episode import Ended, Episode, Judgement, Point
from handrail.errors import ConfigError, ParseError, StoreError, Where

_EPISODE: TypeAdapter[Episode] = TypeAdapter(Episode)
_JUDGEMENT: TypeAdapter[Judgement] = TypeAdapter(Judgement)


def now() -> str:
    """The present time, ISO 8601, UTC, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


class EpisodeLog:
    """Episodes of one declaration, on disk.

    Attributes:
        path: the JSON Lines file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def create(cls, path: Path, declaration: str) -> EpisodeLog:
        """A new log whose first line names the declaration (by its seal) that its episodes are collected for.

        Raises:
            StoreError: the file exists already.
        """
        try:
            with path.open("x", encoding="utf-8") as file:
                file.write(_line({"kind": "log", "declaration": declaration, "at": now()}, ""))
        except FileExistsError:
            raise StoreError(f"there is already an episode log at {path}; a log is never started anew") from None
        return cls(path)

    @property
    def declaration(self) -> str:
        """The seal of the declaration that this log belongs to."""
        return str(next(self._lines())["declaration"])

    def start(self, episode: Episode) -> None:
        """Write that a run starts; durable when this returns, so call it before the robot moves.

        Raises:
            ConfigError: an episode with this id was started before.
        """
        if episode.id in self._started():
            raise ConfigError(f"episode '{episode.id}' was already started in {self.path}")
        body = asdict(replace(episode, started=episode.started or now(), ended=Ended.DROPPED, truth=None, trace=()))
        self._append({"kind": "start", "episode": body})

    def end(
        self,
        episode: str,
        ended: Ended,
        *,
        why: str = "",
        asks: int = 0,
        seconds: float = 0.0,
        trace: Iterable[Point] = (),
        first_tries: Mapping[str, tuple[int, int]] | None = None,
    ) -> None:
        """Write how a started run ended, once.

        Raises:
            ConfigError: it was never started, or its end is already written.
        """
        state = self._started().get(episode)
        if state is None:
            raise ConfigError(f"episode '{episode}' was never started in {self.path}")
        if state:
            raise ConfigError(f"the end of episode '{episode}' is already written")
        body = {"ended": ended, "why": why, "asks": asks, "seconds": seconds, "first_tries": dict(first_tries or {})}
        self._append({"kind": "end", "id": episode, **body, "trace": [asdict(p) for p in trace]})

    @contextmanager
    def running(self, episode: Episode) -> Iterator[None]:
        """Start a run and, when the block raises or leaves without an end, end it as failed.

        The exception goes on its way: the watchdog records, it does not swallow.
        """
        self.start(episode)
        try:
            yield
        except BaseException as error:
            if not self._started()[episode.id]:
                self.end(episode.id, Ended.FAILED, why=f"watchdog: crash, {type(error).__name__}: {error}")
            raise
        if not self._started()[episode.id]:
            self.end(episode.id, Ended.FAILED, why="watchdog: no report")

    def watchdog(self, silence: float, at: datetime | None = None) -> list[str]:
        """End as failed every run that started more than `silence` seconds ago and has not ended; their ids.

        It is for the process that watches the robot: it saw no "done". A run that nobody watched stays dropped.
        """
        moment = at or datetime.now(UTC)
        late = [
            e.id
            for e in self.episodes()
            if e.ended is Ended.DROPPED and (moment - datetime.fromisoformat(e.started)).total_seconds() > silence
        ]
        for name in late:
            self.end(name, Ended.FAILED, why=f"watchdog: no report for {silence:g} s")
        return late

    def judge(self, judgement: Judgement) -> None:
        """Write a judgement; several of one episode count as *not as meant* where they disagree.

        Raises:
            ConfigError: the episode was never started, or no judge is named.
        """
        if judgement.episode not in self._started():
            raise ConfigError(f"episode '{judgement.episode}' was never started in {self.path}")
        if not judgement.judge:
            raise ConfigError("a judgement needs the name of its judge")
        self._append({"kind": "judgement", "judgement": asdict(replace(judgement, at=judgement.at or now()))})

    def episodes(self) -> list[Episode]:
        """All started runs in the order of their starts, with their ends and truths.

        Raises:
            StoreError: a line was removed, changed or cut off.
            ParseError: a line is not of this format.
        """
        runs: dict[str, Episode] = {}
        for number, line in enumerate(self._lines(), start=1):
            try:
                if line["kind"] == "start":
                    episode = _EPISODE.validate_python(line["episode"])
                    runs[episode.id] = episode
                elif line["kind"] == "end":
                    changes = {k: line[k] for k in ("ended", "why", "asks", "seconds", "trace", "first_tries")}
                    old = asdict(runs[line["id"]])
                    runs[line["id"]] = _EPISODE.validate_python({**old, **changes})
                elif line["kind"] == "judgement":
                    found = _JUDGEMENT.validate_python(line["judgement"])
                    before = runs[found.episode].truth
                    runs[found.episode] = replace(
                        runs[found.episode], truth=found.as_meant if before is None else before and found.as_meant
                    )
            except (KeyError, ValidationError) as error:
                raise ParseError(f"not a line of an episode log: {error}", Where(str(self.path), number)) from error
        return list(runs.values())

    def unjudged(self) -> list[Episode]:
        """Runs that ended as done and have no judgement: only their truth changes any loss."""
        return [e for e in self.episodes() if e.ended is Ended.DONE and e.truth is None]

    def _started(self) -> dict[str, bool]:
        """Episode ids, and whether the end of each is written."""
        found: dict[str, bool] = {}
        for line in self._lines():
            if line["kind"] == "start":
                found[line["episode"]["id"]] = False
            elif line["kind"] == "end":
                found[line["id"]] = True
        return found

    def _lines(self) -> Iterator[dict[str, Any]]:
        previous = ""
        try:
            text = self.path.read_text(encoding="utf-8")
        except OSError as error:
            raise StoreError(f"can't read the episode log {self.path}: {error}") from error
        for number, raw in enumerate(text.splitlines(keepends=True), start=1):
            try:
                line = json.loads(raw)
                chained = line["previous"]
                line["kind"]
            except (ValueError, KeyError, TypeError) as error:
                raise StoreError(f"{self.path}:{number}  the line is cut off or not JSON: {error}") from error
            if chained != previous:
                raise StoreError(
                    f"{self.path}:{number}  the line does not follow the one before it: a line was removed or changed"
                )
            previous = _hash(raw)
            yield line

    def _append(self, body: dict[str, Any]) -> None:
        with self.path.open("r+", encoding="utf-8") as file:
            lines = file.read().splitlines(keepends=True)
            if lines and not lines[-1].endswith("\n"):
                raise StoreError(f"{self.path}  the last line is cut off; nothing was added")
            file.write(_line(body, _hash(lines[-1]) if lines else ""))
            file.flush()
            os.fsync(file.fileno())


def _hash(raw: str) -> str:
    return hashlib.sha256(raw.encode()).hexdigest()[:24]


def _line(body: dict[str, Any], previous: str) -> str:
    return json.dumps({**body, "previous": previous}, ensure_ascii=False, sort_keys=True) + "\n"
