"""The journal: what makes a run that can be replayed and resumed out of a log.

Code that decides is kept deterministic: everything that it learns from outside goes through `outside`, everything that it decides
through `note`. Then a run is a function of what is written down:

- *recording*: `outside` asks the world and writes the answer down; `note` writes the decision down;
- *replaying*: `outside` gives the written answer without asking anybody; `note` compares the decision with the written one;
- *resuming*: replaying as far as the record goes, recording from there on.

The same idea carries durable-execution engines; here it is two methods and a list.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from handrail.errors import StaleError
from handrail.record.event import Event, Log, encode

T = TypeVar("T")


class Diverged(StaleError):  # noqa: N818 - says what happened
    """A replay decided otherwise than the record says; the message names the event and both sides."""


class EndOfRecord(StaleError):  # noqa: N818 - says what happened
    """A replay came to the end of a record whose run did not end (it was killed); everything before was reproduced."""


class Journal:
    """One deterministic section of a run.

    Args:
        log: where a live journal writes; None for a pure replay.
        past: the section's events so far; other kinds than those of the section are left out.
        section: kinds of the section begin with this and a point.

    Attributes:
        resumed: set whenever the record shows that the run was taken up again at this point; whoever relies on what was observed
            before takes it back with `take_resumed`.
    """

    def __init__(self, log: Log | None, past: Sequence[Event] = (), section: str = "execute") -> None:
        self.log = log
        self.section = section
        self._past = [e for e in past if e.kind.startswith(section + ".")]
        self._at = 0
        self._resumes = bool(self._past)
        self.resumed = False
        self.reproduced = 0

    @property
    def live(self) -> bool:
        """Whether all of the past has been gone through. For showing; no decision may depend on it."""
        return self._at >= len(self._past)

    @property
    def left(self) -> str:
        """Kind of the next recorded event that has not been gone through; "" for none."""
        self._pass_marks()
        return self._past[self._at].kind if self._at < len(self._past) else ""

    def _pass_marks(self) -> None:
        while self._at < len(self._past) and self._past[self._at].kind == f"{self.section}.resumed":
            self._at += 1
            self.resumed = True

    def _next(self) -> Event | None:
        """The next event of the past, or None once the journal is live."""
        self._pass_marks()
        if self._at < len(self._past):
            event = self._past[self._at]
            self._at += 1
            self.reproduced += 1
            return event
        if self.log is None:
            raise EndOfRecord(f"the record ends after event {self._past[-1].seq if self._past else -1}")
        self._take_up()
        return None

    def _take_up(self) -> None:
        """Mark, once, that the record was at its end here and that a new process goes on."""
        if self._resumes and self.log is not None:
            self._resumes = False
            self.resumed = True
            self.log.append(f"{self.section}.resumed", {"pid": os.getpid()}, durable=True)

    def take_resumed(self) -> bool:
        """Whether the run was taken up again since this was last asked."""
        self._pass_marks()
        if self._at >= len(self._past):
            self._take_up()
        was, self.resumed = self.resumed, False
        return was

    def note(self, what: str, body: dict[str, Any], durable: bool = False) -> None:
        """Write a decision down, or compare it with the record.

        Args:
            what: its kind, without the section.
            body: plain JSON values; nothing that differs when the same is decided again, such as a time.
            durable: return only once it would survive a crash.

        Raises:
            Diverged: the record says otherwise.
        """
        kind = f"{self.section}.{what}"
        past = self._next()
        if past is not None:
            self._same(past, kind, body, past.body)
        elif self.log is not None:
            self.log.append(kind, body, durable)

    def outside(
        self,
        what: str,
        asked: dict[str, Any],
        do: Callable[[], T],
        pack: Callable[[T], Any],
        unpack: Callable[[Any], T],
        durable: bool = False,
    ) -> T:
        """Ask something outside and write its answer down, or give the recorded answer.

        Args:
            what: its kind, without the section.
            asked: what was asked, in plain JSON values; compared when it is asked again.
            do: asks.
            pack: the answer as plain JSON values.
            unpack: the answer back; in recording too its result is what is given, so that a replay can't differ by it.
            durable: return only once the answer would survive a crash.

        Raises:
            Diverged: the record says that something else was asked here.
        """
        kind = f"{self.section}.{what}"
        past = self._next()
        if past is not None:
            self._same(past, kind, asked, past.body.get("asked", {}))
            return unpack(past.body.get("answer"))
        answer = json.loads(encode(kind, {"answer": pack(do())}))["answer"]
        if self.log is not None:
            self.log.append(kind, {"asked": asked, "answer": answer}, durable)
        return unpack(answer)

    def _same(self, past: Event, kind: str, now: dict[str, Any], then: dict[str, Any]) -> None:
        if past.kind != kind:
            raise Diverged(f"event {past.seq} of run {past.run} is '{past.kind}', but now '{kind}' would happen")
        a, b = encode(kind, now), encode(kind, then)
        if a != b:
            raise Diverged(f"event {past.seq} of run {past.run} ('{kind}') was {b} and would now be {a}")
