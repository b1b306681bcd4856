"""The world host: every world moves under its lease, its stop, and its proof tokens.

An adapter knows how to move; the host decides whether it may. It holds what must not live in the program that thinks: which run
drives the world, until when its lease lasts, whether a stop is in force, and what that stop found.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable
from typing import Any

from handrail.domain.state import Observation
from handrail.errors import ConfigError, UnprovenError, WorldError
from handrail.world.hosting import LEASE, HostStatus, Order
from handrail.world.protocol import Capabilities, Failure, Forks, Progress, Status, Stopped, StopVerdict, World


class LocalHost:
    """A host in this process.

    Args:
        world: the adapter.
        lease: seconds that a renewal lasts; None switches the watchdog off (a simulator that only moves while it is polled).
        stop_timeout: seconds after which a stop that has not answered is UNKNOWN.
        grace: seconds for which a call into the world counts as a sign of life of a runner in this process.
        genuine: checks a token against a claim under a key; the notary's HMAC unless given.

    Raises:
        ConfigError: a bound that is not positive.
    """

    def __init__(
        self,
        world: World,
        lease: float | None = LEASE,
        stop_timeout: float = 1.0,
        grace: float = 2.0,
        genuine: Callable[[bytes, str, str], bool] | None = None,
    ) -> None:
        for what, bound in (("lease", lease), ("stop_timeout", stop_timeout)):
            if bound is not None and not 0 < bound < float("inf"):
                raise ConfigError(f"{what} must be a positive number of seconds, not {bound!r}")
        self.world = world
        self.name = world.name
        self.lease = lease
        self.stop_timeout = stop_timeout
        self._grace = grace
        self._genuine = genuine or _hmac
        self._instance = secrets.token_hex(8)
        self._change = threading.Condition()
        self._calls = threading.RLock()
        self._run = ""
        self._key = b""
        self._expires = 0.0
        self._barred = ""
        self._verdict: StopVerdict | None = None
        self._stopping = 0
        self._handles: dict[str, str] = {}
        self._starting: set[str] = set()
        self._moving: set[str] = set()
        self._closed = False
        self._watchdog: threading.Thread | None = None

    @property
    def capabilities(self) -> Capabilities:
        """See `World.capabilities`."""
        return self.world.capabilities

    def time(self) -> float:
        """See `World.time`."""
        return self.world.time()

    # -- who drives ------------------------------------------------------------------------------------------------------------

    def acquire(self, run: str, key: bytes) -> None:
        """Take the world for a run. The same run may take it again: after a lapsed lease, or when it comes back from a crash.

        Args:
            run: the run's id.
            key: the notary's key, against which step tokens are checked.

        Raises:
            WorldError: another run drives it, or what the last stop found is not known to be "stopped".
        """
        with self._change:
            now = time.monotonic()
            if self._run and self._run != run and (now < self._expires or self._starting):
                raise WorldError(f"the world '{self.name}' is driven by run {self._run}; one run at a time")
            if self._run == run and now < self._expires and self._barred not in ("", _LAPSED):
                raise WorldError(
                    f"the world '{self.name}' was stopped ({self._barred}); this run can't go on by itself"
                )
            if self._barred and (self._verdict is None or self._verdict.overall is not Stopped.STOPPED):
                found = "not known" if self._verdict is None else str(self._verdict.overall).replace("_", " ")
                raise WorldError(
                    f"after '{self._barred}' the state of the world '{self.name}' is {found}; no run may start before a stop "
                    "has found it stopped: handrail stop"
                )
            self._barred, self._verdict = "", None
            self._run, self._key = run, key
            self._handles = {g: h for g, h in self._handles.items() if g.startswith(f"{run}/")}
            self._touch()
            if self._watchdog is None and self.lease is not None:
                self._watchdog = threading.Thread(target=self._watch, name=f"handrail-lease-{self.name}", daemon=True)
                self._watchdog.start()
            self._change.notify_all()

    def renew(self, run: str) -> None:
        """Prolong the lease; another run's renewal is an error.

        Raises:
            WorldError: the run does not hold the lease.
        """
        with self._change:
            self._holds(run)
            self._touch()

    def release(self, run: str) -> None:
        """Give the world back. What still moves is stopped first."""
        with self._change:
            if self._run != run:
                return
        if self.running():
            self.stop("released while moving")
        with self._change:
            if self._run == run:
                self._run, self._key, self._expires = "", b"", 0.0

    def _touch(self, seconds: float | None = None) -> None:
        self._expires = max(self._expires, time.monotonic() + max(seconds or 0.0, self.lease or 3600.0))

    def _holds(self, run: str) -> None:
        if self._run != run:
            raise WorldError(f"run {run} does not drive the world '{self.name}'; {self._run or 'nobody'} does")

    # -- steps -----------------------------------------------------------------------------------------------------------------

    def observe(self) -> Observation:
        """See `World.observe`."""
        with self._calls, self._alive():
            return self.world.observe()

    def start(self, order: Order) -> None:
        """Start a step. A start with a goal id that was started before never runs it again.

        Raises:
            WorldError: the run does not hold the lease, a stop is in force, or the world can't be reached.
            UnprovenError: the token is not the notary's for this very step.
        """
        with self._change:
            self._holds(order.run)
            if self._barred:
                raise WorldError(f"motion is barred after '{self._barred}'; acquire the world again")
            if not self._genuine(self._key, order.claim, order.token):
                raise UnprovenError(f"{order.step} carries no valid proof token; it does not start")
            if order.goal_id in self._handles or order.goal_id in self._starting:
                return
            self._starting.add(order.goal_id)
            self._touch()
        try:
            with self._calls, self._alive():
                with self._change:
                    if self._barred:  # a stop that came while we waited for the world
                        self._handles[order.goal_id] = ""
                        return
                handle = self.world.start(order.step, order.goal_id)
                with self._change:
                    self._handles[order.goal_id] = handle
                    self._moving.add(order.goal_id)
        finally:
            with self._change:
                self._starting.discard(order.goal_id)
                late = bool(self._barred)
                self._change.notify_all()
        if late:
            # The stop found nothing to stop because the start was not acknowledged yet.
            with self._calls:
                self.world.cancel(handle)
            self.stop(self._barred)

    def poll(self, goal_id: str) -> Progress:
        """Where a step stands. PENDING until its start has been acknowledged; LOST where nobody knows it."""
        with self._change:
            if goal_id in self._starting:
                return Progress(Status.PENDING, time=self.time())
            handle = self._handles.get(goal_id)
            if handle == "":
                return Progress(Status.CANCELLED, Failure.STOPPED, "stopped before it began", self.time())
            lapsed = self._barred == _LAPSED
        if handle is None:
            return Progress(
                Status.LOST, sentence=f"the host of '{self.name}' knows no step '{goal_id}'", time=self.time()
            )
        with self._calls, self._alive():
            progress = self.world.poll(handle)
        if progress.status.terminal:
            with self._change:
                self._moving.discard(goal_id)
            if lapsed and progress.status is Status.CANCELLED:
                return Progress(Status.CANCELLED, Failure.LEASE, _LAPSED, progress.time)
        return progress

    def cancel(self, goal_id: str) -> None:
        """Ask for a step to end. One that has not been acknowledged can't be cancelled yet: await that first, or stop.

        Raises:
            WorldError: its start has not been acknowledged.
        """
        with self._change:
            if goal_id in self._starting:
                raise WorldError(f"'{goal_id}' has not been acknowledged yet; await that, or stop")
            handle = self._handles.get(goal_id)
        if handle:
            with self._calls:
                self.world.cancel(handle)

    def running(self) -> tuple[str, ...]:
        """See `World.running`; with what is being started."""
        with self._change:
            starting = tuple(sorted(self._starting))
        return tuple(dict.fromkeys((*starting, *self.world.running())))

    def fork(self) -> Any:
        """See `Forks.fork`.

        Raises:
            WorldError: this world can't be copied.
        """
        if not isinstance(self.world, Forks):
            raise WorldError(f"the world '{self.name}' can't be forked, so there is no dry-run")
        with self._calls, self._alive():
            return self.world.fork()

    def _alive(self) -> _Alive:
        return _Alive(self)

    # -- stop ------------------------------------------------------------------------------------------------------------------

    def stop(self, by: str) -> StopVerdict:
        """End all motion, from any thread, at any time; bars every start until the world is acquired again.

        The bar is up before the world is asked, so a start that is on its way can't slip past. Where the world does not answer
        in `stop_timeout` seconds, or a start is still unacknowledged then, the verdict is UNKNOWN and stays in force until a
        later answer or another stop finds more.

        Args:
            by: who stops or why, for the record.
        """
        with self._change:
            if by != _LAPSED or not self._barred:  # a person's stop outranks a lapsed lease
                self._barred = by or "stop"
            self._verdict = None
            self._stopping += 1
            turn = self._stopping
        answer: list[StopVerdict] = []
        asked = threading.Thread(target=self._ask_stop, args=(turn, answer), name="handrail-stop", daemon=True)
        deadline = time.monotonic() + self.stop_timeout
        asked.start()
        asked.join(self.stop_timeout)
        if not answer:
            text = f"the world '{self.name}' has not answered the stop in {self.stop_timeout:g} s"
            return self._found(turn, StopVerdict.every(self.capabilities.robots, Stopped.UNKNOWN, text))
        verdict = answer[0]
        with self._change:
            while self._starting and (left := deadline - time.monotonic()) > 0:
                self._change.wait(left)
            if self._starting:
                text = f"{len(self._starting)} start not acknowledged yet: it may still begin"
                verdict = StopVerdict.every(self.capabilities.robots, Stopped.UNKNOWN, text, verdict.time)
        return self._found(turn, verdict)

    def _ask_stop(self, turn: int, answer: list[StopVerdict]) -> None:
        try:
            found = self.world.stop()
        except Exception as e:  # an adapter that breaks under a stop has told us nothing about the robot
            found = StopVerdict.every(self.capabilities.robots, Stopped.UNKNOWN, f"the stop itself failed: {e}")
        missing = set(self.capabilities.robots) - set(found.robots)
        if missing:
            found = StopVerdict({**found.robots, **dict.fromkeys(missing, Stopped.UNKNOWN)}, found.sentence, found.time)
        answer.append(found)
        with self._change:
            # An answer that comes too late for its caller still ends the not-knowing, unless a start is open.
            if turn == self._stopping and not self._starting:
                self._verdict = found

    def _found(self, turn: int, verdict: StopVerdict) -> StopVerdict:
        with self._change:
            if turn == self._stopping:
                late = self._verdict
                if late is not None and verdict.overall is Stopped.UNKNOWN and not self._starting:
                    return late
                self._verdict = verdict
        return verdict

    def status(self) -> HostStatus:
        """Who drives, whether motion is barred, what the last stop found."""
        moving = self.running()
        with self._change:
            left = max(0.0, self._expires - time.monotonic()) if self._run else 0.0
            return HostStatus(self.name, self._run, left, self._barred, self._verdict, moving, self._instance)

    def _watch(self) -> None:
        """The watchdog: stops the world when the lease lapses while something may move."""
        while True:
            with self._change:
                while not self._closed and (not self._run or self._barred):
                    self._change.wait(1.0)
                if self._closed:
                    return
                left = self._expires - time.monotonic()
                if left > 0 or not (self._moving or self._starting):
                    self._change.wait(max(0.005, min(left, 0.05)) if left > 0 else 0.02)
                    continue
            if self._really_moving():
                self.stop(_LAPSED)
            else:
                with self._change:
                    self._moving.clear()

    def _really_moving(self) -> bool:
        try:
            return bool(self.running())
        except Exception:
            return True  # not knowing counts as moving

    def close(self) -> None:
        """Stop what moves and end the watchdog. May be called twice."""
        if not self._closed and self._really_moving():
            self.stop("the host is closing")
        with self._change:
            self._closed = True
            self._change.notify_all()
        if self._watchdog is not None and self._watchdog is not threading.current_thread():
            self._watchdog.join(2.0)


_LAPSED = "the runner's lease lapsed"


class _Alive:
    """While a runner of this process is inside a call into the world, it is neither hung nor dead."""

    def __init__(self, host: LocalHost) -> None:
        self._host = host

    def __enter__(self) -> None:
        if self._host._grace:
            with self._host._change:
                self._before = self._host._expires
                self._host._touch(self._host._grace)

    def __exit__(self, *exc: object) -> None:
        if self._host._grace:
            with self._host._change:
                self._host._expires = max(self._before, time.monotonic() + (self._host.lease or 3600.0))


def _hmac(key: bytes, claim: str, token: str) -> bool:
    import hashlib
    import hmac

    return hmac.compare_digest(hmac.new(key, claim.encode(), hashlib.sha256).hexdigest(), token)
