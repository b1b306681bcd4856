"""How a run is written down and told as it goes on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from handrail.domain.plan import Step
from handrail.domain.task import Task
from handrail.execute.card import step_words
from handrail.execute.packed import pack_plan
from handrail.language.watch import RunRecorder
from handrail.record.event import Log
from handrail.record.journal import Journal
from handrail.record.log import RunLog
from handrail.record.store import RunStore

Say = Callable[[str, str], None]
"""Told (stage, sentence) as a run goes on; for people, decides nothing."""


class Told(Journal):
    """The execution's journal, which also says what it writes down."""

    def __init__(self, log: Log, say: Say, task: Task) -> None:
        super().__init__(log)
        self._say, self._task, self._count = say, task, 0

    def note(self, what: str, body: dict[str, Any], durable: bool = False) -> None:
        """Write it down, then say it."""
        super().note(what, body, durable)
        if what == "judged":
            self._count += 1
            words = step_words(Step(body["step"][0], tuple(body["step"][1:])), self._task)
            if body["effect"] == "seen":
                self._say("running", f"{self._count} ✓ {words}")
            else:
                self._say("running", f"{self._count} ✗ {body['code']}: {body['sentence']}")
        elif what == "verdict" and self._count:
            again = "a new plan was proven" if body["accepted"] else "a new plan was refused"
            self._say("replanned", again)


class LogOf:
    """The log of one run, in the store or in memory; closed at the end."""

    def __init__(
        self, store: RunStore | None, request: str, world: str, domain: str, recorder: RunRecorder | None = None
    ) -> None:
        self._store, self._about, self._recorder = store, (request, world, domain), recorder
        self._log: Log | None = None

    def __enter__(self) -> Log:
        from handrail.record.event import MemoryLog

        if self._store is None:
            self._log = MemoryLog()
        else:
            self._log = RunLog(self._store, self._store.new_run(*self._about))
        self._log.append("run.request", {"request": self._about[0]})
        if self._recorder is not None:
            self._recorder.to(self._log.append)
        return self._log

    def __exit__(self, *exc: object) -> None:
        if self._recorder is not None:
            self._recorder.to(None)
        if isinstance(self._log, RunLog):
            self._log.close()


def pack_proposal(p: Any) -> dict[str, Any]:
    """A proposal as plain JSON values, with what a model wrote and what was wrong with it."""
    return {
        "source": p.source,
        "plan": pack_plan(p.plan) if p.plan is not None else None,
        "declined": {"kind": p.declined.kind, "text": p.declined.text} if p.declined else None,
        "why": p.why,
        "attempts": [
            {"text": a.text, "reasons": [r.to_json() for r in a.reasons], "tokens": a.tokens} for a in p.attempts
        ],
        "provenance": {k: v for k, v in p.provenance.items() if isinstance(v, (str, int, float, bool))},
    }
