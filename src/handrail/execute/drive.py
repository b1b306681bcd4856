"""One step on the world: start, poll, deadline, cancel, stop; one result that says only what is known.

After the deadline: await the acknowledgement, cancel, await a terminal status, and only then is it over. No answer is neither
"refused" nor "done".
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from handrail.errors import WorldError
from handrail.execute.runner import Runner, Stopping
from handrail.world.hosting import Order
from handrail.world.protocol import Failure, Progress, Status, StopVerdict
from handrail.world.wire import pack_verdict, unpack_verdict

NOT_STARTED = "NOT_STARTED"
"""The world, which has not been restarted since, never heard of the step."""

_POLL_EVERY = 0.02


@dataclass(frozen=True, slots=True)
class StepResult:
    """How one attempt at a step ended.

    Attributes:
        status: what the world said last; LOST where it can't say.
        code: why it failed; see `Failure` and NOT_STARTED.
        sentence: the same for a person.
        time: the world's clock, in seconds, of its end.
        stopped: the verdict, where everything was stopped on the way.
        by: who stopped it; "handrail" where the step could not be ended otherwise.
    """

    status: Status
    code: str = ""
    sentence: str = ""
    time: float = 0.0
    stopped: StopVerdict | None = None
    by: str = ""

    @property
    def certain(self) -> bool:
        """Whether the world knows how it ended: it reported success or failure, or never began."""
        clean = self.status in (Status.SUCCEEDED, Status.FAILED) and self.code not in (
            Failure.TIME_OUT,
            Failure.NO_ANSWER,
        )
        return clean or self.code == NOT_STARTED

    def to_json(self) -> dict[str, Any]:
        """A plain dict."""
        return {
            "status": str(self.status),
            "code": str(self.code),
            "sentence": self.sentence,
            "time": self.time,
            "stopped": pack_verdict(self.stopped),
            "by": self.by,
        }

    @classmethod
    def from_json(cls, b: dict[str, Any]) -> StepResult:
        """What `to_json` wrote."""
        stopped = unpack_verdict(b["stopped"])
        return cls(Status(b["status"]), b["code"], b["sentence"], b["time"], stopped, b["by"])


def drive(
    runner: Runner, order: Order, seconds: float, cancel_seconds: float, adopt: bool, same_host: bool
) -> StepResult:
    """Carry one step to its end.

    Args:
        runner: holds the lease.
        order: the step with its proof token.
        seconds: end-to-end deadline.
        cancel_seconds: how long the end of a cancelled step is awaited before everything is stopped.
        adopt: the step may have been started before a crash: find it, don't start it.
        same_host: the host is the very one from before the crash.
    """
    host = runner.host
    until = time.monotonic() + seconds
    try:
        if adopt:
            found = runner.wait(lambda: host.poll(order.goal_id), cancel_seconds)
            if found.status is Status.LOST:
                code, text = (NOT_STARTED, "it had not been started") if same_host else ("", found.sentence)
                return StepResult(Status.LOST, code, text, host.time())
        else:
            try:
                runner.wait(lambda: host.start(order), seconds)
            except TimeoutError:
                return _halt(runner, f"the start was not acknowledged in {seconds:g} s")
            except WorldError as e:
                return _not_started(runner, order, str(e))
        return _follow(runner, order, until, cancel_seconds)
    except Stopping as s:
        return _stopped(runner, order, s.by)
    except (WorldError, TimeoutError) as e:
        return _unanswered(runner, order, str(e))


def _follow(runner: Runner, order: Order, until: float, cancel_seconds: float) -> StepResult:
    host = runner.host
    cancelled_at: float | None = None
    while True:
        progress = runner.wait(lambda: host.poll(order.goal_id))
        if progress.status.terminal:
            if progress.status is Status.CANCELLED and cancelled_at is None and progress.code != Failure.LEASE:
                return _stopped_elsewhere(runner, progress)
            return _ended(progress, cancelled_at is not None)
        now = time.monotonic()
        if cancelled_at is None and now > until and progress.status is not Status.PENDING:
            runner.wait(lambda: host.cancel(order.goal_id), cancel_seconds)
            cancelled_at = now
        elif now > (until if cancelled_at is None else cancelled_at) + cancel_seconds:
            what = "not acknowledged" if progress.status is Status.PENDING else "did not end when it was cancelled"
            return _halt(runner, f"{order.step} {what}")
        runner.sleep(_POLL_EVERY)


def _ended(p: Progress, cancelled: bool) -> StepResult:
    if cancelled and p.status is not Status.SUCCEEDED:
        return StepResult(p.status, Failure.TIME_OUT, "it took too long and was cancelled", p.time)
    return StepResult(p.status, p.code, p.sentence, p.time)


def _stopped_elsewhere(runner: Runner, p: Progress) -> StepResult:
    """Nobody here cancelled it: somebody stopped the world straight at its host, or at the robot."""
    status = runner.wait(runner.host.status, 2.0)
    if not status.stop:
        return StepResult(p.status, p.code or Failure.STOPPED, p.sentence or "it was cancelled elsewhere", p.time)
    verdict = status.verdict or runner.host.stop(status.stop)
    return StepResult(p.status, Failure.STOPPED, p.sentence, p.time, verdict, status.stop)


def _halt(runner: Runner, why: str) -> StepResult:
    """Stop everything, because one step can't be ended in another way."""
    verdict = runner.host.stop(f"handrail: {why}")
    return StepResult(Status.LOST, Failure.TIME_OUT, why, verdict.time, verdict, "handrail")


def _stopped(runner: Runner, order: Order, by: str) -> StepResult:
    verdict = runner.stop_verdict()
    text = f"{order.step} was under way when {by} stopped it"
    return StepResult(Status.CANCELLED, Failure.STOPPED, text, verdict.time, verdict, by)


def _not_started(runner: Runner, order: Order, why: str) -> StepResult:
    """The host would not start it, or could not be reached. Which of the two decides whether it may be moving."""
    try:
        status = runner.wait(runner.host.status, 2.0)
    except Stopping as s:
        return _stopped(runner, order, s.by)
    except (WorldError, TimeoutError):
        return _unanswered(runner, order, why)
    if status.stop and not runner.stopping:
        if "lease" in status.stop:
            return StepResult(Status.CANCELLED, Failure.LEASE, status.stop, runner.host.time())
        # Stopped straight at the host, by another program than this run's.
        verdict = status.verdict or runner.host.stop(status.stop)
        return StepResult(Status.CANCELLED, Failure.STOPPED, why, verdict.time, verdict, status.stop)
    if order.goal_id in status.moving:
        return _halt(runner, why)
    return StepResult(Status.LOST, Failure.NO_ANSWER, why, runner.host.time())


def _unanswered(runner: Runner, order: Order, why: str) -> StepResult:
    """The host does not answer while the step may be under way: stop, and report what that found."""
    verdict = runner.host.stop(f"handrail: {why}")
    text = f"no answer about {order.step}: {why}"
    return StepResult(Status.LOST, Failure.NO_ANSWER, text, verdict.time, verdict, "handrail")
