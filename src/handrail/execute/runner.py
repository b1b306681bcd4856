"""The runner: the one program that drives a world for a run.

It holds the lease and renews it from its own loop, never from a thread beside it: a loop that hangs must lose the lease. Whatever can
take long runs in a worker thread while the loop goes on renewing and looking for a stop.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any, Self, TypeVar

from handrail.check.proof import Notary, VerifiedPlan
from handrail.errors import HandrailError, StoreError, WorldError
from handrail.execute.approval import Approval, Approvals
from handrail.execute.card import Card
from handrail.execute.control import Control, Inbox
from handrail.execute.person import Answer, AnyOf, Deadline, Nobody, Person, Question, Reply
from handrail.record.event import Log
from handrail.record.lock import FileLock
from handrail.record.log import RunLog
from handrail.world.hosting import LEASE, RENEW_EVERY, Host
from handrail.world.protocol import Stopped, StopVerdict
from handrail.world.wire import private_path

T = TypeVar("T")
_TICK = 0.03


class Stopping(HandrailError):  # noqa: N818 - says what is going on
    """Somebody stopped the run; raised out of whatever it was doing."""

    def __init__(self, by: str) -> None:
        self.by = by
        super().__init__(f"stopped by {by}")


class Runner:
    """Drives a host for one run. Use it in a `with` statement: it acquires the world and gives it back.

    Args:
        host: the world host.
        log: of the run.
        person: who is asked; other programs can always answer as well, through the control channel.
        notary: whose seal plans must carry.
        control: folder for the control socket; None for no channel.
        threads: False calls everything directly, for evaluations in simulated time; then nothing slow may be called.
        lifetime: of approvals, in seconds.

    Raises:
        WorldError: another run drives this world, or its last stop did not find it stopped.
    """

    def __init__(
        self,
        host: Host,
        log: Log,
        person: Person | None = None,
        notary: Notary | None = None,
        control: Path | None = None,
        threads: bool = True,
        lifetime: float = 600.0,
    ) -> None:
        self.host = host
        self.log = log
        self.run = log.run
        self.notary = notary or Notary()
        self.approvals = Approvals(self.notary, lifetime)
        self.inbox = Inbox()
        self._threads = threads
        self._control_folder = control
        self.control: Control | None = None
        self.person: Person = person or Nobody()
        self._stop = threading.Event()
        self._stopped_by = ""
        self._interrupted = False
        self._verdict: StopVerdict | None = None
        self._verdict_known = threading.Event()
        self._renewed = 0.0
        self._world_lock: FileLock | None = None
        self.doing = "starting"

    # -- life ------------------------------------------------------------------------------------------------------------------

    def __enter__(self) -> Self:
        if isinstance(self.log, RunLog):
            safe = "".join(c if c.isalnum() or c in "-_." else "_" for c in self.host.name)
            self._world_lock = FileLock(self.log.store.path.parent / "locks" / f"world-{safe}.lock")
            if not self._world_lock.take():
                held = self._world_lock.holder()
                raise WorldError(f"another run drives the world '{self.host.name}'{held}; one run at a time")
        try:
            self.acquire()
            if self._control_folder is not None:
                path = private_path(self._control_folder, self.run)
                self.control = Control(path, self.inbox, self.stop, self._status)
        except BaseException:
            self._unlock()
            raise
        if isinstance(self.log, RunLog):
            control = str(self.control.path) if self.control else ""
            self.log.store.update_run(self.run, control=control, host=getattr(self.host, "path", ""))
        return self

    def __exit__(self, *exc: object) -> None:
        try:
            if self.control is not None:
                self.control.close()
            self.host.release(self.run)
        except WorldError as e:
            self.trace("run.release_failed", {"why": str(e)})
        finally:
            self._unlock()

    def _unlock(self) -> None:
        if self._world_lock is not None:
            self._world_lock.release()

    def acquire(self, patience: float = 1.5) -> None:
        """Take the world, at the start and again after a lapsed lease.

        Args:
            patience: seconds to wait for a stop that is under way to find the world stopped; the lease of a run whose process is
                gone is waited for as well, for two leases at most.
        """
        began = time.monotonic()
        while True:
            try:
                self.host.acquire(self.run, self.notary.key)
                break
            except WorldError:
                status = self.host.status()
                waited = time.monotonic() - began
                awaited = patience if status.stop and status.verdict is None else 0.0
                if not status.stop and status.run not in ("", self.run) and status.lease_left < 2 * LEASE:
                    awaited = 2 * LEASE
                if waited > awaited:
                    raise
                time.sleep(_TICK)
        self._renewed = time.monotonic()

    def _status(self) -> dict[str, Any]:
        s = self.host.status()
        return {"run": self.run, "doing": self.doing, "moving": list(s.moving), "stop": s.stop}

    # -- the loop's heart ------------------------------------------------------------------------------------------------------

    def tick(self) -> None:
        """Renew the lease if it is time, and see whether somebody has stopped the run.

        Raises:
            Stopping: somebody has.
            WorldError: the lease is not ours any more, or the host is gone.
        """
        if self._stop.is_set():
            raise Stopping(self._stopped_by)
        now = time.monotonic()
        if now - self._renewed >= RENEW_EVERY / 2:
            self.host.renew(self.run)
            self._renewed = now

    def wait(self, do: Callable[[], T], seconds: float | None = None) -> T:
        """Run something that may take long in a worker thread, and keep the loop going meanwhile.

        Args:
            do: the work; where it is abandoned it goes on in its thread and its result is dropped.
            seconds: give up after so long.

        Raises:
            Stopping: the run was stopped; the work is abandoned.
            TimeoutError: it took longer than `seconds`.
        """
        self.tick()
        if not self._threads:
            return do()
        done = threading.Event()
        result: list[T] = []
        problem: list[BaseException] = []

        def work() -> None:
            try:
                result.append(do())
            except BaseException as e:  # handed to the caller's thread
                problem.append(e)
            finally:
                done.set()

        threading.Thread(target=work, name="handrail-work", daemon=True).start()
        until = None if seconds is None else time.monotonic() + seconds
        while not done.wait(_TICK):
            self.tick()
            if until is not None and time.monotonic() > until:
                raise TimeoutError(f"no answer in {seconds:g} s")
        if problem:
            raise problem[0]
        return result[0]

    def sleep(self, seconds: float) -> None:
        """Pass the time until the next poll; a stop ends it early."""
        self._stop.wait(seconds)

    # -- stop ------------------------------------------------------------------------------------------------------------------

    def stop(self, by: str) -> StopVerdict:
        """Stop the world at once and end the run; from any thread.

        The world is stopped before anything is written or told: a full disk must not delay it.
        """
        self._stopped_by = self._stopped_by or by
        self._verdict_known.clear()
        self._stop.set()
        verdict = self.host.stop(by)
        self._verdict = verdict
        self._verdict_known.set()
        self.trace("run.stop", {"by": by, "verdict": {r: str(s) for r, s in verdict.robots.items()}})
        return verdict

    @property
    def stopping(self) -> str:
        """Who has stopped the run; "" for nobody."""
        return self._stopped_by if self._stop.is_set() else ""

    def stop_verdict(self, seconds: float = 3.0) -> StopVerdict:
        """What the stop found; waits for it. UNKNOWN where it is still open then."""
        if not self._verdict_known.wait(seconds) or self._verdict is None:
            return StopVerdict.every(self.host.capabilities.robots, Stopped.UNKNOWN, "the stop has not answered yet")
        return self._verdict

    @contextmanager
    def ctrl_c(self) -> Iterator[None]:
        """While inside, Ctrl-C and SIGTERM stop the robot first; a second Ctrl-C then ends the program.

        The handler takes no lock and starts no thread: it may interrupt the very code that holds the lock, and would wait for it for
        ever. It writes one byte into a pipe; a thread that was there before reads it and stops the world.
        """
        heard, said = os.pipe()
        os.set_blocking(said, False)

        def handle(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - a signal handler's shape
            if self._interrupted and number == signal.SIGINT:
                raise KeyboardInterrupt
            self._interrupted = True
            with suppress(BlockingIOError):  # enough is said already
                os.write(said, bytes([number]))

        def listen() -> None:
            got = os.read(heard, 1)
            if got:
                self.stop("Ctrl-C" if got[0] == signal.SIGINT else "SIGTERM")
            os.close(heard)

        threading.Thread(target=listen, name="handrail-ctrl-c", daemon=True).start()
        before = {n: signal.signal(n, handle) for n in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for n, old in before.items():
                signal.signal(n, old)
            os.close(said)

    # -- people ----------------------------------------------------------------------------------------------------------------

    def _persons(self) -> Person:
        return AnyOf(self.person, self.inbox) if self.control is not None else self.person

    def ask(self, question: Question, seconds: float | None = None) -> Answer | None:
        """Ask whoever is there; None for no answer in time. A run without time limit and without control channel asks once."""
        self.trace("person.asked", question.to_json())
        deadline = Deadline(seconds)
        try:
            said = self.wait(lambda: self._persons().answer(question, deadline))
        finally:
            deadline.call_off()
        self.trace("person.answered", {"question": question.id, "answer": said.to_json() if said else None})
        return said

    def show(self, card: Card, seconds: float | None = None) -> Reply | None:
        """Show a card to whoever is there; None for no answer in time."""
        self.trace("person.shown", {"proof_id": card.proof_id, "card_id": card.card_id, "text": card.text})
        deadline = Deadline(seconds)
        try:
            said = self.wait(lambda: self._persons().approve(card, card.proof_id, deadline))
        finally:
            deadline.call_off()
        body = {"approved": said.approved, "by": said.by, "words": said.words} if said else None
        self.trace("person.replied", {"proof_id": card.proof_id, "reply": body})
        return said

    def approve(self, verified: VerifiedPlan, card: Card, seconds: float | None = None) -> Approval | Reply | None:
        """An approval for a plan: at once where the policy needs none, from a person otherwise.

        Returns:
            The approval; the refusing reply; or None where nobody answered.
        """
        if not card.needed:
            return self.approvals.grant(verified, None, "policy: no step of this plan needs a person")
        reply = self.show(card, seconds)
        if reply is None or not reply.approved:
            return reply
        return self.approvals.grant(verified, card, reply.by, reply.words)

    def trace(self, kind: str, body: dict[str, Any]) -> None:
        """Note something for people; no decision depends on it, so a log that fails is left to the next decision to find."""
        try:
            self.log.append(kind, body)
        except StoreError:
            return
