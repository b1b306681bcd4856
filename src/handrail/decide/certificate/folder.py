"""A certificate's folder: declarations, their episode logs, their outcomes, the monitor's state.

All attempts for one purpose live in one folder, numbered from 1, because they share one chance of error:

    declaration-1.json   sealed before any episode
    episodes-1.jsonl     every started run
    certificate-1.json   the outcome (with groups: certificate-1-GROUP.json)
    monitor.json         after deployment
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Literal

from handrail.decide.certificate.certify import Certificate, Status, certify
from handrail.decide.certificate.declaration import Declaration, EarlierAttempt, next_share
from handrail.decide.certificate.log import EpisodeLog, now
from handrail.errors import ConfigError, StaleError, StoreError


class CertificateFolder:
    """Reads and writes the files of one purpose.

    Attributes:
        path: the folder; made when the first declaration is written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def attempts(self) -> int:
        """Declarations so far."""
        found = [int(m[1]) for p in self.path.glob("declaration-*.json") if (m := re.search(r"-(\d+)\.json$", p.name))]
        if sorted(found) != list(range(1, len(found) + 1)):
            raise StoreError(
                f"{self.path}  a declaration is missing: found numbers {sorted(found)}. Attempts all count"
            )
        return len(found)

    def earlier(self) -> tuple[EarlierAttempt, ...]:
        """All attempts so far, as the next declaration has to name them."""
        return tuple(
            EarlierAttempt(d.seal, d.share, self._result(j))
            for j in range(1, self.attempts + 1)
            for d in (self.declaration(j),)
        )

    def declare(self, declaration: Declaration, spending: Literal["all", "series"] = "all") -> Declaration:
        """Seal and write a declaration, and start its (empty) episode log.

        The earlier attempts and this one's share of delta are filled in from the folder; the shares given are ignored.

        Raises:
            ConfigError: delta is spent, or the declaration can't be tested.
            StoreError: a file can't be written.
        """
        earlier = self.earlier()
        if earlier and (unfinished := [j for j, a in enumerate(earlier, 1) if a.result == Status.COLLECTING]):
            raise ConfigError(
                f"attempt {unfinished[-1]} is still collecting; finish it (missing episodes count as lost)"
            )
        share = next_share(declaration.delta, earlier, spending)
        sealed = replace(declaration, earlier=earlier, share=share, made=declaration.made or now())
        number = len(earlier) + 1
        self.path.mkdir(parents=True, exist_ok=True)
        try:
            with self._file("declaration", number).open("x", encoding="utf-8") as file:
                file.write(sealed.to_json())
        except OSError as error:
            raise StoreError(f"can't write the declaration: {error}") from error
        EpisodeLog.create(self.path / f"episodes-{number}.jsonl", sealed.seal)
        return sealed

    def declaration(self, number: int | None = None) -> Declaration:
        """The declaration of an attempt, the latest by default.

        Raises:
            ConfigError: there is none.
        """
        n = number or self.attempts
        path = self._file("declaration", n)
        if n < 1 or not path.exists():
            raise ConfigError(f"there is no declaration in {self.path}: write one first (handrail certify declare)")
        return Declaration.from_json(path.read_text(encoding="utf-8"), path.name)

    def log(self, number: int | None = None) -> EpisodeLog:
        """The episode log of an attempt.

        Raises:
            StaleError: it was collected for another declaration.
        """
        n = number or self.attempts
        declaration, log = self.declaration(n), EpisodeLog(self.path / f"episodes-{n}.jsonl")
        if log.declaration != declaration.seal:
            raise StaleError(f"{log.path.name} was collected for another declaration ({log.declaration})")
        return log

    def certify(self, *, missing_as_lost: bool = False) -> list[Certificate]:
        """Test the latest declaration on its log and write the outcome; one certificate per group.

        An outcome is written once in fixed mode: testing again on the same episodes would be another attempt.

        Raises:
            ConfigError: an outcome was written before.
        """
        declaration, number = self.declaration(), self.attempts
        if declaration.mode == "fixed" and self._result(number) != Status.COLLECTING:
            raise ConfigError(f"attempt {number} has its outcome already; a new test needs a new declaration")
        log = self.log()
        episodes = log.episodes()
        if early := [e.id for e in episodes if e.started < declaration.made]:
            raise StaleError(f"episode '{early[0]}' was started before the declaration was made")
        if waiting := log.unjudged():
            note = f"{len(waiting)} runs that ended as done are not judged (handrail judge)"
            if not missing_as_lost:
                raise ConfigError(f"{note}; unjudged runs would count as lost")
        found = [
            certify(declaration, episodes, group=g, missing_as_lost=missing_as_lost)
            for g in declaration.groups or ("",)
        ]
        if all(c.status is not Status.COLLECTING for c in found):
            for certificate in found:
                self._file("certificate", number, certificate.group).write_text(certificate.to_json(), encoding="utf-8")
        return found

    def certificates(self, number: int | None = None) -> list[Certificate]:
        """The written outcomes of an attempt, the latest by default; empty while collecting."""
        n = number or self.attempts
        if n < 1:
            return []
        files = [self._file("certificate", n, g) for g in self.declaration(n).groups or ("",)]
        return [Certificate.from_json(f.read_text(encoding="utf-8"), f.name) for f in files if f.exists()]

    def _result(self, number: int) -> str:
        found = self.certificates(number)
        if not found:
            return Status.COLLECTING
        return Status.CERTIFIED if any(c.status is Status.CERTIFIED for c in found) else Status.NOT_CERTIFIED

    def _file(self, what: str, number: int, group: str = "") -> Path:
        safe = re.sub(r"[^\w.-]+", "_", group)
        return self.path / f"{what}-{number}{'-' + safe if safe else ''}.json"
